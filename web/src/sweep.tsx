// SPDX-License-Identifier: Apache-2.0
// A sweep: what was varied and what it did to the step time; every point with its page and what failed in it.

import { useState } from "preact/hooks";
import { at, num, type Row, type Run, type SweepAxis } from "./data";
import { type Kind, show } from "./format";
import { clusterOf } from "./overview";
import { Choice } from "./parts";
import { LoadCurve, SettingCurve, sweepSentence } from "./sweep_curve";
import { namedValue, type Plan, planOf, type Point, pointsOf, rowScale } from "./sweep_axes";
import { HeatMap } from "./sweep_heat";
import { type Cell, type Column, How, type Table, TableView } from "./table";

const COLUMNS: [string, string, Kind][] = [
  ["step_mean_s", "mean step", "time"],
  ["step_mean_low_s", "95 % from", "time"],
  ["step_mean_high_s", "to", "time"],
  ["step_p99_s", "p99", "time"],
  ["exchange_s", "exchange", "time"],
  ["busbw_bps", "busbw", "bus"],
  ["busiest_share", "busiest link", "share"],
  ["traffic_requested_bps", "traffic", "rate"],
  ["traffic_achieved_bps", "reached", "rate"],
];

/** Where the page of a point is, seen from this one; null when it is out of reach. */
function addressOf(run: Run, folder: string, hasPage: boolean): string | null {
  const [, kind, id] = location.hash.split("/");
  if (kind === "run" && id) return `#/run/${encodeURIComponent(`${decodeURIComponent(id)}/${folder}`)}`;
  // Beside the run's data: a page that was put elsewhere does not know the way back.
  const beside = decodeURIComponent(location.pathname).split("/").slice(-2)[0] === run.label;
  return hasPage && beside ? `${encodeURIComponent(folder)}/report.html` : null;
}

function folderCell(run: Run, point: Point): Cell {
  const folder = run.sweep?.folders[point.place] ?? String(point.place);
  const href = addressOf(run, folder, run.sweep?.pages[point.place] ?? false);
  return href === null ? folder : { text: folder, href };
}

const settingColumn = (axis: SweepAxis): Column => (axis.kind === "word" || axis.kind === "bytes" ? { name: axis.label } : { name: axis.label, kind: axis.kind });
const settingCell = (axis: SweepAxis, place: number): Cell => (axis.kind === "word" || axis.kind === "bytes" ? (axis.texts[place] ?? null) : (axis.numbers?.[place] ?? null));

/** Rates as on the cluster, as the settings and the axes have them. */
function figureCell(row: Row, key: string, kind: Kind): Cell {
  const value = num(row, key);
  return value !== null && kind === "rate" ? value * rowScale(row) : value;
}

function pointsTable(run: Run, points: Point[]): Table {
  const axes = run.sweep?.axes ?? [];
  const used = COLUMNS.filter(([key]) => points.some(({ row }) => at(row, key) !== null && at(row, key) !== 0));
  return {
    columns: [...axes.map(settingColumn), { name: "point" }, { name: "checks" }, ...used.map(([, name, kind]): Column => ({ name, kind }))],
    rows: points.map((point): Cell[] => [
      ...axes.map((axis) => settingCell(axis, point.place)),
      folderCell(run, point),
      point.why === null ? "✓ ok" : `✗ ${point.why.map((each) => each.name).join(", ")}`,
      ...used.map(([key, , kind]) => (point.mean === null ? null : figureCell(point.row, key, kind))),
    ]),
  };
}

/** More than these are folded away. */
const MANY_POINTS = 12;
const VIEWS = ["lines", "heat map"] as const;

/** Two settings of several numbers each. */
function heatAxes(run: Run, plan: Plan): [SweepAxis, SweepAxis] | null {
  const numbers = (run.sweep?.axes ?? []).filter((axis) => axis.kind !== "word" && new Set(axis.texts).size > 2);
  const [x, y] = [plan.x, plan.series[0]];
  return !plan.isLoad && x && y && plan.series.length === 1 && !plan.facet && numbers.includes(x) && numbers.includes(y) ? [x, y] : null;
}

function Curves(props: { run: Run; plan: Plan; points: Point[] }) {
  const { run, plan, points } = props;
  const facets = plan.facet ? [...new Set(points.map((point) => namedValue(plan.facet as SweepAxis, point.place)))] : [""];
  const Curve = plan.isLoad ? LoadCurve : SettingCurve;
  return (
    <div class={facets.length > 1 ? "plots" : ""}>
      {facets.map((facet, i) => {
        const some = points.filter((point) => !plan.facet || namedValue(plan.facet, point.place) === facet);
        return <Curve run={run} plan={plan} points={some} facet={facet} place={i} table={() => pointsTable(run, some)} />;
      })}
    </div>
  );
}

/** What failed in which point. */
function Failures(props: { run: Run; points: Point[] }) {
  const failed = props.points.filter((point) => point.why !== null);
  if (failed.length === 0) return null;
  const axes = props.run.sweep?.axes ?? [];
  const name = (point: Point) => axes.map((axis) => namedValue(axis, point.place)).join(", ") || props.run.sweep?.folders[point.place];
  return (
    <details class="reasons" open={failed.length <= FEW_FAILURES}>
      <summary>What failed</summary>
      <ul>
        {failed.map((point) => (
          <li>
            <b>{name(point)}:</b> {point.why?.map((each) => `${each.name}: ${each.text}`).join("; ")}
          </li>
        ))}
      </ul>
    </details>
  );
}
const FEW_FAILURES = 4;

function missingText(points: Point[]): string {
  const without = points.filter((point) => point.mean === null).length;
  return without > 0 ? `${without} of ${points.length} points ${without === 1 ? "has" : "have"} no result: why stands below the table.` : "";
}

/** How the emulation stands to the cluster, and where that misleads. */
function Doubts(props: { run: Run; scale: number }) {
  const { slow } = clusterOf(props.run);
  const cautions = props.run.sweep?.cautions ?? [];
  if (props.scale === 1 && slow === 1 && cautions.length === 0) return null;
  return (
    <p class="scale">
      {props.scale !== 1 && <><b>Scale 1:{show("number", props.scale)}.</b> Emulated were 1/{show("number", props.scale)} of the cluster's rates and bytes; rates here are the cluster's, times are the same. </>}
      {slow !== 1 && <><b>Slow motion 1:{show("number", slow)}.</b> Times here are {show("number", slow)} times the cluster's. </>}
      {cautions.map((text) => `With care: ${text}. `)}
    </p>
  );
}

export function Sweep(props: { run: Run }) {
  const { run } = props;
  const points = pointsOf(run);
  const plan = planOf(run, points);
  const heat = heatAxes(run, plan);
  const [view, setView] = useState<(typeof VIEWS)[number]>(heat ? "heat map" : "lines");
  const table = pointsTable(run, points);
  const scale = points.map(({ row }) => rowScale(row)).find((each) => each !== 1);
  const shown = <TableView caption={`Points${scale ? `; rates are those of the cluster, ${show("number", scale)} times those measured` : ""}`} table={table} />;
  return (
    <section id="sweep" aria-label="Sweep">
      <p class="answer">{sweepSentence(points, plan)}</p>
      {missingText(points) && <p class="answer more">{missingText(points)}</p>}
      <Doubts run={run} scale={scale ?? 1} />
      {heat && <Choice label="shown as" values={VIEWS} value={view} onChange={setView} />}
      {points.length > 0 && (heat && view === "heat map" ? <HeatMap run={run} points={points} x={heat[0]} y={heat[1]} table={() => table} /> : <Curves run={run} plan={plan} points={points} />)}
      <div class="card">
        {points.length > MANY_POINTS ? (
          <details>
            <summary>All {show("count", points.length)} points</summary>
            {shown}
          </details>
        ) : (
          shown
        )}
        <Failures run={run} points={points} />
        <How>
          <p>One row for each point of the sweep (points.csv); each has a run folder of its own inside {run.path}, with a page of its own.</p>
        </How>
      </div>
    </section>
  );
}
