// SPDX-License-Identifier: Apache-2.0
// What every drawing of the page comes with: a sentence, buttons to take it away, its table, and how it
// was computed.

import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { csvText, How, save, type Table, TableView } from "./table";

export function Figure(props: {
  id: string;
  title: string;
  /** Buttons beside CSV. */
  takeImage: () => void;
  takeSvg: () => void;
  table: () => Table;
  how: ComponentChildren;
  /** Present while a part is shown: back to everything. */
  onReset?: (() => void) | undefined;
  children: ComponentChildren;
}) {
  return (
    <figure class="card plot" id={props.id} aria-label={props.title}>
      <figcaption>
        <h3>{props.title}</h3>
        <div class="tools">
          {props.onReset && (
            <button type="button" class="reset" onClick={props.onReset}>
              all
            </button>
          )}
          <button type="button" onClick={() => save(`${props.id}.csv`, new Blob([csvText(props.table())], { type: "text/csv" }))}>
            CSV
          </button>
          <button type="button" onClick={props.takeImage}>
            PNG
          </button>
          <button type="button" onClick={props.takeSvg}>
            SVG
          </button>
        </div>
      </figcaption>
      {props.children}
      <div class="folds">
        <details>
          <summary>Table</summary>
          <LazyTable table={props.table} />
        </details>
        <How>{props.how}</How>
      </div>
    </figure>
  );
}

/** Built when it is opened: hundreds of rows that nobody looks at cost time. */
function LazyTable(props: { table: () => Table }) {
  const [open, setOpen] = useState(false);
  const mark = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const details = mark.current?.closest("details");
    const onToggle = () => details?.open && setOpen(true);
    details?.addEventListener("toggle", onToggle);
    return () => details?.removeEventListener("toggle", onToggle);
  }, []);
  return <div ref={mark}>{open && <TableView table={props.table()} />}</div>;
}
