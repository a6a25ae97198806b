// SPDX-License-Identifier: Apache-2.0
// Flows one by one over time, and what each pair carried in each iteration.

import type { ComponentChildren } from "preact";
import { useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import { CLASSES, classPlace, seriesColour } from "./colours";
import { type FlowRow, type FlowRows, list, type Run, str, type Transfers, unpack, type Values } from "./data";
import { digits, show } from "./format";
import { Choice, Missing, Section } from "./parts";
import { type Drawn, Plot } from "./plot";
import { type Bar, paintRows } from "./rows";
import { type Cell, columns } from "./table";
import type { Range } from "./zoom";

const FAINTEST = 0.1;
const MOST_HEIGHT = 640;

const heightFor = (rows: number) => Math.min(MOST_HEIGHT, 74 + Math.max(20, 260 / rows) * rows);

/** Rows have no lines of their own; the axis still wants its two ends. */
const noLines = (full: Range): Drawn => ({ xs: full, ys: [{ values: [null, null] }] });

/** A flow's host instead of its address, where the run knows it. */
function namer(run: Run): (endpoint: string) => string {
  const names = new Map<string, string>();
  for (const host of list(run.summary, "hosts")) {
    for (const address of list(host, "addresses")) names.set(String(address), str(host, "name") ?? String(address));
  }
  return (endpoint) => {
    const parts = /^\[?(.*?)\]?(:\d+)?$/.exec(endpoint);
    return `${names.get(parts?.[1] ?? "") ?? names.get(endpoint) ?? parts?.[1] ?? endpoint}${parts?.[2] ?? ""}`;
  };
}

interface Decoded extends FlowRow {
  name: string;
  cells: Values;
}

const meanRate = (flow: FlowRow) => (flow.last_s > flow.first_s ? (flow.bytes * 8) / (flow.last_s - flow.first_s) : null);

/** A thin bar for as long as a flow lives, and solid cells for what it carried. */
function barsOf(flows: FlowRows, rows: Decoded[], largest: number): Bar[] {
  const bars: Bar[] = [];
  rows.forEach((flow, row) => {
    const colour = seriesColour(classPlace(flow.class));
    const add = (from: number, to: number, opacity: number, height: number) => bars.push({ row, from, to, colour, opacity, height });
    // By the root: bursts at line rate must not hide what flows evenly.
    const shade = (rate: number) => FAINTEST + (1 - FAINTEST) * Math.sqrt(Math.min(1, rate / largest));
    add(flow.first_s, flow.last_s, flow.cells.length > 0 ? 0.35 : shade(meanRate(flow) ?? 0), flow.cells.length > 0 ? 0.12 : 0.7);
    flow.cells.forEach((rate, i) => {
      if (!rate) return;
      const from = flows.start_s + ((flow.cell ?? 0) + i) * flows.cell_s;
      add(from, from + flows.cell_s, shade(rate), 0.78);
    });
  });
  return bars;
}

/** How few flows carry nearly everything, or how much those carry that are drawn. */
function shareText(flows: FlowRows): string {
  const sizes = flows.rows.map((flow) => flow.bytes).sort((a, b) => b - a);
  const drawn = sizes.reduce((sum, bytes) => sum + bytes, 0);
  const all = drawn + flows.left_off_bytes;
  const count = show("count", sizes.length + flows.left_off);
  if (drawn < MOST_OF_IT * all) return `The ${sizes.length} largest of ${count} flows carry ${show("share", drawn / all)} of the bytes.`;
  let [few, sum] = [0, 0];
  while (few < sizes.length && sum < MOST_OF_IT * all) sum += sizes[few++] ?? 0;
  return `${few} of ${count} ${count === "1" ? "flow" : "flows"} carry ${show("share", sum / Math.max(1, all))} of the bytes.`;
}

const MOST_OF_IT = 0.9;
const WHICH = ["flows", "transfers of each iteration"] as const;

function FlowPlot(props: { run: Run; flows: FlowRows; full: Range; controls: ComponentChildren }) {
  const { run, flows } = props;
  const view = useMemo(() => {
    const name = namer(run);
    const rows: Decoded[] = flows.rows.map((flow) => ({ ...flow, name: `${name(flow.source)} > ${name(flow.destination)}`, cells: flow.rates ? unpack(flow.rates) : [] }));
    const largest = Math.max(1, ...rows.map((flow) => Math.max(...flow.cells.map((rate) => rate ?? 0), 0)), ...rows.map((flow) => (flow.cells.length > 0 ? 0 : (meanRate(flow) ?? 0))));
    return { rows, largest, data: () => noLines(props.full), paint: (plot: uPlot) => paintRows(plot, barsOf(flows, rows, largest)) };
  }, [flows]);
  const { rows, largest } = view;
  const used = [...CLASSES, "other"].filter((name) => rows.some((flow) => flow.class === name || (name === "other" && !CLASSES.includes(flow.class))));
  return (
    <Plot
      id="flow-rows"
      title={shareText(flows)}
      group="time"
      height={heightFor(rows.length)}
      x={{ label: "time since the first packet", kind: "time", full: props.full }}
      y={{ label: "", kind: "number", names: rows.map((flow) => flow.name.replace(/:\d+(?= |$)/g, "")) }}
      lines={[]}
      legend={used.map((name) => ({ label: name, colour: seriesColour(name === "other" ? 6 : classPlace(name)) }))}
      data={view.data}
      paint={view.paint}
      readout={(x, y) => {
        const flow = rows[Math.round(y)];
        if (!flow) return "";
        const rate = flow.cells[Math.floor((x - flows.start_s) / flows.cell_s) - (flow.cell ?? 0)];
        const now = rate === undefined || rate === null ? "" : `, here ${show("rate", rate)}`;
        return `${flow.name} (${flow.class}): ${show("bytes", flow.bytes)} in ${show("time", flow.last_s - flow.first_s)}, mean ${show("rate", meanRate(flow))}${now}`;
      }}
      controls={props.controls}
      table={() => ({
        columns: columns("flow|protocol|class|start:time|length:time|frames:bytes|mean rate:rate"),
        rows: rows.map((flow): Cell[] => [flow.name, flow.protocol, flow.class, flow.first_s, flow.last_s - flow.first_s, flow.bytes, meanRate(flow)]),
      })}
      how={
        <>
          <p>
            One row for each flow, a connection in one direction (flows.csv), by source and destination; the colour is its class. The thin bar is how long it lives. The
            more solid a cell of {show("time", flows.cell_s)}, the more was carried in it (windows.csv): fully solid is {show("rate", largest)}, the busiest cell of all, and half as solid a quarter of that.
          </p>
          {flows.left_off > 0 && <p>The {rows.length} that carried the most are drawn; {show("count", flows.left_off)} more are in flows.csv.</p>}
        </>
      }
    />
  );
}

function TransferPlot(props: { transfers: Transfers; full: Range; controls: ComponentChildren }) {
  const { transfers } = props;
  const names = transfers.pairs.map(([from, to]) => `${from} > ${to}`);
  const view = useMemo(() => {
    const rate = (i: number) => ((transfers.bytes[i] ?? 0) * 8e6) / Math.max(1, transfers.length_us[i] ?? 0);
    const largest = Math.max(1, ...transfers.pair.map((_pair, i) => rate(i)));
    const paint = (plot: uPlot) =>
      paintRows(
        plot,
        transfers.pair.map((row, i): Bar => {
          const from = (transfers.start_us[i] ?? 0) * 1e-6;
          // Neighbouring iterations differ in colour, for their exchanges may touch.
          const colour = seriesColour((transfers.iteration[i] ?? 0) % 2 === 0 ? 0 : 2);
          return { row, from, to: from + (transfers.length_us[i] ?? 0) * 1e-6, colour, opacity: 0.25 + (0.75 * rate(i)) / largest, height: 0.7 };
        }),
      );
    return { rate, largest, paint, data: () => noLines(props.full) };
  }, [transfers]);
  const shown = new Set(transfers.iteration).size;
  const longest = Math.max(...transfers.length_us) * 1e-6;
  return (
    <Plot
      id="transfer-rows"
      title={`In ${shown === 1 ? "one iteration" : `${show("count", shown)} iterations`} gradients flowed between ${names.length} pairs, for up to ${show("time", longest)} at a time.`}
      group="time"
      height={heightFor(names.length)}
      x={{ label: "time since the first packet", kind: "time", full: props.full }}
      y={{ label: "", kind: "number", names }}
      lines={[]}
      legend={[
        { label: "even iterations", colour: seriesColour(0) },
        { label: "odd iterations", colour: seriesColour(2) },
      ]}
      data={view.data}
      paint={view.paint}
      readout={(x, y) => {
        const row = Math.round(y);
        const found = transfers.pair.findIndex((pair, i) => pair === row && x * 1e6 >= (transfers.start_us[i] ?? 0) && x * 1e6 <= (transfers.start_us[i] ?? 0) + (transfers.length_us[i] ?? 0));
        if (!names[row]) return "";
        if (found < 0) return `${digits(x)} s, ${names[row]}: no gradients`;
        return `${names[row]}, iteration ${transfers.iteration[found]}: ${show("bytes", transfers.bytes[found])} in ${show("time", (transfers.length_us[found] ?? 0) * 1e-6)}, mean ${show("rate", view.rate(found))}`;
      }}
      controls={props.controls}
      table={() => ({
        columns: columns("iteration:count|pair|start:time|length:time|gradients:bytes|mean rate:rate"),
        rows: transfers.pair.map((pair, i): Cell[] => [transfers.iteration[i] ?? null, names[pair] ?? "", (transfers.start_us[i] ?? 0) * 1e-6, (transfers.length_us[i] ?? 0) * 1e-6, transfers.bytes[i] ?? null, view.rate(i)]),
      })}
      how={
        <p>
          For each iteration and pair of hosts a bar from the first to the last byte of gradients in it (iteration_pairs.csv), the more solid the faster: fully solid is{" "}
          {show("rate", view.largest)} of distinct payload.
          {shown < transfers.iterations ? ` The first ${shown} of ${show("count", transfers.iterations)} iterations are kept in this page.` : ""}
          {transfers.left_off_pairs > 0 ? ` ${transfers.left_off_pairs} pairs that carried less are left off.` : ""}
        </p>
      }
    />
  );
}

export function Flows(props: { run: Run; full: Range }) {
  const { flow_rows: flows, transfers } = props.run;
  const there = WHICH.filter((name) => (name === "flows" ? flows : transfers));
  const [which, setWhich] = useState(there[0] ?? "flows");
  const controls = there.length > 1 ? <Choice label="rows are" values={there} value={which} onChange={setWhich} /> : null;
  return (
    <Section id="flows" title="Flows over time" lead={there.length > 0 ? "Who carried how much when. Zoom to an iteration to see who waits for whom." : undefined}>
      {there.length === 0 && <Missing>flows.csv is missing or empty: nothing was captured.</Missing>}
      {which === "flows" && flows && <FlowPlot run={props.run} flows={flows} full={props.full} controls={controls} />}
      {which !== "flows" && transfers && <TransferPlot transfers={transfers} full={props.full} controls={controls} />}
    </Section>
  );
}
