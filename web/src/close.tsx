// SPDX-License-Identifier: Apache-2.0
// Pairs window by window in a quarter of a second: whether they send together, in turn or on their own.

import { useEffect, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { faded, seriesColour, variable } from "./colours";
import { type Close, type Run, unpack, type Values } from "./data";
import { digits, show } from "./format";
import { type Drawn, Plot } from "./plot";
import { clipToPlot } from "./rows";
import { type Cell, columns } from "./table";
import { paintIterations } from "./throughput";
import { type Range, zoomTo } from "./zoom";

const GROUP = "close";
const STRETCH_S = 0.25;
const LEAST_WINDOWS = 50;
/** Of the first pair's bytes: below are acknowledgements. */
const LEAST_SHARE = 0.02;

interface Pair {
  name: string;
  start_s: number;
  window_s: number;
  rates: Values;
}

/** The busiest window that a stretch shows, or the links' rate where that is not far above it. */
function topOf(pairs: Pair[], [from, to]: Range, rate: number | null): number {
  let largest = 0;
  for (const pair of pairs) {
    const [first, last] = placesOf(pair, [from, to]);
    for (let i = first; i < last; i++) largest = Math.max(largest, pair.rates[i] ?? 0);
  }
  if (largest === 0) return rate ?? 1;
  return rate !== null && largest * 3 > rate ? Math.max(rate, largest) : largest;
}

/** Windows that a stretch shows: from the first to before the last. */
function placesOf(pair: Pair, [from, to]: Range): Range {
  const place = (time: number) => Math.min(pair.rates.length, Math.max(0, time));
  return [place(Math.floor((from - pair.start_s) / pair.window_s)), place(Math.ceil((to - pair.start_s) / pair.window_s))];
}

/** Each pair's rate as an area that stands on its row. */
function paintPairs(plot: uPlot, pairs: Pair[], rate: number | null) {
  const { ctx, bbox } = plot;
  const tall = Math.abs(plot.valToPos(1, "y", true) - plot.valToPos(0, "y", true));
  const range: Range = [plot.scales.x?.min ?? 0, plot.scales.x?.max ?? 1];
  const top = topOf(pairs, range, rate);
  ctx.save();
  clipToPlot(plot);
  ctx.lineWidth = 1.2 * devicePixelRatio;
  pairs.forEach((pair, row) => {
    const ground = plot.valToPos(row, "y", true) + tall * 0.46;
    const [first, last] = placesOf(pair, range);
    const x = (i: number) => plot.valToPos(pair.start_s + i * pair.window_s, "x", true);
    ctx.beginPath();
    ctx.moveTo(x(first), ground);
    for (let i = first; i < last; i++) {
      const y = ground - Math.min(1, (pair.rates[i] ?? 0) / top) * tall * 0.9;
      ctx.lineTo(x(i), y);
      ctx.lineTo(x(i + 1), y);
    }
    ctx.lineTo(x(Math.max(first, last)), ground);
    ctx.fillStyle = faded(seriesColour(0), 0.3);
    ctx.fill();
    ctx.strokeStyle = seriesColour(0);
    ctx.stroke();
  });
  ctx.restore();
  ctx.save();
  ctx.fillStyle = variable("--quiet");
  ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  ctx.textAlign = "right";
  ctx.textBaseline = "bottom";
  ctx.fillText(`a row is ${show("rate", top)} high`, bbox.left + bbox.width, bbox.top - 2 * devicePixelRatio);
  ctx.restore();
}

function spanOf(pairs: Pair[]): Range {
  return [Math.min(...pairs.map((pair) => pair.start_s)), Math.max(...pairs.map((pair) => pair.start_s + pair.window_s * pair.rates.length))];
}

export function CloseUp(props: { run: Run; rate: number | null }) {
  const close = props.run.close;
  return close && close.pairs.length > 0 ? <CloseUpPlot {...props} close={close} /> : null;
}

function CloseUpPlot(props: { run: Run; close: Close; rate: number | null }) {
  const { close, run } = props;
  const view = useMemo(() => {
    const all: Pair[] = close.pairs.map((pair) => ({ ...pair, rates: unpack(pair.rates) }));
    const sum = (pair: Pair | undefined) => pair?.rates.reduce<number>((bytes, rate) => bytes + (rate ?? 0), 0) ?? 0;
    const pairs = all.filter((pair) => sum(pair) >= LEAST_SHARE * sum(all[0]));
    const full = spanOf(pairs);
    const drawn: Drawn = { xs: full, ys: [{ values: [null, null] }] };
    const iterations = run.iterations;
    return {
      pairs,
      full,
      data: () => drawn,
      paint: (plot: uPlot) => paintPairs(plot, pairs, props.rate),
      under: (plot: uPlot) => iterations && paintIterations(plot, iterations),
    };
  }, [close]);
  const { pairs, full } = view;
  const window = pairs[0]?.window_s ?? 1e-3;
  const stretch = Math.min(full[1] - full[0], Math.max(STRETCH_S, LEAST_WINDOWS * window));
  const begin = Math.max(full[0], Math.min(close.middle_s - stretch / 5, full[1] - stretch));
  const showFrom = (from: number) => {
    const start = Math.max(full[0], Math.min(from, full[1] - stretch));
    zoomTo(GROUP, [start, start + stretch]);
  };
  useEffect(() => showFrom(begin), [close]);
  return (
    <Plot
      id="close-up"
      title={`Pair by pair in ${show("time", stretch)}: who sends together, who in turn.`}
      group={GROUP}
      height={Math.min(640, 74 + Math.max(26, 150 / pairs.length) * pairs.length)}
      x={{ label: "time since the first packet", kind: "time", full }}
      y={{ label: "", kind: "number", names: pairs.map((pair) => pair.name) }}
      lines={[]}
      data={view.data}
      paint={view.paint}
      paintUnder={view.under}
      controls={
        <label class="slide">
          from
          <input type="range" min={full[0]} max={Math.max(full[0], full[1] - stretch)} step="any" value={begin} onInput={(event) => showFrom(Number(event.currentTarget.value))} aria-label="start of the stretch" />
        </label>
      }
      readout={(x, y) => {
        const pair = pairs[Math.round(y)];
        if (!pair) return "";
        return `${digits(x)} s, ${pair.name}: ${show("rate", pair.rates[Math.floor((x - pair.start_s) / pair.window_s)] ?? 0)}`;
      }}
      table={() => ({
        columns: columns("pair|start:time|rate:rate"),
        rows: pairs.flatMap((pair) => pair.rates.map((rate, i): Cell[] => [pair.name, pair.start_s + i * pair.window_s, rate])),
      })}
      how={
        <>
          <p>
            Rates in windows of {show("time", window)}, one by one (windows.csv). A row is as high as the busiest window that is shown
            {props.rate !== null ? ", or as the rate asked for on a host's link where that is not far above" : ""}. Shaded is every second iteration.
          </p>
          <p>
            Kept in this page are {show("time", full[1] - full[0])} around the middle {run.iterations ? "iteration" : "of the run"}, of the {pairs.length} pairs that carried the most ({show("share", LEAST_SHARE)} of the first one's bytes at least); move
            the stretch with the slider, or zoom. <code>trainwire report --full</code> keeps all of the run.
          </p>
        </>
      }
    />
  );
}
