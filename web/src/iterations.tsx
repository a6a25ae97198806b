// SPDX-License-Identifier: Apache-2.0
// Training steps: how long each took, how they spread, and what every rank did meanwhile.

import { useEffect, useMemo } from "preact/hooks";
import type uPlot from "uplot";
import { Cdf, type NamedDistribution } from "./cdf";
import { Bars } from "./bars";
import { faded, phaseColour, seriesColour } from "./colours";
import { type Histogram, isFlat, isSimulated, type Phases, quantile, type Run, type StepTimes } from "./data";
import { digits, show } from "./format";
import { Missing, Section, Told } from "./parts";
import { type Drawn, Plot } from "./plot";
import { type Bar, paintRows } from "./rows";
import { type Cell, columns } from "./table";
import { type Range, zoomTo } from "./zoom";

const jobName = (steps: StepTimes) => steps.name ?? "iterations";

/** Titles are of the first job; of several it is named. */
const ofFirst = (steps: StepTimes[]) => (steps.length > 1 ? ` of ${jobName(steps[0] as StepTimes)}` : "");

function Durations(props: { steps: StepTimes[] }) {
  const few = props.steps.every((job) => job.step.distribution.n < 3);
  if (!few) return <DurationsPlot steps={props.steps} />;
  const times = props.steps.map((job) => `${jobName(job)}: ${job.step.series.mean.map((time) => show("time", time)).join(", ")}`);
  return (
    <Told id="step-times" title={`Steps took ${times.join("; ")}.`}>
      No plot of so few.
    </Told>
  );
}

function DurationsPlot(props: { steps: StepTimes[] }) {
  const { steps } = props;
  const lines = steps.flatMap((job, i) => [
    { label: `${jobName(job)}: step`, colour: 2 * i, times: job.step },
    ...(job.exchange ? [{ label: `${jobName(job)}: exchange`, colour: 2 * i + 1, times: job.exchange }] : []),
  ]);
  const data = useMemo(() => {
    const longest = Math.max(...lines.map((line) => line.times.series.mean.length * line.times.series.per));
    const per = Math.max(...lines.map((line) => line.times.series.per));
    const drawn: Drawn = {
      xs: Array.from({ length: Math.ceil(longest / per) }, (_none, i) => i * per),
      ys: lines.map(({ times }) => ({
        values: times.series.mean,
        ...(times.series.min && times.series.max ? { low: times.series.min, high: times.series.max } : {}),
      })),
    };
    return () => drawn;
  }, [steps]);
  const first = steps[0] as StepTimes;
  const d = first.step.distribution;
  const per = first.step.series.per;
  return (
    <Plot
      id="step-times"
      title={`Steps${ofFirst(steps)} took ${show("time", d.min)} to ${show("time", d.max)}, ${show("time", d.mean)} on average.`}
      x={{ label: "step", kind: "count" }}
      y={{ label: "duration", kind: "time" }}
      lines={lines.map(({ label, colour }) => ({ label, colour, points: first.step.series.mean.length <= 200 }))}
      data={data}
      table={() => ({
        columns: columns("of|step:count|duration:time"),
        rows: lines.flatMap(({ label, times }) => times.series.mean.map((value, i): Cell[] => [label, i * times.series.per, value])),
      })}
      how={
        <>
          <p>
            {first.source === "log"
              ? "As the ranks told it (steps.csv), warm-up left out: the mean over ranks of the time from the start of a step to its end; exchange is from the first bucket's start to the last one's end."
              : "Inferred from the packets: where the exchanges of gradients repeat (iterations.csv)."}
          </p>
          {per > 1 && <p>Each point is the mean of {per} steps; the band reaches from the shortest to the longest.</p>}
        </>
      }
    />
  );
}

const rowNames = (phases: Phases): string[] => {
  const jobs = new Set(phases.rows.map((row) => row.job));
  return phases.rows.map((row) => (jobs.size > 1 ? `${row.job} rank ${row.rank}` : `rank ${row.rank}`));
};

const ORDER = ["broadcast", "forward", "backward", "wait", "exchange", "aggregation", "distribution", "optimiser"];

/** Exchanges run beside computing: they have the lower part of a row for themselves. */
const isBeside = (phase: string) => phase === "exchange";

/** A few steps from the middle of those that are kept. */
function middleSteps(timeline: TimelineData): Range {
  const from = Math.min(...timeline.start_us) * 1e-6;
  const to = Math.max(...timeline.start_us.map((start, i) => start + (timeline.length_us[i] ?? 0))) * 1e-6;
  const step = (to - from) / (timeline.to_step - timeline.from_step + 1);
  const middle = from + step * Math.floor((timeline.to_step - timeline.from_step + 1) / 2);
  return [Math.max(from, middle - 2 * step), Math.min(to, middle + 2 * step)];
}

/** Logs of other programs tell whole steps, which are no phases. */
const isMeasured = (phases: Phases): boolean => phases.median_s.some((row) => row.some((value) => value !== null));

/** `few`: begins with a few steps, and zooms on its own. */
export function Timeline(props: { phases: Phases; full: Range; few?: boolean; virtual?: boolean }) {
  const { phases } = props;
  const timeline = phases.timeline;
  const group = props.few ? "timeline" : "time";
  useEffect(() => {
    if (props.few && timeline) zoomTo(group, middleSteps(timeline));
  }, [phases]);
  const rows = rowNames(phases);
  const view = useMemo(() => {
    const drawn: Drawn = { xs: [props.full[0], props.full[1]], ys: [{ values: [null, null] }] };
    return {
      data: () => drawn,
      paint: (plot: uPlot) => timeline && paintTimeline(plot, phases, timeline),
    };
  }, [phases]);
  if (!timeline) return <Missing>{isMeasured(phases) ? "No lanes: steps.csv tells when steps began and ended, not what ranks did in them." : "steps.csv has no measured step."}</Missing>;
  const shown = timeline.to_step - timeline.from_step + 1;
  const used = ORDER.filter((name) => timeline.phase.includes(phases.phases.indexOf(name)));
  return (
    <Plot
      id="phases-timeline"
      title={`What every rank did in steps ${timeline.from_step} to ${timeline.to_step}.`}
      group={group}
      height={Math.min(520, 74 + 30 * rows.length)}
      x={{ label: props.virtual ? "virtual time" : "time since the first packet", kind: "time", full: props.full }}
      y={{ label: "", kind: "number", names: rows }}
      lines={[]}
      legend={used.map((name) => ({ label: isBeside(name) ? `${name} (lower half)` : name, colour: phaseColour(name) }))}
      data={view.data}
      paint={view.paint}
      readout={(x, y) => timelineText(phases, timeline, rows, x, y)}
      table={() => ({
        columns: columns("rank|phase|start:time|length:time"),
        rows: timeline.row.map((row, i): Cell[] => [rows[row] ?? "", phases.phases[timeline.phase[i] as number] ?? "", (timeline.start_us[i] as number) * 1e-6, (timeline.length_us[i] as number) * 1e-6]),
      })}
      how={
        <p>
          As the ranks told it (steps.csv): computing and waiting above, exchanges of gradients below. <code>wait</code> is the part of the exchange that no computing
          hides.{shown < timeline.steps ? ` The first ${shown} of ${timeline.steps} measured steps are kept in this page.` : ""}
          {timeline.left_off_rows > 0 ? ` ${timeline.left_off_rows} further ranks are left off.` : ""}
        </p>
      }
    />
  );
}

type TimelineData = NonNullable<Phases["timeline"]>;

function paintTimeline(plot: uPlot, phases: Phases, timeline: TimelineData) {
  const { ctx, bbox } = plot;
  const height = Math.abs(plot.valToPos(1, "y", true) - plot.valToPos(0, "y", true));
  const { min, max } = plot.scales.x as { min: number; max: number };
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  timeline.row.forEach((row, i) => {
    const start = (timeline.start_us[i] as number) * 1e-6;
    const end = start + (timeline.length_us[i] as number) * 1e-6;
    if (end < min || start > max) return;
    const phase = phases.phases[timeline.phase[i] as number] ?? "";
    const left = plot.valToPos(start, "x", true);
    const width = Math.max(1, plot.valToPos(end, "x", true) - left);
    const middle = plot.valToPos(row, "y", true);
    ctx.fillStyle = phaseColour(phase);
    ctx.fillRect(left, isBeside(phase) ? middle + height * 0.06 : middle - height * 0.4, width, height * (isBeside(phase) ? 0.34 : 0.42));
  });
  ctx.restore();
}

function timelineText(phases: Phases, timeline: TimelineData, rows: string[], x: number, y: number): string {
  const row = Math.round(y);
  if (!rows[row]) return "";
  const found: string[] = [];
  timeline.row.forEach((each, i) => {
    const start = (timeline.start_us[i] as number) * 1e-6;
    const length = (timeline.length_us[i] as number) * 1e-6;
    if (each === row && x >= start && x <= start + length) found.push(`${phases.phases[timeline.phase[i] as number]} ${show("time", length)}`);
  });
  return `${digits(x)} s, ${rows[row]}: ${found.join(", ") || "nothing logged"}`;
}

function MedianPhases(props: { phases: Phases }) {
  const { phases } = props;
  const rows = rowNames(phases);
  const order = ORDER.filter((name) => !isBeside(name) && phases.median_s.some((row) => row[phases.phases.indexOf(name)]));
  const view = useMemo(() => {
    const value = (row: number, name: string) => phases.median_s[row]?.[phases.phases.indexOf(name)] ?? 0;
    const ends = rows.map((_row, i) => order.reduce((sum, name) => sum + value(i, name), 0));
    const longest = Math.max(...ends, 1e-9);
    const drawn: Drawn = { xs: [0, longest], ys: [{ values: [null, null] }] };
    return { value, drawn, data: () => drawn, paint: (plot: uPlot) => paintBars(plot, rows.length, order, value) };
  }, [phases]);
  if (order.length === 0) return null;
  return (
    <Plot
      id="phases-median"
      title="Where a median step of each rank goes."
      height={Math.min(420, 74 + 26 * rows.length)}
      x={{ label: "time", kind: "time", full: [0, view.drawn.xs[1] as number] }}
      y={{ label: "", kind: "number", names: rows }}
      lines={[]}
      legend={order.map((name) => ({ label: name, colour: phaseColour(name) }))}
      data={view.data}
      paint={view.paint}
      readout={(_x, y) => {
        const row = Math.round(y);
        return rows[row] ? `${rows[row]}: ${order.map((name) => `${name} ${show("time", view.value(row, name))}`).join(", ")}` : "";
      }}
      table={() => ({
        columns: [{ name: "rank" }, ...phases.phases.map((name) => ({ name, kind: "time" as const }))],
        rows: rows.map((name, i): Cell[] => [name, ...(phases.median_s[i] ?? [])]),
      })}
      how={
        <p>
          The median over measured steps of the time that the rank spent in each phase (steps.csv); a phase that comes once for each bucket counts with its sum.
          Medians of phases need not add up to the median of the step.
        </p>
      }
    />
  );
}

function paintBars(plot: uPlot, rows: number, order: string[], value: (row: number, name: string) => number) {
  const { ctx } = plot;
  const height = Math.abs(plot.valToPos(1, "y", true) - plot.valToPos(0, "y", true)) * 0.62;
  for (let row = 0; row < rows; row++) {
    let sum = 0;
    for (const name of order) {
      const left = plot.valToPos(sum, "x", true);
      sum += value(row, name);
      ctx.fillStyle = phaseColour(name);
      ctx.fillRect(left, plot.valToPos(row, "y", true) - height / 2, plot.valToPos(sum, "x", true) - left, height);
    }
  }
}

const MOST_BINS = 40;

/** Bins of equal width, as many as the square root of the values but 5 to 40. */
function binned(values: number[]): Histogram {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const count = Math.min(MOST_BINS, Math.max(5, Math.round(Math.sqrt(values.length))));
  const width = high > low ? (high - low) / count : Math.max(high, 1e-9) / 100;
  const counts = new Array<number>(high > low ? count : 1).fill(0);
  for (const value of values) {
    const bin = Math.min(counts.length - 1, Math.floor((value - low) / width));
    counts[bin] = (counts[bin] ?? 0) + 1;
  }
  return { low, width, counts };
}

function DurationBars(props: { steps: StepTimes; of: string }) {
  const { series, distribution } = props.steps.step;
  const exact = series.per === 1;
  const of = useMemo(() => binned(exact ? series.mean : distribution.q), [props.steps]);
  return (
    <Bars
      id="step-bars"
      title={`Half of the steps${props.of} lie between ${show("time", quantile(distribution, 0.25))} and ${show("time", quantile(distribution, 0.75))}.`}
      label="duration of a step"
      kind="time"
      of={of}
      how={`Durations of the steps of ${jobName(props.steps)} as above, in bins of equal width; ${exact ? "every step counts once" : `of ${show("count", distribution.n)} steps, the ${distribution.q.length} quantiles at even shares`}.`}
    />
  );
}

/** How late each rank begins its steps: up to the median, on to the 95th percentile, a mark at the longest. */
function Lateness(props: { phases: Phases }) {
  const { phases } = props;
  const rows = rowNames(phases);
  const late = phases.late_s ?? [];
  const view = useMemo(() => {
    const longest = Math.max(...late.map((each) => each?.[2] ?? 0), 1e-9);
    const drawn: Drawn = { xs: [0, longest], ys: [{ values: [null, null] }] };
    const bars = (): Bar[] =>
      late.flatMap((each, row): Bar[] => {
        if (!each) return [];
        const bar = { row, colour: seriesColour(0), height: 0.6 };
        return [
          { ...bar, from: 0, to: each[0], opacity: 1 },
          { ...bar, from: each[0], to: each[1], opacity: 0.35 },
          { ...bar, from: each[2], to: each[2], opacity: 1, colour: seriesColour(1) },
        ];
      });
    return { longest, data: () => drawn, paint: (plot: uPlot) => paintRows(plot, bars()) };
  }, [phases]);
  const medians = late.map((each) => each?.[0] ?? 0);
  const last = medians.indexOf(Math.max(...medians));
  if (late.length < 2 || !late.some(Boolean)) return null;
  return (
    <Plot
      id="start-skew"
      title={`Ranks begin a step up to ${show("time", view.longest)} apart; ${rows[last]} is the latest, ${show("time", medians[last])} behind the first at the median.`}
      height={Math.min(420, 74 + 26 * late.length)}
      x={{ label: "begins after the first rank by", kind: "time", full: [0, view.longest * 1.02] }}
      y={{ label: "", kind: "number", names: rows.slice(0, late.length) }}
      lines={[]}
      legend={[
        { label: "median", colour: seriesColour(0) },
        { label: "to the 95th percentile", colour: faded(seriesColour(0), 0.35) },
        { label: "longest", colour: seriesColour(1) },
      ]}
      data={view.data}
      paint={view.paint}
      readout={(_x, y) => {
        const each = late[Math.round(y)];
        return each ? `${rows[Math.round(y)]}: median ${show("time", each[0])}, 95th percentile ${show("time", each[1])}, longest ${show("time", each[2])}` : "";
      }}
      table={() => ({
        columns: columns("rank|median:time|95th percentile:time|longest:time"),
        rows: late.map((each, i): Cell[] => [rows[i] ?? "", each?.[0] ?? null, each?.[1] ?? null, each?.[2] ?? null]),
      })}
      how={
        <p>
          For every measured step the time from the first rank's start to this one's (steps.csv), on the ranks' own clocks: on several machines they are only as good as these agree.
        </p>
      }
    />
  );
}

/** `timeline`: whether it is shown here. */
export function Iterations(props: { run: Run; full: Range; timeline: boolean }) {
  const { run } = props;
  const all: NamedDistribution[] = run.steps.flatMap((job, i) => [
    { name: `${jobName(job)}: step`, colour: 2 * i, of: job.step.distribution },
    ...(job.exchange ? [{ name: `${jobName(job)}: exchange`, colour: 2 * i + 1, of: job.exchange.distribution }] : []),
  ]);
  return (
    <Section id="iterations" title="Iterations">
      {run.steps.length === 0 && (
        <Missing>No training steps: {run.complete ? "none were logged, and the packets show none that repeat." : "the run ended before it had told of any."}</Missing>
      )}
      <div class="plots">
        {run.steps.length > 0 && <Durations steps={run.steps} />}
        {all.length > 0 && (
          <Cdf
            id="step-cdf"
            title={`Half of the steps${ofFirst(run.steps)} took no longer than ${show("time", quantile((run.steps[0] as StepTimes).step.distribution, 0.5))}.`}
            label="duration"
            kind="time"
            height={240}
            all={all}
            how={<p>The same durations as beside.</p>}
          />
        )}
        {run.steps[0] && !isFlat(run.steps[0].step.distribution) && <DurationBars steps={run.steps[0]} of={ofFirst(run.steps)} />}
        {run.phases && <Lateness phases={run.phases} />}
      </div>
      {run.phases ? (
        <>
          {props.timeline && <Timeline phases={run.phases} full={props.full} virtual={isSimulated(run)} />}
          <MedianPhases phases={run.phases} />
        </>
      ) : (
        <Missing>No phases: steps.csv is missing or empty; only ranks of <code>run</code> log them, or <code>analyze --log</code>.</Missing>
      )}
    </Section>
  );
}
