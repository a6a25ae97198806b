// SPDX-License-Identifier: Apache-2.0
// A sweep: step time against the load of cross traffic that was reached, or against what was varied.

import { useMemo, useState } from "preact/hooks";
import type uPlot from "uplot";
import { seriesColour } from "./colours";
import { at, type Json, list, num, type Row, type Run, str, type Values } from "./data";
import { digits, interval, type Kind, show } from "./format";
import { Choice, Section } from "./parts";
import { type Drawn, type Line, Plot } from "./plot";
import { type Cell, How, TableView } from "./table";

interface Point {
  x: number;
  mean: number;
  low: number | null;
  high: number | null;
  p99: number | null;
}

interface Group {
  name: string;
  points: Point[];
}

/** "job.model" is "model", "traffic.0.kind" is "traffic kind". */
const shortKey = (key: string) => key.replace(/^(job|network|run)\.(\d+\.)?/, "").replace(/\.\d+\./g, " ").replace(/[._]/g, " ");

/** Settings of a point, as names and values. */
function settingsOf(text: string): [string, string][] {
  const words = text.split(" ").filter((word) => word.includes("="));
  return words.map((word) => [word.slice(0, word.indexOf("=")), word.slice(word.indexOf("=") + 1).replace(/^"(.*)"$/, "$1")]);
}

/** Words tell what they are of, numbers do not. */
const settingsText = (settings: [string, string][]) => settings.map(([key, value]) => (/^[a-z]/i.test(value) ? value : `${shortKey(key)} ${value}`)).join(", ");

/** What else than the traffic's load was set tells series apart. */
const seriesSettings = (text: string | null) => settingsOf(text ?? "").filter(([key]) => !/^(traffic\.\d+\.load|run\.seed)$/.test(key));

/** Series that differ in several settings are drawn in a plot for each value of the first. */
function facetsOf(rows: Row[]): string[] {
  const all = rows.map((row) => seriesSettings(str(row, "settings")));
  return all.some((settings) => settings.length > 1) ? [...new Set(all.map((settings) => settingsText(settings.slice(0, 1))))] : [""];
}

/** Where a series of these settings is drawn, and what it is called there. */
function placeOf(text: string | null, facets: string[]): { facet: string; name: string } {
  const settings = seriesSettings(text);
  if (facets.length === 1) return { facet: facets[0] as string, name: settingsText(settings) };
  return { facet: settingsText(settings.slice(0, 1)), name: settingsText(settings.slice(1)) };
}

const scaleOf = (row: Row) => num(row, "scale") ?? 1;

function pointOf(row: Row, x: number): Point | null {
  const mean = num(row, "step_mean_s") ?? num(row, "step_s");
  if (mean === null) return null;
  return { x, mean, low: num(row, "step_mean_low_s"), high: num(row, "step_mean_high_s"), p99: num(row, "step_p99_s") };
}

function grouped(rows: Row[], x: (row: Row, index: number) => number | null, name: (row: Row) => string): Group[] {
  const groups = new Map<string, Point[]>();
  rows.forEach((row, i) => {
    const place = x(row, i);
    const point = place === null ? null : pointOf(row, place);
    if (!point) return;
    const key = name(row);
    groups.set(key, [...(groups.get(key) ?? []), point]);
  });
  return [...groups].map(([key, points]) => ({ name: key || "measured", points: points.sort((a, b) => a.x - b.x) }));
}

interface Curve {
  facet: string;
  name: string;
  equation: string;
  at: (x: number) => number;
  from: number;
  to: number;
  congestion: { x: number; low: number | null; high: number | null; y: number } | null;
}

const UNIT: Record<string, number> = { "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, "Tbit/s": 1e12 };

/** The saturation curves of fit.json: A exp(B / (C - x)^n), x and C in the equation's unit. */
function curvesOf(fit: Json, facets: string[]): Curve[] {
  const all = list(fit, "series").length > 0 ? list(fit, "series") : [fit];
  return all.flatMap((one) => {
    const value = (name: string) => num(list(one, "parameters").find((each) => str(each, "name") === name), "value");
    const [a, b, n] = [value("A"), value("B"), value("n")];
    const capacity = num(one, "capacity");
    const [from, to] = [num(one, "valid_from"), num(one, "valid_to")];
    if ((str(one, "model") ?? str(fit, "model")) !== "saturation" || a === null || b === null || n === null || capacity === null || from === null || to === null) return [];
    const unit = UNIT[str(one, "equation_x_unit") ?? str(fit, "equation_x_unit") ?? "bit/s"] ?? 1;
    const point = at(one, "congestion_point");
    const [x, y] = [num(point, "x"), num(point, "y")];
    return [
      {
        ...placeOf(str(one, "name"), facets),
        equation: str(one, "equation") ?? "",
        at: (load: number) => a * Math.exp(b / Math.pow((capacity - load) / unit, n)),
        from,
        to,
        congestion: x === null || y === null ? null : { x, y, low: num(point, "ci_low"), high: num(point, "ci_high") },
      },
    ];
  });
}

interface Picture {
  lines: Line[];
  drawn: Drawn;
  bars: { x: number; from: number; to: number; colour: number }[];
  marks: { x: number; low: number | null; high: number | null; y: number; colour: number }[];
}

function pictureOf(groups: Group[], curves: Curve[], map: (x: number) => number): Picture {
  const lines: Line[] = [];
  const columns: Map<number, number>[] = [];
  const bars: Picture["bars"] = [];
  groups.forEach((group, i) => {
    lines.push({ label: group.name, colour: i, points: true, noLine: curves.length > 0 });
    const column = new Map<number, number>();
    for (const point of group.points) {
      // Points of one load, of several seeds say, are all drawn.
      let x = map(point.x);
      while (column.has(x)) x += Math.abs(x) * 1e-9 || 1e-9;
      column.set(x, point.mean);
    }
    columns.push(column);
    for (const point of group.points) if (point.p99 !== null) bars.push({ x: map(point.x), from: point.mean, to: point.p99, colour: i });
  });
  const colourOf = (curve: Curve) => Math.max(0, groups.findIndex((group) => group.name === curve.name));
  curves.forEach((curve) => {
    lines.push({ label: curves.length > 1 ? `${curve.name}, fitted` : `fit: ${curve.equation}`, colour: colourOf(curve), dashed: true });
    const steps = 120;
    columns.push(
      new Map(
        Array.from({ length: steps + 1 }, (_none, k): [number, number] => {
          const x = curve.from + ((curve.to - curve.from) * k) / steps;
          return [map(x), curve.at(x)];
        }),
      ),
    );
  });
  const xs = [...new Set(columns.flatMap((column) => [...column.keys()]))].sort((a, b) => a - b);
  const ys = columns.map((column) => ({ values: spanned(xs, column) }));
  // The bars must fit on the axis, too: an unseen upper end of the band makes room for them.
  const top = Math.max(...bars.map((bar) => bar.to), 0);
  if (ys[0]) Object.assign(ys[0], { high: xs.map((_x, i) => (i === 0 ? top : null)), low: xs.map(() => null) });
  const marks = curves.flatMap((curve) => {
    const mark = curve.congestion;
    return mark ? [{ x: map(mark.x), y: mark.y, colour: colourOf(curve), low: mark.low === null ? null : map(mark.low), high: mark.high === null ? null : map(mark.high) }] : [];
  });
  return { lines, drawn: { xs, ys }, bars, marks };
}

/** undefined joins the points on either side, as uPlot has it; null would be a gap. */
const spanned = (xs: number[], column: Map<number, number>): Values => xs.map((x) => column.get(x)) as unknown as Values;

function paint(plot: uPlot, picture: Picture) {
  const { ctx } = plot;
  const size = 4 * devicePixelRatio;
  ctx.save();
  ctx.lineWidth = 1.3 * devicePixelRatio;
  for (const bar of picture.bars) {
    const x = plot.valToPos(bar.x, "x", true);
    const [from, to] = [plot.valToPos(bar.from, "y", true), plot.valToPos(bar.to, "y", true)];
    ctx.strokeStyle = seriesColour(bar.colour);
    ctx.beginPath();
    ctx.moveTo(x, from);
    ctx.lineTo(x, to);
    ctx.moveTo(x - size, to);
    ctx.lineTo(x + size, to);
    ctx.stroke();
  }
  for (const mark of picture.marks) {
    ctx.strokeStyle = ctx.fillStyle = seriesColour(mark.colour);
    const [x, y] = [plot.valToPos(mark.x, "x", true), plot.valToPos(mark.y, "y", true)];
    ctx.beginPath();
    ctx.moveTo(mark.low === null ? x : plot.valToPos(mark.low, "x", true), y);
    ctx.lineTo(mark.high === null ? x : plot.valToPos(mark.high, "x", true), y);
    ctx.stroke();
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(Math.PI / 4);
    ctx.fillRect(-size, -size, 2 * size, 2 * size);
    ctx.restore();
  }
  ctx.restore();
}

const AXES = ["load", "C/(C − load)"] as const;
type AxisChoice = (typeof AXES)[number];

/** "16.4 Gbit/s (websearch) and 15.7 Gbit/s (burst)" */
function marksText(curves: Curve[]): string {
  const marked = curves.filter((curve) => curve.congestion);
  return marked.map((curve) => `${show("rate", curve.congestion?.x)}${curves.length > 1 && curve.name ? ` (${curve.name})` : ""}`).join(" and ");
}

function LoadCurve(props: { run: Run; facets: string[]; facet: string; place: number }) {
  const { run, facets, facet } = props;
  const rows = (run.points ?? []).filter((row) => at(row, "complete") !== 0 && placeOf(str(row, "settings"), facets).facet === facet);
  const curves = curvesOf(run.fit, facets).filter((curve) => curve.facet === facet);
  const [axis, setAxis] = useState<AxisChoice>("load");
  const capacity = Math.max(...rows.map((row) => (num(row, "capacity_bps") ?? 0) * scaleOf(row)));
  const scaled = rows.some((row) => scaleOf(row) !== 1);
  const picture = useMemo(() => {
    const groups = grouped(rows, (row) => (num(row, "traffic_achieved_bps") ?? 0) * scaleOf(row), (row) => placeOf(str(row, "settings"), facets).name);
    const map = (x: number) => (axis === "load" ? x : capacity / Math.max(capacity - x, capacity * 1e-3));
    const made = pictureOf(groups, curves, map);
    return { ...made, data: () => made.drawn, paint: (plot: uPlot) => paint(plot, made) };
  }, [run, axis]);
  const marks = marksText(curves);
  const of = facet ? `${facet}: ` : "";
  const means = rows.flatMap((row) => num(row, "step_mean_s") ?? []);
  return (
    <Plot
      id={props.place === 0 ? "sweep-load" : `sweep-load-${props.place}`}
      title={
        marks
          ? `${of}steps begin to suffer at ${marks} of cross traffic.`
          : `${of}under cross traffic the mean step takes ${show("time", Math.min(...means))} to ${show("time", Math.max(...means))}.`
      }
      height={320}
      x={axis === "load" ? { label: scaled ? "cross traffic reached, as on the emulated cluster" : "cross traffic reached", kind: "rate" } : { label: "C/(C − x)", kind: "number" }}
      y={{ label: "step time", kind: "time" }}
      lines={picture.lines}
      legend={picture.marks.length > 0 ? [{ label: "◆ congestion point, 95 % interval", colour: "transparent" }] : []}
      data={picture.data}
      paint={picture.paint}
      controls={capacity > 0 ? <Choice label="horizontal axis" values={AXES} value={axis} onChange={setAxis} /> : undefined}
      table={() => pointsTable(rows)}
      how={
        <>
          <p>
            Points are mean step times over the load that was reached, not the one asked for (points.csv); the bar reaches up to the 99th percentile. C is the capacity of the
            narrowest link on the cross traffic's way, {show("rate", capacity)}{scaled ? ", multiplied back by run.scale" : ""}. Over C/(C − x) a job that lives on what is left is a
            straight line.
          </p>
          {run.fit === null ? (
            <p><code>trainwire fit {run.path}</code> adds the fitted curve and the congestion point.</p>
          ) : (
            <>
              <p>The dashed curve is that of fit.json, drawn only where it holds. {str(run.fit, "congestion_none") ? `No congestion point: ${str(run.fit, "congestion_none")}.` : ""}</p>
              <p>
                {list(run.fit, "parameters").map((each) => `${str(each, "name")} = ${interval("number", num(each, "value"), num(each, "ci_low"), num(each, "ci_high"))}${str(each, "unit") ? ` ${str(each, "unit")}` : ""}`).join("; ")}
                ; R² = {digits(num(run.fit, "r_squared") ?? NaN)}.
              </p>
              {list(run.fit, "notes").map((note) => (
                <p>{String(note)}</p>
              ))}
            </>
          )}
        </>
      }
    />
  );
}

/** The setting that varies the most, as numbers where it has them. */
function PointsCurve(props: { rows: Row[] }) {
  const { rows } = props;
  const names = rows.map((row, i) => (rows.length > 8 ? String(i) : str(row, "settings") || str(row, "folder") || String(i)));
  const picture = useMemo(() => {
    const groups = grouped(rows, (_row, i) => i, () => "");
    const made = pictureOf(groups, [], (x) => x);
    return { ...made, data: () => made.drawn, paint: (plot: uPlot) => paint(plot, made) };
  }, [rows]);
  return (
    <Plot
      id="sweep-points"
      title="Mean step time of every point, up to its 99th percentile."
      height={280}
      x={{ label: "point, as in the table below", kind: "count", names }}
      y={{ label: "step time", kind: "time" }}
      lines={picture.lines}
      data={picture.data}
      paint={picture.paint}
      table={() => pointsTable(rows)}
      how={<p>Mean step times of points.csv; the bar reaches up to the 99th percentile.</p>}
    />
  );
}

const COLUMNS: [string, string, Kind?][] = [
  ["checks_ok", "checks"],
  ["step_mean_s", "mean step", "time"],
  ["step_mean_low_s", "95 % from", "time"],
  ["step_mean_high_s", "to", "time"],
  ["step_p99_s", "p99", "time"],
  ["exchange_s", "exchange", "time"],
  ["busbw_bps", "busbw", "rate"],
  ["busiest_share", "busiest link", "share"],
  ["traffic_requested_bps", "traffic", "rate"],
  ["traffic_achieved_bps", "reached", "rate"],
];

function pointsTable(rows: Row[]) {
  const settings = rows.map((row) => settingsOf(str(row, "settings") ?? ""));
  const keys = [...new Set(settings.flatMap((each) => each.map(([key]) => key)))];
  const used = COLUMNS.filter(([key]) => rows.some((row) => at(row, key) !== null));
  const cell = (row: Row, key: string): Cell => {
    const value = at(row, key);
    if (key === "checks_ok") return value === 1 ? "✓ ok" : "✗ failed";
    return typeof value === "number" || typeof value === "string" ? value : null;
  };
  return {
    columns: [...keys.map((key) => ({ name: shortKey(key) })), ...used.map(([, name, kind]) => (kind ? { name, kind } : { name }))],
    rows: rows.map((row, i) => [...keys.map((key) => settings[i]?.find(([name]) => name === key)?.[1] ?? null), ...used.map(([key]) => cell(row, key))]),
  };
}

/** More than these are folded away. */
const MANY_POINTS = 12;

export function Sweep(props: { run: Run }) {
  const rows = (props.run.points ?? []).filter((row) => at(row, "complete") !== 0);
  const left = (props.run.points ?? []).length - rows.length;
  const facets = facetsOf(rows);
  const points = <TableView caption="Points" table={pointsTable(props.run.points ?? [])} />;
  const loads = new Set(rows.map((row) => num(row, "traffic_achieved_bps")).filter((load) => load !== null));
  return (
    <Section id="sweep" title="Sweep" lead={left > 0 ? `${left} points did not come to their end and are left out.` : undefined}>
      {loads.size > 1 && (
        <div class={facets.length > 1 ? "plots" : ""}>
          {facets.map((facet, i) => (
            <LoadCurve run={props.run} facets={facets} facet={facet} place={i} />
          ))}
        </div>
      )}
      {loads.size <= 1 && rows.length > 0 && <PointsCurve rows={rows} />}
      <div class="card">
        {rows.length > MANY_POINTS ? (
          <details>
            <summary>All {show("count", (props.run.points ?? []).length)} points</summary>
            {points}
          </details>
        ) : (
          points
        )}
        <How>
          <p>One row for each point of the sweep (points.csv); each has a run folder of its own inside {props.run.path}, which <code>trainwire report</code> takes, too.</p>
        </How>
      </div>
    </Section>
  );
}
