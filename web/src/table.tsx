// SPDX-License-Identifier: Apache-2.0
// Tables: shown as text, saved as CSV.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { type Kind, show } from "./format";

export interface Column {
  name: string;
  kind?: Kind;
}

/** "host|rate:rate|bytes sent:bytes": names and kinds. */
export function columns(text: string): Column[] {
  return text.split("|").map((part) => {
    const [name, kind] = part.split(":") as [string, Kind?];
    return kind ? { name, kind } : { name };
  });
}

/** A text that leads somewhere. */
export interface Link {
  text: string;
  href: string;
}

export type Cell = string | number | null | Link;

export interface Table {
  columns: Column[];
  rows: Cell[][];
}

const MOST_ROWS = 200;
/** A table of more rows scrolls within its box. */
const TALL_ROWS = 16;
/** Characters; a longer text is not squeezed into a column of single words. */
const LONG_TEXT = 40;

const textOf = (cell: Cell): string => (cell !== null && typeof cell === "object" ? cell.text : String(cell));

function cellText(cell: Cell, kind: Kind | undefined): ComponentChildren {
  if (cell === null) return "–";
  if (typeof cell === "object") return <a href={cell.href}>{cell.text}</a>;
  return typeof cell === "number" ? show(kind ?? "number", cell) : cell;
}

/** A box that its content may be wider than; says so while there is more to the right. */
function Sideways(props: { label: string; rows: number; tall: boolean; children: ComponentChildren }) {
  const box = useRef<HTMLDivElement>(null);
  const [more, setMore] = useState(false);
  useEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setMore(element.scrollLeft + element.clientWidth < element.scrollWidth - 2);
    const observer = new ResizeObserver(look);
    observer.observe(element);
    if (element.firstElementChild) observer.observe(element.firstElementChild);
    element.addEventListener("scroll", look);
    return () => {
      observer.disconnect();
      element.removeEventListener("scroll", look);
    };
  }, []);
  return (
    <div class={more ? "sideways more" : "sideways"}>
      {more && <p class="hint right">more columns to the right: scroll →</p>}
      <div ref={box} class={props.tall ? "scroll tall" : "scroll"} tabIndex={0} role="group" aria-label={props.label}>
        {props.children}
      </div>
      {props.tall && <p class="hint">{props.rows} rows: scroll ↓</p>}
    </div>
  );
}

export function TableView(props: { table: Table; caption?: string; most?: number }) {
  const { columns, rows } = props.table;
  const most = props.most ?? MOST_ROWS;
  const shown = Math.min(rows.length, most);
  return (
    <Sideways label={props.caption ?? "table"} rows={shown} tall={shown > TALL_ROWS}>
      <table>
        {props.caption && <caption>{props.caption}</caption>}
        <thead>
          <tr>
            {columns.map((column) => (
              <th scope="col" class={column.kind ? "n" : ""}>
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, most).map((row) => (
            <tr class={row.some((cell) => textOf(cell).startsWith("✗")) ? "failed" : ""}>
              {row.map((cell, i) => (
                <td class={columns[i]?.kind ? "n" : /^[✓✗!]/.test(textOf(cell)) ? "mark" : textOf(cell).length > LONG_TEXT ? "long" : ""}>{cellText(cell, columns[i]?.kind)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length > most && (
        <p class="quiet">
          The first {most} of {rows.length.toLocaleString("en-US")} rows; the CSV file has all.
        </p>
      )}
    </Sideways>
  );
}

/** RFC 4180; a field that a spreadsheet would take for a formula is made text. */
function csvField(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const plain = textOf(cell);
  const text = /^[=+\-@\t]/.test(plain) ? `'${plain}` : plain;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

const UNIT_OF: Partial<Record<Kind, string>> = { time: "s", rate: "bps", bus: "bps", bytes: "bytes" };

function csvHeader(column: Column): string {
  const unit = column.kind ? UNIT_OF[column.kind] : undefined;
  return csvField(unit ? `${column.name} (${unit})` : column.name);
}

export function csvText(table: Table): string {
  const lines = [table.columns.map(csvHeader), ...table.rows.map((row) => row.map(csvField))];
  return lines.map((line) => line.join(",")).join("\n") + "\n";
}

export function save(name: string, blob: Blob) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

export function How(props: { children: ComponentChildren }) {
  return (
    <details class="how">
      <summary>How is this computed?</summary>
      <div>{props.children}</div>
    </details>
  );
}
