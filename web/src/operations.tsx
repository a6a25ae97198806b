// SPDX-License-Identifier: Apache-2.0
// What files of other programs told of collectives: how long ranks waited for the last one, and how long the bytes took after
// it (src/operations), kind by kind; and which files those were.

import { type Json, list, num, type Run, str } from "./data";
import { show } from "./format";
import { Section } from "./parts";
import { type Cell, columns, TableView } from "./table";

/** As in the bar of a step (account.tsx). */
const WAITING = "#CC79A7";
const TRANSFER = "#0072B2";
const MOST_BARS = 8;

interface Kind {
  name: string;
  waiting: number;
  transfer: number;
}

const kindsOf = (run: Run): Json[] => list(run.summary, "operations", "by_op");

export const hasOperations = (run: Run): boolean => kindsOf(run).length > 0;

/** One bar a kind, as long as its time is of the longest. */
function Times(props: { kinds: Kind[] }) {
  const longest = Math.max(...props.kinds.map((kind) => kind.waiting + kind.transfer));
  return (
    <div class="account">
      {props.kinds.map((kind) => (
        <div>
          <p class="account-key">
            {kind.name}: waiting {show("time", kind.waiting)}, transfer {show("time", kind.transfer)}
          </p>
          <div class="account-bar" style={{ width: `${Math.max(1, (100 * (kind.waiting + kind.transfer)) / longest)}%` }}>
            <span style={{ flexGrow: String(1e9 * kind.waiting), background: WAITING }} />
            <span style={{ flexGrow: String(1e9 * kind.transfer), background: TRANSFER }} />
          </div>
        </div>
      ))}
      <p class="account-key">
        <span class="account-part">
          <i style={{ background: WAITING }} /> waiting for the last rank
        </span>
        <span class="account-part">
          <i style={{ background: TRANSFER }} /> transfer
        </span>
      </p>
    </div>
  );
}

const reasons = (source: Json) => list(source, "reasons").map(String).join("; ");

export function Operations(props: { run: Run }) {
  const kinds = kindsOf(props.run);
  const timed = kinds
    .map((each): Kind => ({ name: (str(each, "op") ?? "").replace(/_/g, " "), waiting: num(each, "wait_s") ?? 0, transfer: num(each, "transfer_s") ?? 0 }))
    .filter((kind) => kind.waiting + kind.transfer > 0)
    .slice(0, MOST_BARS);
  const groups = list(props.run.summary, "operations", "by_group");
  const sources = list(props.run.summary, "sources");
  return (
    <Section id="operations" title="Operations" lead="Told by traces, logs and tables. Waiting ends when the last rank is there, the rest is transfer; busbw is by transfer alone. Who waits least is waited for.">
      <div class="card">
        {timed.length > 0 && <Times kinds={timed} />}
        <TableView
          table={{
            columns: columns("operation|times:count|bytes:bytes|waiting:time|transfer:time|busbw:bus|with waiting:bus"),
            rows: kinds.map((each): Cell[] => [
              (str(each, "op") ?? "").replace(/_/g, " "),
              num(each, "count"),
              num(each, "bytes") || null,
              num(each, "wait_s"),
              num(each, "transfer_s"),
              num(each, "busbw_bps"),
              num(each, "busbw_whole_bps"),
            ]),
          }}
        />
        {new Set(groups.map((each) => str(each, "group"))).size > 1 && (
          <TableView
            caption="Groups of ranks"
            table={{
              columns: columns("group|ranks:count|operation|times:count|bytes:bytes"),
              rows: groups.map((each): Cell[] => [str(each, "group"), num(each, "group_size") || null, (str(each, "op") ?? "").replace(/_/g, " "), num(each, "count"), num(each, "bytes") || null]),
            }}
          />
        )}
        {sources.length > 0 && (
          <TableView
            caption="Files"
            table={{
              columns: columns("file|kind|records used:count|skipped:count|remarks"),
              rows: sources.map((each): Cell[] => [(str(each, "path") ?? "").replace(/^.*\//, ""), str(each, "kind"), num(each, "records"), num(each, "skipped"), reasons(each)]),
            }}
          />
        )}
      </div>
    </Section>
  );
}
