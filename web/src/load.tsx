// SPDX-License-Identifier: Apache-2.0
// A load file: what it asks for over time, its bursts, its flow sizes.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { faded, seriesColour } from "./colours";
import { type Load, unpack, type Values } from "./data";
import { Bars } from "./bars";
import { digits, show } from "./format";
import { FigureCard, type Part, Section } from "./parts";
import { type Drawn, Plot } from "./plot";
import { type Cell, columns } from "./table";
import type { Range } from "./zoom";

/** Bins above twice the mean count as a burst; neighbours are one. */
const BURST = 2;

function burstsOf(rate: Values, mean: number): [number, number][] {
  const bursts: [number, number][] = [];
  rate.forEach((value, i) => {
    if ((value ?? 0) <= BURST * mean) return;
    const last = bursts[bursts.length - 1];
    if (last && last[1] === i) last[1] = i + 1;
    else bursts.push([i, i + 1]);
  });
  return bursts;
}

function RateOverTime(props: { load: Load }) {
  const { load } = props;
  const view = useMemo(() => {
    const rate = unpack(load.rate);
    const bursts = burstsOf(rate, load.mean_bps);
    const data = (range: Range | null, points: number): Drawn => {
      const [from, to] = range ?? [0, load.span_s];
      const first = Math.max(0, Math.floor(from / load.bin_s));
      const last = Math.min(rate.length, Math.ceil(to / load.bin_s));
      const per = Math.max(1, Math.ceil((3 * (last - first)) / points));
      const drawn: Drawn = { xs: [], ys: [{ values: [], low: [], high: [] }] };
      const line = drawn.ys[0] as Required<Drawn["ys"][number]>;
      for (let i = first; i < last; i += per) {
        const some = rate.slice(i, Math.min(i + per, last)).map((value) => value ?? 0);
        drawn.xs.push((i + some.length / 2) * load.bin_s);
        line.values.push(some.reduce((sum, value) => sum + value, 0) / some.length);
        line.low.push(Math.min(...some));
        line.high.push(Math.max(...some));
      }
      return drawn;
    };
    const paint = (plot: uPlot) => {
      const { ctx, bbox } = plot;
      const { min, max } = plot.scales.x as { min: number; max: number };
      ctx.fillStyle = faded(seriesColour(1), 0.55);
      for (const [from, to] of bursts) {
        const [start, end] = [from * load.bin_s, to * load.bin_s];
        if (end < min || start > max) continue;
        const left = Math.max(bbox.left, plot.valToPos(start, "x", true));
        const right = Math.min(bbox.left + bbox.width, plot.valToPos(end, "x", true));
        ctx.fillRect(left, bbox.top, Math.max(devicePixelRatio, right - left), 5 * devicePixelRatio);
      }
    };
    return { rate, bursts, data, paint };
  }, [load]);
  return (
    <Plot
      id="load-rate"
      title={`It asks for ${show("rate", load.mean_bps)} on average; ${view.bursts.length.toLocaleString("en-US")} stretches ask for more than twice that.`}
      height={300}
      x={{ label: "time since the start", kind: "time", full: [0, load.span_s] }}
      y={{ label: "rate asked for", kind: "rate" }}
      lines={[{ label: "rate asked for", colour: 0 }]}
      legend={[{ label: "more than twice the mean (mark at the top)", colour: faded(seriesColour(1), 0.55) }]}
      data={view.data}
      paint={view.paint}
      table={() => ({
        columns: columns("start:time|rate:rate"),
        rows: view.rate.map((value, i): Cell[] => [i * load.bin_s, value]),
      })}
      how={
        <p>
          Bytes of the flows that start in a bin of {show("time", load.bin_s)}, times eight, over the bin: as if each flow came at once. How fast they move, the network
          decides. Zoomed out, the line is the mean and the band the range of the bins.
        </p>
      }
    />
  );
}

function Figures(props: { load: Load }) {
  const { load } = props;
  const figures: [string, string, string][] = [
    ["flows", show("count", load.flows), `${digits(load.flows / load.span_s)} a second`],
    ["lasts", show("time", load.span_s), ""],
    ["moves", show("bytes", load.bytes), "payload, without headers"],
    ["mean rate", show("rate", load.mean_bps), ""],
  ];
  return (
    <div class="figures">
      {figures.map(([name, value, note]) => (
        <FigureCard name={name} value={value} note={note} />
      ))}
    </div>
  );
}

function Distributions(props: { load: Load }) {
  const { load } = props;
  return (
    <div class="plots">
      <Bars id="load-sizes" title="How large its flows are." label="flow size" kind="bytes" exponent of={load.sizes} how="Every flow counts once; bins are even on the logarithmic axis." />
      <Bars id="load-rates" title={`How often it asks for which rate, in bins of ${show("time", load.bin_s)}.`} label="rate asked for in a bin" kind="rate" of={load.rates} how="Every bin of the plot above counts once." />
    </div>
  );
}

export function loadParts(load: Load): Part[] {
  const parts: [string, string, ComponentChildren][] = [
    ["figures", "Key figures", <Figures load={load} />],
    ["rate", "Rate over time", <RateOverTime load={load} />],
    ["sizes", "Distributions", <Distributions load={load} />],
  ];
  return parts.map(([id, title, content]) => ({
    id,
    title,
    show: () => (
      <Section id={id} title={title}>
        {content}
      </Section>
    ),
  }));
}
