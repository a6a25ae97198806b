// SPDX-License-Identifier: Apache-2.0
// Cross traffic: what was asked for, what was reached, and how long its flows took.

import { Cdf, type NamedDistribution } from "./cdf";
import { at, list, num, type Run, str } from "./data";
import { show } from "./format";
import { Section } from "./parts";
import { type Cell, How, TableView, columns } from "./table";

function classText(from: number, to: number | null): string {
  if (to === null) return `more than ${show("bytes", from)}`;
  return from === 0 ? `to ${show("bytes", to)}` : `${show("bytes", from)} to ${show("bytes", to)}`;
}

export function CrossTraffic(props: { run: Run }) {
  const cross = at(props.run.summary, "cross_traffic");
  const entries = list(cross, "entries");
  if (entries.length === 0) return null;
  const name = (index: number) => str(entries[index], "name") ?? `traffic ${index}`;
  const all: NamedDistribution[] = (props.run.cross_flows ?? []).flatMap((each, i) =>
    each.completion_s ? [{ name: `${entries.length > 1 ? `${name(each.traffic)}, ` : ""}${classText(each.from_bytes, each.to_bytes)}`, colour: i, of: each.completion_s }] : [],
  );
  const asked = num(cross, "requested_bps");
  const got = num(cross, "achieved_bps");
  const short = all.reduce((longest, each) => Math.max(longest, each.of.max), 0);
  return (
    <Section
      id="cross"
      title="Cross traffic"
      lead={asked !== null && got !== null && asked > 0 ? `${show("rate", got)} of the ${show("rate", asked)} asked for arrived (${show("share", got / asked)}).` : undefined}
    >
      <div class="card">
        <TableView
          table={{
            columns: columns("traffic|asked:rate|reached:rate|link:rate|flows:count|unfinished:count|late, median:time|late, p99:time"),
            rows: entries.map((entry): Cell[] => [
              str(entry, "name"),
              num(entry, "requested_bps"),
              num(entry, "achieved_bps"),
              num(entry, "capacity_bps"),
              num(entry, "flows", "started"),
              num(entry, "flows", "unfinished"),
              num(entry, "lateness", "p50_s"),
              num(entry, "lateness", "p99_s"),
            ]),
          }}
        />
        <TableView
          caption="Gradients meanwhile"
          table={{
            columns: columns("pair|rate while sending:rate|shares a link with the traffic"),
            rows: list(cross, "gradient_pairs").map((pair): Cell[] => [
              `${str(pair, "from")} > ${str(pair, "to")}`,
              num(pair, "sending_rate_bps"),
              at(pair, "shares_a_link") === true ? "yes" : "no",
            ]),
          }}
        />
        <How>
          <p>
            Reached is what the sink acknowledged, with headers, over the time that the traffic lasted. Late is how far behind its time a flow was started: a source that
            is late offers less than asked.
          </p>
        </How>
      </div>
      {all.length > 0 && (
        <Cdf
          id="completion"
          title={`Flows of the cross traffic took up to ${show("time", short)}.`}
          label="completion time of a flow"
          kind="time"
          log
          all={all}
          how={
            <p>
              From the start of a flow until the sink had all of it, by size (cross_flows.csv). Unfinished flows are left out:{" "}
              {(props.run.cross_flows ?? []).reduce((sum, each) => sum + each.unfinished, 0)} of them.
            </p>
          }
        />
      )}
    </Section>
  );
}
