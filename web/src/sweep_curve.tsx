// SPDX-License-Identifier: Apache-2.0
// Step time over what was swept: points with bars up to their 99th percentile, fitted curves, points that failed.

import { useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import { seriesColour, variable } from "./colours";
import { list, num, type Run, str, type SweepAxis, type Values } from "./data";
import { show } from "./format";
import { Choice } from "./parts";
import { type Drawn, type Line, Plot } from "./plot";
import { namedValue, type Plan, type Point, rowScale, type Scale, scaleFor } from "./sweep_axes";
import { type Fit, fitsOver, isOf } from "./sweep_fit";
import type { Table } from "./table";

interface Group {
  name: string;
  points: Point[];
}

const groupName = (series: SweepAxis[], place: number) => series.map((axis) => namedValue(axis, place)).join(", ");

function grouped(points: Point[], series: SweepAxis[]): Group[] {
  const groups = new Map<string, Point[]>();
  for (const point of points) {
    const name = groupName(series, point.place);
    groups.set(name, [...(groups.get(name) ?? []), point]);
  }
  return [...groups].map(([name, some]) => ({ name: name || "measured", points: some }));
}

interface Picture {
  lines: Line[];
  drawn: Drawn;
  bars: { x: number; from: number; to: number; colour: number }[];
  marks: { x: number; low: number | null; high: number | null; y: number; colour: number }[];
  /** A check failed. */
  doubtful: { x: number; y: number }[];
  /** Without a result. */
  failed: number[];
}

/** undefined joins the points on either side, as uPlot has it; null would be a gap. */
const spanned = (xs: number[], column: Map<number, number>): Values => xs.map((x) => column.get(x)) as unknown as Values;

/** Points of one place, of several seeds say, are all drawn. */
function columnOf(points: Point[], x: (point: Point) => number): Map<number, number> {
  const column = new Map<number, number>();
  for (const point of points) {
    let place = x(point);
    while (column.has(place)) place += Math.abs(place) * 1e-9 || 1e-9;
    if (point.mean !== null) column.set(place, point.mean);
  }
  return column;
}

function pictureOf(points: Point[], plan: Plan, fits: Fit[], x: (point: Point) => number, map: (value: number) => number): Picture {
  const measured = points.filter((point) => point.mean !== null);
  const groups = grouped(measured, plan.series);
  const repeated = groups.some((group) => new Set(group.points.map(x)).size < group.points.length);
  const words = plan.x?.kind === "word";
  const lines: Line[] = groups.map((group, i) => ({ label: group.name, colour: i, points: true, noLine: fits.length > 0 || repeated || words || plan.x === null }));
  const columns = groups.map((group) => columnOf(group.points, x));
  const colourOf = (fit: Fit) => Math.max(0, groups.findIndex((group) => isOf(fit, plan.series, group.points[0]?.place ?? 0)));
  fits.forEach((fit) => {
    lines.push({ label: fits.length > 1 ? `${groups[colourOf(fit)]?.name ?? ""}, fitted` : `fit: ${fit.equation}`, colour: colourOf(fit), dashed: true });
    columns.push(new Map(fit.xs.map((value): [number, number] => [map(value), fit.at(value)])));
  });
  const xs = [...new Set(columns.flatMap((column) => [...column.keys()]))].sort((a, b) => a - b);
  const ys: Drawn["ys"] = columns.map((column) => ({ values: spanned(xs, column) }));
  const bars = groups.flatMap((group, colour) => group.points.flatMap((point) => (point.p99 !== null && point.mean !== null ? [{ x: x(point), from: point.mean, to: point.p99, colour }] : [])));
  // The bars must fit on the axis, too: an unseen upper end of the band makes room for them.
  const top = Math.max(...bars.map((bar) => bar.to), 0);
  if (ys[0] && top > 0) Object.assign(ys[0], { high: xs.map((_x, i) => (i === 0 ? top : null)), low: xs.map(() => null) });
  const marks = fits.flatMap((fit) => {
    const mark = fit.congestion;
    return mark ? [{ x: map(mark.x), y: mark.y, colour: colourOf(fit), low: mark.low === null ? null : map(mark.low), high: mark.high === null ? null : map(mark.high) }] : [];
  });
  const doubtful = measured.filter((point) => point.why !== null).map((point) => ({ x: x(point), y: point.mean ?? 0 }));
  return { lines, drawn: { xs, ys }, bars, marks, doubtful, failed: points.filter((point) => point.mean === null).map(x) };
}

function paint(plot: uPlot, picture: Picture) {
  const { ctx, bbox } = plot;
  const size = 4 * devicePixelRatio;
  const line = (...places: [number, number][]) => {
    ctx.beginPath();
    places.forEach(([x, y], i) => (i % 2 === 0 ? ctx.moveTo(x, y) : ctx.lineTo(x, y)));
    ctx.stroke();
  };
  ctx.save();
  ctx.lineWidth = 1.3 * devicePixelRatio;
  for (const bar of picture.bars) {
    const x = plot.valToPos(bar.x, "x", true);
    const [from, to] = [plot.valToPos(bar.from, "y", true), plot.valToPos(bar.to, "y", true)];
    ctx.strokeStyle = seriesColour(bar.colour);
    line([x, from], [x, to], [x - size, to], [x + size, to]);
  }
  for (const mark of picture.marks) {
    ctx.strokeStyle = ctx.fillStyle = seriesColour(mark.colour);
    const [x, y] = [plot.valToPos(mark.x, "x", true), plot.valToPos(mark.y, "y", true)];
    line([mark.low === null ? x : plot.valToPos(mark.low, "x", true), y], [mark.high === null ? x : plot.valToPos(mark.high, "x", true), y]);
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(Math.PI / 4);
    ctx.fillRect(-size, -size, 2 * size, 2 * size);
    ctx.restore();
  }
  ctx.strokeStyle = variable("--bad");
  ctx.lineWidth = 2 * devicePixelRatio;
  for (const each of picture.doubtful) {
    ctx.beginPath();
    ctx.arc(plot.valToPos(each.x, "x", true), plot.valToPos(each.y, "y", true), 2 * size, 0, 2 * Math.PI);
    ctx.stroke();
  }
  for (const place of picture.failed) {
    const [x, y] = [plot.valToPos(place, "x", true), bbox.top + bbox.height - 3 * size];
    line([x - size, y - size], [x + size, y + size], [x - size, y + size], [x + size, y - size]);
  }
  ctx.restore();
}

/** Times that differ by more than this are drawn on a logarithmic axis, lest one squashes the others. */
const WIDE = 6;

export function isWide(points: Point[]): boolean {
  const means = points.flatMap((point) => point.mean ?? []);
  const tops = points.flatMap((point) => (point.mean === null ? [] : Math.max(point.mean, point.p99 ?? 0)));
  return means.length > 0 && Math.max(...tops) > WIDE * Math.min(...means);
}

/** "◯ a check failed" */
function troubleLegend(picture: Picture): { label: string; colour: string }[] {
  const entries = [];
  if (picture.doubtful.length > 0) entries.push({ label: "◯ a check failed", colour: "transparent" });
  if (picture.failed.length > 0) entries.push({ label: "✕ no result", colour: "transparent" });
  return entries;
}

/** How far the means of a plot go, and where. */
export function sweepSentence(points: Point[], plan: Plan): string {
  const measured = points.filter((point): point is Point & { mean: number } => point.mean !== null);
  if (measured.length === 0) return "No point of the sweep came to a result.";
  const least = measured.reduce((a, b) => (b.mean < a.mean ? b : a));
  const most = measured.reduce((a, b) => (b.mean > a.mean ? b : a));
  const where = (point: Point) => [...(plan.x ? [plan.x] : []), ...plan.series, ...(plan.facet ? [plan.facet] : [])].map((axis) => namedValue(axis, point.place)).join(", ") || `point ${point.place}`;
  if (least === most) return `The mean step takes ${show("time", most.mean)} with ${where(most)}.`;
  const factor = most.mean / least.mean;
  if (factor < 1.02) return `The mean step takes ${show("time", least.mean)} to ${show("time", most.mean)}, whatever was set.`;
  const [first, last] = [measured[0] as Point & { mean: number }, measured[measured.length - 1] as Point & { mean: number }];
  const steady = plan.x && plan.x.kind !== "word" && plan.series.length === 0 && !plan.facet && ((least === first && most === last) || (least === last && most === first));
  if (steady) return `From ${where(first)} to ${where(last)} the mean step goes from ${show("time", first.mean)} to ${show("time", last.mean)}.`;
  return `The mean step takes ${show("time", least.mean)} with ${where(least)} and ${show("time", most.mean)}, ${show("number", Number(factor.toPrecision(2)))} times as long, with ${where(most)}.`;
}

function FitText(props: { run: Run; fits: Fit[]; names: string[] }) {
  const { run, fits } = props;
  if (fits.length === 0) return null;
  return (
    <ul class="reasons">
      {fits.map((fit, i) => (
        <li>
          {fits.length > 1 ? `${props.names[i]}: ` : "fit: "}
          <code>{fit.equation}</code> {fit.parameters}
        </li>
      ))}
      {list(run.fit, "notes").map((note) => (
        <li>{String(note)}</li>
      ))}
    </ul>
  );
}

const AXES = ["load", "C/(C − load)"] as const;

interface CurveProps {
  run: Run;
  plan: Plan;
  /** Of this facet. */
  points: Point[];
  facet: string;
  place: number;
  table: () => Table;
}

const isIn = (fit: Fit, plan: Plan, points: Point[]) => points.some((point) => isOf(fit, [...(plan.facet ? [plan.facet] : []), ...plan.series], point.place));

/** Over the cross traffic that was reached. */
export function LoadCurve(props: CurveProps) {
  const { run, plan, points, facet } = props;
  const fits = fitsOver(run.fit, plan.x, true).filter((fit) => isIn(fit, plan, points));
  const [axis, setAxis] = useState<(typeof AXES)[number]>("load");
  const capacity = Math.max(...points.map(({ row }) => (num(row, "capacity_bps") ?? 0) * rowScale(row)));
  const scaled = points.some(({ row }) => rowScale(row) !== 1);
  const view = useMemo(() => {
    const map = (x: number) => (axis === "load" ? x : capacity / Math.max(capacity - x, capacity * 1e-3));
    const made = pictureOf(points.filter((point) => point.mean !== null), plan, fits, ({ row }) => map((num(row, "traffic_achieved_bps") ?? 0) * rowScale(row)), map);
    return { ...made, data: () => made.drawn, paint: (plot: uPlot) => paint(plot, made) };
  }, [run, axis]);
  const marked = fits.filter((fit) => fit.congestion);
  const name = (fit: Fit) => groupName(plan.series, points.find((point) => isOf(fit, plan.series, point.place))?.place ?? 0);
  const marks = marked.map((fit) => `${show("rate", fit.congestion?.x)}${fits.length > 1 && name(fit) ? ` (${name(fit)})` : ""}`).join(" and ");
  const means = points.flatMap((point) => point.mean ?? []);
  return (
    <Plot
      id={props.place === 0 ? "sweep-load" : `sweep-load-${props.place}`}
      title={`${facet ? `${facet}: ` : ""}${marks ? `steps begin to suffer at ${marks} of cross traffic.` : `under cross traffic the mean step takes ${show("time", Math.min(...means))} to ${show("time", Math.max(...means))}.`}`}
      height={320}
      x={axis === "load" ? { label: scaled ? "cross traffic reached, as on the cluster" : "cross traffic reached", kind: "rate" } : { label: "C/(C − x)", kind: "number" }}
      y={{ label: "step time", kind: "time", log: isWide(points) }}
      lines={view.lines}
      legend={[...(view.marks.length > 0 ? [{ label: "◆ congestion point, 95 % interval", colour: "transparent" }] : []), ...troubleLegend(view)]}
      data={view.data}
      paint={view.paint}
      controls={
        <>
          {capacity > 0 && <Choice label="horizontal axis" values={AXES} value={axis} onChange={setAxis} />}
          <FitText run={run} fits={fits} names={fits.map(name)} />
        </>
      }
      table={props.table}
      how={
        <>
          <p>
            Points are mean step times over the load that was reached, not the one asked for (points.csv); the bar reaches up to the 99th percentile. C is the capacity of the
            narrowest link on the cross traffic's way, {show("rate", capacity)}{scaled ? ", multiplied back by run.scale" : ""}. Over C/(C − x) a job that lives on what is left is a
            straight line.
          </p>
          {fits.length === 0 ? (
            <p><code>trainwire fit {run.path}</code> adds the fitted curve and the congestion point.</p>
          ) : (
            <p>The dashed curve is that of fit.json, drawn only where it holds. {str(run.fit, "congestion_none") ? `No congestion point: ${str(run.fit, "congestion_none")}.` : ""}</p>
          )}
        </>
      }
    />
  );
}

/** Over a setting. */
export function SettingCurve(props: CurveProps) {
  const { run, plan, points, facet } = props;
  const axis = plan.x;
  const scale: Scale = useMemo(() => (axis ? scaleFor(axis) : { at: (place) => place, of: (value) => value, ticks: points.map((point) => ({ at: point.place, text: String(point.place) })), log: false }), [run]);
  const fits = axis ? fitsOver(run.fit, axis, false).filter((fit) => isIn(fit, plan, points)) : [];
  const view = useMemo(() => {
    const made = pictureOf(points, plan, fits, (point) => scale.at(point.place), scale.of);
    return { ...made, data: () => made.drawn, paint: (plot: uPlot) => paint(plot, made) };
  }, [run]);
  const ends = scale.ticks.map((tick) => tick.at);
  const room = 0.04 * (Math.max(...ends) - Math.min(...ends)) || 0.5;
  const words = axis?.kind === "word";
  const full: [number, number] = words ? [-0.5, ends.length - 0.5] : [Math.min(...ends) - room, Math.max(...ends) + room];
  const wide = isWide(points);
  return (
    <Plot
      id={props.place === 0 ? "sweep-points" : `sweep-points-${props.place}`}
      title={facet ? `${facet}: ${sweepSentence(points, { ...plan, facet: null })}` : `Mean step time over ${axis?.label ?? "the points of the sweep"}${plan.series.length > 0 ? `, by ${plan.series.map((each) => each.label).join(" and ")}` : ""}.`}
      height={320}
      x={{ label: axis?.label ?? "point", kind: "number", ticks: scale.ticks, full }}
      y={{ label: "step time", kind: "time", log: wide }}
      lines={view.lines}
      legend={troubleLegend(view)}
      data={view.data}
      paint={view.paint}
      controls={<FitText run={run} fits={fits} names={fits.map((fit) => groupName(plan.series, points.find((point) => isOf(fit, plan.series, point.place))?.place ?? 0))} />}
      table={props.table}
      how={
        <>
          <p>
            Mean step times (points.csv) over {axis ? `${axis.label}, as the experiment sets it` : "the number of the point"}; the bar reaches up to the 99th percentile.
            {scale.log ? " The horizontal axis is logarithmic; 0, where it is there, stands to the left of it." : ""}
            {wide ? " The vertical axis is logarithmic." : ""}
          </p>
          {fits.length > 0 && <p>The dashed curve is that of fit.json, drawn only where it holds.</p>}
          {fits.length === 0 && axis && !words && (
            <p>
              <code>trainwire fit {run.path} --x {axis.key}</code> adds a fitted curve.
            </p>
          )}
        </>
      }
    />
  );
}
