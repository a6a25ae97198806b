// SPDX-License-Identifier: Apache-2.0
// The list of runs: filter, order, and choosing some to compare.

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { digits, show } from "./format";
import type { RunList, RunRow } from "./serve_api";

/** As many as one page compares. */
const MOST_COMPARED = 8;

type Order = "name" | "job" | "started" | "steps" | "step_mean_s" | "state";

/** What the list remembers while a run is looked at. */
export interface ListState {
  filter: string;
  order: Order;
  down: boolean;
  /** Ids, in the order in which they were chosen. */
  chosen: string[];
}

export const FIRST_STATE: ListState = { filter: "", order: "started", down: true, chosen: [] };

export const runAddress = (run: RunRow) => `#/${run.state === "running" ? "live" : "run"}/${encodeURIComponent(run.id)}`;

/** "4 ranks", on one line. */
export const counted = (n: number, noun: string) => `${n}\u00a0${noun}${n === 1 ? "" : "s"}`;

const jobsText = (run: RunRow): string[] =>
  run.jobs.map((job) => [job.model, job.strategy, job.ranks === null ? null : counted(job.ranks, "rank")].filter(Boolean).join(" · "));

const searched = (run: RunRow) => [run.name, run.path, run.command, run.state, run.started, ...jobsText(run)].join(" ").toLowerCase();

function orderKey(run: RunRow, order: Order): string | number | null {
  if (order === "job") return jobsText(run).join();
  if (order === "state") return `${run.state} ${run.checks?.failed ?? 0}`;
  return run[order];
}

/** What is not known comes last, whichever way. */
function compareBy(order: Order, down: boolean) {
  return (a: RunRow, b: RunRow): number => {
    const [x, y] = [orderKey(a, order), orderKey(b, order)];
    if (x === null || y === null) return Number(x === null) - Number(y === null);
    const sign = typeof x === "string" ? x.localeCompare(String(y), "en", { numeric: true }) : x - Number(y);
    return down ? -sign : sign;
  };
}

function listed(runs: RunRow[], state: ListState): RunRow[] {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const found = runs.filter((run) => words.every((word) => searched(run).includes(word)));
  const by = compareBy(state.order, state.down);
  return found.sort((a, b) => Number(b.state === "running") - Number(a.state === "running") || by(a, b));
}

/** "2026-03-01" and "14:05" on the reader's clock. */
function localTime(iso: string | null): string[] {
  const time = new Date(iso ?? "");
  if (Number.isNaN(time.getTime())) return ["–"];
  const two = (n: number) => String(n).padStart(2, "0");
  return [`${time.getFullYear()}-${two(time.getMonth() + 1)}-${two(time.getDate())}`, `${two(time.getHours())}:${two(time.getMinutes())}`];
}

const SPARK = { width: 104, height: 30, edge: 3 };

/** Its height is the values' range, but no less than a tenth of the largest: noise shall not look like mountains. */
function Sparkline(props: { values: number[]; of: string }) {
  const { values } = props;
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = Math.max(high - low, Math.abs(high) / 10) || 1;
  const middle = (low + high) / 2;
  const x = (i: number) => SPARK.edge + (i / Math.max(1, values.length - 1)) * (SPARK.width - 2 * SPARK.edge);
  const y = (value: number) => SPARK.height / 2 - ((value - middle) / span) * (SPARK.height - 2 * SPARK.edge);
  const line = values.map((value, i) => `${x(i).toFixed(1)},${y(value).toFixed(1)}`).join(" ");
  const text = `${props.of}: ${digits(low)} to ${digits(high)}`;
  const last = values.length - 1;
  return (
    <svg class="spark" width={SPARK.width} height={SPARK.height} role="img" aria-label={text}>
      <title>{text}</title>
      <polygon points={`${x(0)},${SPARK.height} ${line} ${x(last)},${SPARK.height}`} />
      <polyline points={line} />
      <circle cx={x(last)} cy={y(values[last] ?? 0)} r="2.2" />
    </svg>
  );
}

/** Whether it is whole, and what its checks said. */
function State(props: { run: RunRow }) {
  const { state, checks } = props.run;
  const all = checks ? checks.ok + checks.failed : 0;
  // Of a sweep it is the points that are counted.
  const noun = props.run.points === null ? "checks" : "points";
  return (
    <>
      {state === "running" && <span class="badge live">live</span>}
      {state === "partial" && <span class="badge caution">not whole</span>}
      {state === "broken" && <span class="badge bad">unreadable</span>}
      {state === "complete" && all === 0 && <span class="quiet">complete</span>}
      {checks && all > 0 && <span class={`badge ${checks.failed > 0 ? "bad" : "good"}`}>{checks.failed > 0 ? `${checks.failed} of ${all} ${noun} failed` : `${all} ${noun} ok`}</span>}
    </>
  );
}

/** Of a sweep: from its shortest mean step to its longest. */
function stepText(run: RunRow): string {
  const means = run.points === null || run.step_mean_s !== null ? [] : (run.sparkline ?? []).filter((mean) => mean > 0);
  if (means.length === 0) return show("time", run.step_mean_s);
  const [low, high] = [show("time", Math.min(...means)), show("time", Math.max(...means))];
  return low === high ? low : `${low} to ${high}`;
}

function Row(props: { run: RunRow; chosen: boolean; full: boolean; choose: () => void }) {
  const { run } = props;
  const canOpen = run.state !== "broken";
  return (
    <tr class={props.chosen ? "chosen" : ""}>
      <td>
        <input
          type="checkbox"
          aria-label={`compare ${run.name}`}
          checked={props.chosen}
          disabled={!canOpen || run.state === "running" || (props.full && !props.chosen)}
          onChange={props.choose}
        />
      </td>
      <td>
        {canOpen ? <a href={runAddress(run)}>{run.name}</a> : <b>{run.name}</b>}
        <div class="narrow">{jobsText(run).join("; ")}</div>
        <div class="quiet">{[run.id, run.command, run.points && `sweep of ${run.points}`].filter(Boolean).join(" · ")}</div>
        {run.problem && <div class="problem">{run.problem}</div>}
      </td>
      <td class="wide">{jobsText(run).map((text) => <div>{text}</div>)}</td>
      <td title={run.started ?? ""}>{localTime(run.started).map((part) => <><span>{part}</span> </>)}</td>
      <td class="n">{show("count", run.steps)}</td>
      <td class="n">{stepText(run)}</td>
      <td class="trend">{run.sparkline && run.sparkline.length > 0 ? <Sparkline values={run.sparkline} of={run.sparkline_of} /> : null}</td>
      <td><State run={run} /></td>
    </tr>
  );
}

const COLUMNS: [string, Order | null, string?][] = [
  ["run", "name"],
  ["job", "job", "wide"],
  ["started", "started"],
  ["steps", "steps", "n"],
  ["mean step", "step_mean_s", "n"],
  ["trend", null, "trend"],
  ["state", "state"],
];

function Heads(props: { state: ListState; change: (to: Partial<ListState>) => void }) {
  const { state, change } = props;
  return (
    <tr>
      <th scope="col" aria-label="compare" />
      {COLUMNS.map(([title, order, look]) => {
        const mine = order !== null && order === state.order;
        return (
          <th scope="col" class={look ?? ""} aria-sort={mine ? (state.down ? "descending" : "ascending") : "none"}>
            {order ? (
              <button type="button" class="sort" onClick={() => change({ order, down: mine ? !state.down : order === "started" })}>
                {title}
                {mine && (state.down ? " ↓" : " ↑")}
              </button>
            ) : (
              title
            )}
          </th>
        );
      })}
    </tr>
  );
}

function counts(list: RunList, rows: number): string[] {
  const all = list.runs.length;
  const running = list.runs.filter((run) => run.state === "running").length;
  const texts = [rows === all ? counted(all, "run") : `${rows} of ${counted(all, "run")}`];
  if (running > 0) texts.push(`${running} going on`);
  if (list.left_off > 0) texts.push(`${list.left_off} more are not listed`);
  if (list.search_cut) texts.push("the folder is too large to be searched whole");
  return texts;
}

/** Its children stand above the table. */
export function Runs(props: { list: RunList; folder: string; state: ListState; change: (to: Partial<ListState>) => void; children: ComponentChildren }) {
  const { list, state, change } = props;
  const rows = useMemo(() => listed(list.runs, state), [list, state]);
  const chosen = state.chosen.filter((id) => list.runs.some((run) => run.id === id));
  const choose = (id: string) => change({ chosen: chosen.includes(id) ? chosen.filter((each) => each !== id) : [...chosen, id] });
  const first = list.runs.find((run) => run.id === chosen[0]);
  return (
    <>
      <header class="top">
        <h1>Runs</h1>
        <p class="facts" role="status">{[...counts(list, rows.length), ...(props.folder === "." ? [] : [`in ${props.folder}`])].join(" · ")}</p>
      </header>
      {props.children}
      <div class="card runs">
        <div class="row">
          <input type="search" placeholder="filter by name, model, state…" aria-label="filter runs" value={state.filter} onInput={(event) => change({ filter: event.currentTarget.value })} />
          <span class="fill" />
          {chosen.length > 0 && (
            <>
              <span class="quiet">{chosen.length === 1 ? "choose another to compare" : `differences are from ${first?.name}`}</span>
              <button type="button" onClick={() => change({ chosen: [] })}>none</button>
            </>
          )}
          <button type="button" class="main" disabled={chosen.length < 2} onClick={() => (location.hash = `#/compare/${chosen.map(encodeURIComponent).join(",")}`)}>
            {chosen.length < 2 ? "compare" : `compare ${chosen.length} runs`}
          </button>
        </div>
        <div class="scroll">
          <table>
            <thead><Heads state={state} change={change} /></thead>
            <tbody>
              {rows.map((run) => (
                <Row key={run.id} run={run} chosen={chosen.includes(run.id)} full={chosen.length >= MOST_COMPARED} choose={() => choose(run.id)} />
              ))}
            </tbody>
          </table>
        </div>
        {rows.length === 0 && (
          <p class="missing">{list.runs.length > 0 ? "No run has these words." : "No runs yet: trainwire run or trainwire analyze in this folder makes one, or drop a capture here."}</p>
        )}
      </div>
    </>
  );
}
