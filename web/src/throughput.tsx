// SPDX-License-Identifier: Apache-2.0
// Throughput over time: of everything, of each host, of each pair.

import { useMemo, useState } from "preact/hooks";
import { Bars } from "./bars";
import { variable } from "./colours";
import { type IterationTimes, num, type Run, type Series, str, unpack, type Values } from "./data";
import { show } from "./format";
import { CloseUp } from "./close";
import { clipToPlot } from "./rows";
import { Choice, Missing, Section } from "./parts";
import { type Drawn, Plot } from "./plot";
import { type Cell, columns } from "./table";
import type { Range } from "./zoom";
import type uPlot from "uplot";

interface Decoded {
  source: Series;
  mean: Values;
  low: Values;
  high: Values;
}

function decode(series: Series): Decoded {
  const mean = unpack(series.mean);
  return {
    source: series,
    mean,
    low: series.min ? unpack(series.min) : mean,
    high: series.max ? unpack(series.max) : mean,
  };
}

export const endOf = (series: Series) => series.start_s + series.bucket_s * series.mean.n;

interface Cells {
  values: Values;
  low: Values;
  high: Values;
}

/** A series in cells of time; where it has no bucket nothing was sent. */
function inCells(series: Decoded, from: number, width: number, count: number): Cells {
  const { start_s, bucket_s } = series.source;
  const cells: Cells = { values: [], low: [], high: [] };
  for (let cell = 0; cell < count; cell++) {
    const first = Math.floor((from + cell * width - start_s) / bucket_s + 1e-6);
    const last = Math.max(first + 1, Math.ceil((from + (cell + 1) * width - start_s) / bucket_s - 1e-6));
    const [begin, end] = [from + cell * width, from + (cell + 1) * width];
    let [sum, low, high] = [0, Infinity, 0];
    for (let i = first; i < last; i++) {
      // Buckets of a series need not begin where cells do: each counts with what it has in common.
      sum += (series.mean[i] ?? 0) * Math.max(0, Math.min(end, start_s + (i + 1) * bucket_s) - Math.max(begin, start_s + i * bucket_s));
      low = Math.min(low, series.low[i] ?? 0);
      high = Math.max(high, series.high[i] ?? 0);
    }
    cells.values.push(sum / width);
    cells.low.push(low);
    cells.high.push(high);
  }
  return cells;
}

function drawn(all: Decoded[], full: Range, range: Range | null, points: number, bands: boolean): Drawn {
  const finest = Math.min(...all.map((series) => series.source.bucket_s));
  const [from, to] = range ?? full;
  const count = Math.max(1, Math.min(Math.floor(points / 2), Math.ceil((to - from) / finest)));
  const width = Math.max(finest, (to - from) / count);
  const begin = Math.floor(from / width) * width;
  const cells = Math.ceil((to - begin) / width);
  const xs = Array.from({ length: cells }, (_none, i) => begin + (i + 0.5) * width);
  const ys = all.map((series) => {
    const made = inCells(series, begin, width, cells);
    return bands ? made : { values: made.values };
  });
  return { xs, ys };
}

const GROUPS = ["total", "hosts", "pairs"] as const;
type Group = (typeof GROUPS)[number];
const MOST_LINES = 16;

export function rateMarker(run: Run): number | null {
  const rates = (run.links ?? []).filter((link) => /^host/.test(str(link, "link") ?? "")).map((link) => num(link, "requested_bps"));
  const first = rates[0] ?? null;
  return first !== null && rates.every((rate) => rate === first) ? first : null;
}

/** `close`: whether pairs are drawn window by window here. */
export function Throughput(props: { run: Run; full: Range; close: boolean }) {
  const [group, setGroup] = useState<Group>("total");
  const all = props.run.throughput ?? [];
  const members = all.filter((series) => `${series.group}s`.startsWith(group));
  const chosen = members.slice(0, MOST_LINES);
  const marker = group === "total" ? null : rateMarker(props.run);
  const iterations = props.run.iterations;
  const view = useMemo(() => {
    const decoded = chosen.map(decode);
    return {
      data: (range: Range | null, points: number) => drawn(decoded, props.full, range, points, decoded.length === 1),
      paint: marker === null ? undefined : (plot: uPlot) => drawMarker(plot, marker),
      under: iterations === null ? undefined : (plot: uPlot) => paintIterations(plot, iterations),
    };
  }, [group, props.run]);
  if (all.length === 0) {
    return (
      <Section id="throughput" title="Throughput over time">
        <Missing>windows.csv is missing or empty: nothing was captured{props.run.complete ? "" : " before the run ended"}.</Missing>
      </Section>
    );
  }
  const window = chosen[0]?.window_s ?? 0;
  const bucket = chosen[0]?.bucket_s ?? 0;
  const left = members.length - chosen.length;
  return (
    <Section id="throughput" title="Throughput over time" lead="Drag to zoom, double-click for all; the plots over time zoom together.">
      <Plot
        id="throughput-plot"
        title={titleOf(group, props.run)}
        group="time"
        height={280}
        x={{ label: "time since the first packet", kind: "time", full: props.full }}
        y={{ label: "throughput", kind: "rate", ...(marker === null ? {} : { mark: marker }) }}
        lines={chosen.map((series, i) => ({ label: series.name || "all packets", colour: i }))}
        data={view.data}
        {...(view.paint ? { paint: view.paint } : {})}
        {...(view.under ? { paintUnder: view.under } : {})}
        legend={iterations ? [{ label: "every second iteration", colour: variable("--band") }] : []}
        controls={<Choice label="throughput of" values={GROUPS.filter((name) => all.some((series) => `${series.group}s`.startsWith(name)))} value={group} onChange={setGroup} />}
        table={() => tableOf(chosen.map(decode))}
        how={
          <>
            <p>
              Bytes of frames in windows of {show("time", window)}, times eight, over the window (windows.csv). The line is the mean of{" "}
              {bucket > window ? `buckets of ${show("time", bucket)}` : "windows"}, or of more when zoomed out; the band reaches from the quietest to the
              busiest window in it. Each packet counts once, even if several hosts captured it.
            </p>
            {left > 0 && <p>The {chosen.length} that carried the most are drawn; {left} more are in the table of the run.</p>}
            {iterations && (
              <p>
                Shaded is every second iteration from its start to its end (iterations.csv), once they are wide enough to be told apart.
                {iterations.count > iterations.start_us.length ? ` Only the first ${iterations.start_us.length} of ${show("count", iterations.count)} are kept in this page.` : ""}
              </p>
            )}
            {marker !== null && <p>The dotted line is the rate asked for on each host's link, {show("rate", marker)}.</p>}
            {bucket > window && <p><code>trainwire report --full</code> keeps every window.</p>}
          </>
        }
      />
      {props.close && <CloseUp run={props.run} rate={rateMarker(props.run)} />}
      {chosen[0] && (
        <Bars
          id="throughput-rates"
          title={`How often ${chosen[0].name ? `${chosen[0].name}${group === "pairs" ? " ran" : ""}` : "all hosts together ran"} at which rate, in windows of ${show("time", window)}.`}
          label="rate in a window"
          kind="rate"
          of={chosen[0].rates}
          how="Every window from the first packet to the last counts once, quiet ones too; of the series that carried the most."
        />
      )}
    </Section>
  );
}

function titleOf(group: Group, run: Run): string {
  const mean = num(run.summary, "traffic", "mean_bps");
  const peak = num(run.summary, "traffic", "peak_bps");
  if (group === "total" && mean !== null && peak !== null) {
    return `All hosts together sent ${show("rate", mean)} on average, ${show("rate", peak)} at the busiest ${show("time", num(run.summary, "traffic", "peak_window_s"))}.`;
  }
  if (group === "hosts") {
    const host = num(run.summary, "traffic", "busiest", "mean_bps");
    return host === null ? "What each host sent and received." : `The busiest host moved ${show("rate", host)} on average in one direction.`;
  }
  return group === "pairs" ? "What each pair of hosts carried." : "What all hosts together sent.";
}

function drawMarker(plot: uPlot, rate: number) {
  const y = plot.valToPos(rate, "y", true);
  if (y < plot.bbox.top) return;
  const context = plot.ctx;
  const right = plot.bbox.left + plot.bbox.width;
  context.save();
  context.strokeStyle = context.fillStyle = variable("--quiet");
  context.lineWidth = devicePixelRatio;
  context.setLineDash([2 * devicePixelRatio, 4 * devicePixelRatio]);
  context.beginPath();
  context.moveTo(plot.bbox.left, y);
  context.lineTo(right, y);
  context.stroke();
  context.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
  context.textAlign = "right";
  context.textBaseline = y - plot.bbox.top > 16 * devicePixelRatio ? "bottom" : "top";
  context.fillText(`a host's link: ${show("rate", rate)}`, right - 4 * devicePixelRatio, y);
  context.restore();
}

/** Shades every second iteration, where they are wide enough to be told apart. */
export function paintIterations(plot: uPlot, iterations: IterationTimes) {
  const { ctx, bbox } = plot;
  const { min, max } = plot.scales.x as { min: number; max: number };
  const { start_us: starts, end_us: ends } = iterations;
  const last = starts.length - 1;
  const span = ((ends[last] ?? 0) - (starts[0] ?? 0)) * 1e-6;
  const width = (span / starts.length / (max - min)) * bbox.width;
  if (!(width >= LEAST_BAND * devicePixelRatio)) return;
  ctx.save();
  clipToPlot(plot);
  ctx.fillStyle = variable("--band");
  starts.forEach((start, i) => {
    // To the next one's start: where a log tells of iterations they may overlap by a little.
    const end = Math.min(ends[i] ?? start, starts[i + 1] ?? Infinity) * 1e-6;
    if (i % 2 === 1 || end < min || start * 1e-6 > max) return;
    const left = plot.valToPos(start * 1e-6, "x", true);
    ctx.fillRect(left, bbox.top, plot.valToPos(end, "x", true) - left, bbox.height);
  });
  ctx.restore();
}

/** Pixels. */
const LEAST_BAND = 6;

function tableOf(all: Decoded[]) {
  const rows: Cell[][] = [];
  for (const series of all) {
    series.mean.forEach((mean, i) => {
      rows.push([series.source.name || "total", series.source.start_s + i * series.source.bucket_s, mean, series.low[i] ?? null, series.high[i] ?? null]);
    });
  }
  return {
    columns: columns("of|start:time|mean:rate|quietest window:rate|busiest window:rate"),
    rows,
  };
}
