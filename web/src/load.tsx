// SPDX-License-Identifier: Apache-2.0
// A load file: what it asks for over time, its bursts, its flow sizes.

import type { ComponentChildren } from "preact";
import { useEffect, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { faded, seriesColour } from "./colours";
import { type Load, unpack, type Values } from "./data";
import { Bars } from "./bars";
import { digits, show } from "./format";
import { FigureCard, type Part, Section } from "./parts";
import { type Drawn, Plot } from "./plot";
import { type Cell, columns } from "./table";
import { type Range, zoomTo } from "./zoom";

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

/** Bins that are looked at for a period. */
const LOOKED_AT = 6000;
const PERIODS = 3;
/** Repetitions that speak for a period, at most. */
const MOST_REPEATS = 30;
/** Standard deviations above chance. */
const SURE = 6;
/** Bins that are shown of a rate without a period. */
const STRETCH = 300;

/** How alike a series of mean 0 is to itself `shift` bins later: 1 the same, 0 by chance. */
function likeness(series: number[], shift: number): number {
  let [product, square] = [0, 0];
  for (let i = 0; i + shift < series.length; i++) {
    product += (series[i] as number) * (series[i + shift] as number);
    square += (series[i] as number) ** 2;
  }
  return square > 0 ? product / square : 0;
}

/** The number of bins after which the rate repeats itself, by how alike it is one, two, three... of them later; null when that may be chance. */
function periodOf(rates: Values): number | null {
  const all = rates.slice(0, LOOKED_AT).map((value) => value ?? 0);
  const mean = all.reduce((sum, value) => sum + value, 0) / Math.max(1, all.length);
  // A few huge flows would outweigh everything.
  const calm = all.map((value) => Math.min(value, 4 * mean));
  const middle = calm.reduce((sum, value) => sum + value, 0) / Math.max(1, calm.length);
  const series = calm.map((value) => value - middle);
  const alike = Array.from({ length: Math.floor(series.length / 2) }, (_none, shift) => likeness(series, shift));
  const scores = Array.from({ length: Math.floor(series.length / PERIODS) + 1 }, (_none, shift) => {
    const count = shift < 2 ? 0 : Math.min(MOST_REPEATS, Math.floor((alike.length - 1) / shift));
    let sum = 0;
    for (let k = 1; k <= count; k++) sum += alike[k * shift] as number;
    return count > 0 ? sum * Math.sqrt(series.length / count) : 0;
  });
  const best = scores.reduce((a, b) => Math.max(a, b), 0);
  // Twice a period is one, too: the shortest counts.
  return best > SURE ? scores.findIndex((score) => score > 0.75 * best) : null;
}

const MOST_MARKS = 120;

function RateOverTime(props: { load: Load }) {
  const { load } = props;
  const view = useMemo(() => {
    const rate = unpack(load.rate);
    const bursts = burstsOf(rate, load.mean_bps);
    const period = periodOf(rate);
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
      // So many that they touch would be a wall.
      if (bursts.filter(([from, to]) => to * load.bin_s >= min && from * load.bin_s <= max).length > MOST_MARKS) return;
      for (const [from, to] of bursts) {
        const [start, end] = [from * load.bin_s, to * load.bin_s];
        if (end < min || start > max) continue;
        const left = Math.max(bbox.left, plot.valToPos(start, "x", true));
        const right = Math.min(bbox.left + bbox.width, plot.valToPos(end, "x", true));
        ctx.fillRect(left, bbox.top, Math.max(devicePixelRatio, right - left), 5 * devicePixelRatio);
      }
    };
    const stretch = Math.min(load.span_s, (period ? PERIODS * period : STRETCH) * load.bin_s);
    return { rate, bursts, period, stretch, data, paint };
  }, [load]);
  const { period, stretch } = view;
  const showFrom = (from: number) => zoomTo("load-rate", stretch < load.span_s ? [from, from + stretch] : null);
  useEffect(() => showFrom(Math.max(0, Math.min((load.span_s - stretch) / 2, load.span_s - stretch))), [load]);
  return (
    <Plot
      id="load-rate"
      title={`It asks for ${show("rate", load.mean_bps)} on average, ${period ? `in periods of ${show("time", period * load.bin_s)}` : "without a period"}; ${view.bursts.length.toLocaleString("en-US")} stretches ask for more than twice that.`}
      height={300}
      x={{ label: "time since the start", kind: "time", full: [0, load.span_s] }}
      y={{ label: "rate asked for", kind: "rate" }}
      lines={[{ label: "rate asked for", colour: 0 }]}
      legend={[{ label: "more than twice the mean (mark at the top)", colour: faded(seriesColour(1), 0.55) }]}
      data={view.data}
      paint={view.paint}
      controls={
        stretch < load.span_s ? (
          <label class="slide">
            {show("time", stretch)} of {show("time", load.span_s)}, from
            <input type="range" min={0} max={load.span_s - stretch} step="any" value={(load.span_s - stretch) / 2} onInput={(event) => showFrom(Number(event.currentTarget.value))} aria-label="start of the stretch" />
          </label>
        ) : undefined
      }
      table={() => ({
        columns: columns("start:time|rate:rate"),
        rows: view.rate.map((value, i): Cell[] => [i * load.bin_s, value]),
      })}
      how={
        <p>
          Bytes of the flows that start in a bin of {show("time", load.bin_s)}, times eight, over the bin: as if each flow came at once. How fast they move, the network
          decides. Shown is a stretch of {period ? "three periods" : `${STRETCH} bins`} from the middle; "all" shows everything. Zoomed out, the line is the mean and the band the range of the bins.
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
