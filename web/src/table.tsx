// SPDX-License-Identifier: Apache-2.0
// Tables: shown as text, saved as CSV.

import type { ComponentChildren } from "preact";
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

export type Cell = string | number | null;

export interface Table {
  columns: Column[];
  rows: Cell[][];
}

const MOST_ROWS = 200;

function cellText(cell: Cell, kind: Kind | undefined): string {
  if (cell === null) return "–";
  return typeof cell === "number" ? show(kind ?? "number", cell) : cell;
}

export function TableView(props: { table: Table; caption?: string; most?: number }) {
  const { columns, rows } = props.table;
  const most = props.most ?? MOST_ROWS;
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label={props.caption ?? "table"}>
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
            <tr class={String(row[0]).startsWith("✗") ? "failed" : ""}>
              {row.map((cell, i) => (
                <td class={columns[i]?.kind ? "n" : /^[✓✗!]/.test(String(cell)) ? "mark" : ""}>{cellText(cell, columns[i]?.kind)}</td>
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
    </div>
  );
}

/** RFC 4180; a field that a spreadsheet would take for a formula is made text. */
function csvField(cell: Cell): string {
  if (cell === null) return "";
  if (typeof cell === "number") return String(cell);
  const text = /^[=+\-@\t]/.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text;
}

const UNIT_OF: Partial<Record<Kind, string>> = { time: "s", rate: "bps", bytes: "bytes" };

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
