// SPDX-License-Identifier: Apache-2.0
// What the run was, how good its data are, its figures, its findings, its checks.

import { at, isSimulated, type Json, list, num, type Run, str } from "./data";
import { digits, show } from "./format";
import { Missing, Section } from "./parts";
import { type Cell, TableView, columns } from "./table";
import { busiestLink } from "./topology";
import { wayOf } from "./ways";

type Level = "good" | "caution" | "bad";

interface Quality {
  level: Level;
  word: string;
  reasons: string[];
}

const texts = (json: Json[]): string[] => json.filter((each): each is string => typeof each === "string");

/** The worst of what capture, machine and checks say; a failed check outweighs everything. */
export function qualityOf(run: Run): Quality {
  const summary = run.summary;
  const reasons: string[] = [];
  let level: Level = "good";
  const worsen = (to: Level) => {
    if (to === "bad" || level === "good") level = to;
  };
  if (!run.complete) worsen("bad");
  for (const check of list(summary, "checks")) {
    if (at(check, "ok") !== false) continue;
    worsen("bad");
    reasons.push(`check ${str(check, "name") ?? ""} failed: ${str(check, "text") ?? ""}`);
  }
  for (const check of list(summary, "checks")) {
    // What the machine did not like is told below, with its level.
    if (at(check, "ok") !== true || at(check, "caution") !== true || str(check, "name") === "machine") continue;
    worsen("caution");
    reasons.push(`check ${str(check, "name") ?? ""} passed with care: ${str(check, "text") ?? ""}`);
  }
  const points = list(summary, "points");
  const failedPoints = points.filter((point) => at(point, "checks_ok") === false).length;
  if (failedPoints > 0) {
    worsen(failedPoints < points.length ? "caution" : "bad");
    reasons.push(`checks failed in ${failedPoints} of ${points.length} points; below the table of points stands which`);
  }
  for (const part of ["quality", "machine"]) {
    const word = str(summary, part, "level");
    if (word && word !== "good" && word !== "fine") worsen(word === "caution" || word === "fair" || word === "limited" ? "caution" : "bad");
    reasons.push(...texts(list(summary, part, "reasons")));
  }
  const word = level === "good" ? "good" : level === "caution" ? "with care" : "not to be relied on";
  return { level, word, reasons };
}

export function runTitle(run: Run): string {
  return str(run.summary, "experiment", "name", "value") || str(run.summary, "name") || run.label;
}

function engineText(run: Run, engine: string): string {
  if (!isSimulated(run)) return `engine ${engine}`;
  const duration = num(run.summary, "duration_s");
  return `simulated ${engine} by ${engine}${duration === null ? "" : `, ${show("time", duration)} of virtual time`}`;
}

function factsOf(run: Run): string {
  const summary = run.summary;
  const capture = num(summary, "capture", "packets");
  const ranks = list(summary, "jobs").reduce<number>((sum, job) => sum + (num(job, "ranks") ?? 0), 0);
  const facts = [
    `trainwire ${run.command ?? ""}`,
    str(run.provenance, "started")?.replace("T", " ").replace("Z", " UTC"),
    ranks > 0 ? `${ranks} ranks` : null,
    list(summary, "hosts").length > 0 ? `${list(summary, "hosts").length} hosts` : null,
    list(summary, "points").length > 0 ? `sweep of ${list(summary, "points").length} points` : null,
    str(summary, "engine") ? engineText(run, str(summary, "engine") as string) : null,
    capture !== null ? `${show("count", capture)} packets in ${show("time", num(summary, "capture", "duration_s"))}` : null,
  ];
  return facts.filter(Boolean).join(" · ");
}

/** The first ones; the others when asked for. */
function Reasons(props: { all: string[] }) {
  const items = (some: string[]) => some.map((reason) => <li>{reason}</li>);
  return (
    <>
      <ul class="reasons">{items(props.all.slice(0, MOST_REASONS))}</ul>
      {props.all.length > MOST_REASONS && (
        <details class="reasons">
          <summary>{props.all.length - MOST_REASONS === 1 ? "one more reason" : `${props.all.length - MOST_REASONS} more reasons`}</summary>
          <ul>{items(props.all.slice(MOST_REASONS))}</ul>
        </details>
      )}
    </>
  );
}
const MOST_REASONS = 2;

export function RunHeader(props: { run: Run }) {
  const { run } = props;
  const quality = qualityOf(run);
  return (
    <>
      <p class="facts">
        <span class={`badge ${quality.level}`}>data: {quality.word}</span> {factsOf(run)}
      </p>
      {!run.complete && (
        <div class="banner bad" role="alert">
          <p>
            <b>This run is not whole{run.partial ? ` (${run.partial})` : ": it was killed or is still going"}.</b> What is shown is what it
            had written; figures of it are not to be compared. Run it again, to its end.
          </p>
        </div>
      )}
      {quality.reasons.length > 0 && <Reasons all={quality.reasons} />}
      {run.notes.map((note) => (
        <p class="missing">{note}</p>
      ))}
    </>
  );
}

export interface Figure {
  name: string;
  value: string;
  note?: string;
  /** For comparing runs. */
  raw?: number | null;
}

/** How the emulation stands to the cluster: rates and bytes divided by `scale`, or everything `slow` times as slow. */
export interface Cluster {
  scale: number;
  slow: number;
}

export function clusterOf(run: Run): Cluster {
  const setting = (key: string) => num(run.summary, "experiment", "run", key, "value") || 1;
  return { scale: setting("scale"), slow: setting("slow_motion") };
}

const noted = (note: string, there: string) => `${note ? `${note}; ` : ""}${there} on the cluster`;

/** A rate with what it stands for. */
function rateNote(run: Run, rate: number, note: string): string {
  const { scale, slow } = clusterOf(run);
  return scale * slow === 1 ? note : noted(note, show("rate", rate * scale * slow));
}

function timeNote(run: Run, time: number, note: string): string {
  const { slow } = clusterOf(run);
  return slow === 1 ? note : noted(note, show("time", time / slow));
}

/** Of a step: the usual time is then not the median. */
export const MUCH_APART = 0.02;

/** Few times that are told have no interval. */
function intervalNote(from: Json): string {
  const low = num(from, "ci_low_s");
  const high = num(from, "ci_high_s");
  return low === null || high === null ? "" : `95 % interval ${show("time", low)} to ${show("time", high)}, `;
}

function averagesNote(from: Json): string {
  const averages = num(from, "averages");
  return averages === null ? "" : averages === 1 ? " told as one average" : ` told as ${averages} averages`;
}

/** Step, exchange and waiting of one job, or of what the capture shows. */
export function stepFigures(run: Run, job: Json, of: string): Figure[] {
  const from = job ? at(job, "step") : at(run.summary, "iterations");
  const median = num(from, "median_s");
  if (median === null) return [];
  const source = isSimulated(run) ? "simulated" : job ? "the ranks' own log" : str(from, "source") === "log" ? "the program's log" : "inferred from packets";
  const figures: Figure[] = [
    {
      name: `${of}step time, median`,
      value: show("time", median),
      note: timeNote(run, median, `${intervalNote(from)}${num(from, "count") ?? "?"} steps${averagesNote(from)}, ${source}`),
      raw: median,
    },
  ];
  const usual = num(from, "usual_s");
  if (usual !== null && Math.abs(usual - median) > MUCH_APART * usual)
    figures.unshift({ name: `${of}step time, of the steps most alike`, value: show("time", usual), note: timeNote(run, usual, "some take much longer: start-up, a profiler, a pause between steps"), raw: usual });
  const p99 = num(from, "p99_s");
  if (p99 !== null) figures.push({ name: `${of}step time, 99th percentile`, value: show("time", p99), raw: p99 });
  const exchange = job ? num(job, "exchange", "median_s") : num(from, "exchange_s");
  if (exchange !== null) {
    const how = isSimulated(run) ? "simulated" : job ? "from the ranks' log" : "first to last byte on the wire";
    figures.push({ name: `${of}exchange of gradients`, value: show("time", exchange), note: timeNote(run, exchange, `a step (${show("share", exchange / median)} of it), ${how}`), raw: exchange });
  }
  const wait = num(job, "phases_median_s", "wait");
  if (wait !== null) figures.push({ name: `${of}waiting after computing`, value: show("time", wait), note: timeNote(run, wait, "a step, until its gradients are there"), raw: wait });
  const busbw = num(job, "busbw_bps") ?? num(list(run.summary, "collectives")[0], "busbw_bps");
  if (busbw !== null) figures.push({ name: `${of}bus bandwidth`, value: show("bus", busbw), note: rateNote(run, busbw, `${show("rate", busbw)}, as nccl-tests defines it`), raw: busbw });
  const slowdown = num(job, "alone", "slowdown");
  if (slowdown !== null) {
    figures.push({ name: `${of}slowed down by the others`, value: `${digits(Number(slowdown.toPrecision(3)))} times`, note: `a step takes ${show("time", num(job, "alone", "step", "median_s"))} alone`, raw: slowdown });
  }
  return figures;
}

/** The fullest link of the network: of all that are drawn, or as the record has it. */
function linkFigure(run: Run): Figure | null {
  const drawn = busiestLink(run);
  if (drawn) return { name: "busiest link", value: show("share", drawn.use), note: `${drawn.name}, on average`, raw: drawn.use };
  const use = num(run.summary, "utilisation", "share");
  if (use === null) return null;
  return { name: "busiest link", value: show("share", use), note: `${str(run.summary, "utilisation", "link")}, ${wayOf(str(run.summary, "utilisation", "link") ?? "", str(run.summary, "utilisation", "direction"))}`, raw: use };
}

/** More jobs than these have their figures in the tables alone. */
const MOST_JOBS = 4;

export function keyFigures(run: Run): Figure[] {
  const jobs = list(run.summary, "jobs").slice(0, MOST_JOBS);
  const steps = jobs.length > 1 ? jobs.flatMap((job) => stepFigures(run, job, `${str(job, "name") ?? "job"}: `)) : stepFigures(run, jobs[0] ?? null, "");
  return [...steps, ...networkFigures(run)];
}

/** Those that are of no job alone. */
export function networkFigures(run: Run): Figure[] {
  const summary = run.summary;
  const figures: (Figure | null)[] = [];
  const peak = num(summary, "traffic", "peak_bps");
  const link = linkFigure(run);
  if (link) figures.push(link);
  else if (peak !== null) figures.push({ name: "peak rate", value: show("rate", peak), note: rateNote(run, peak, `mean ${show("rate", num(summary, "traffic", "mean_bps"))}`), raw: peak });
  const again = num(summary, "traffic", "retransmitted_share");
  if (again !== null) figures.push({ name: "sent again", value: show("share", again), note: "of the payload, by TCP", raw: again });
  const late = str(summary, "straggler", "host");
  if (late) figures.push({ name: "slowest host", value: late, note: `${show("time", num(summary, "straggler", "delay_s"))} late` });
  const cross = num(summary, "cross_traffic", "achieved_bps");
  if (cross !== null) {
    figures.push({ name: "cross traffic", value: show("rate", cross), note: rateNote(run, cross, `asked for ${show("rate", num(summary, "cross_traffic", "requested_bps"))}`), raw: cross });
  }
  return figures.filter((figure): figure is Figure => figure !== null);
}

/** Where the evidence for a finding is drawn. */
function evidenceOf(text: string): [string, string] {
  if (/late|last to begin|step|iteration/i.test(text)) return ["iterations", "iterations"];
  if (/sent again|retransmi|reorder|lost/i.test(text)) return ["health", "transport"];
  if (/cross|other traffic/i.test(text)) return ["cross", "cross traffic"];
  return ["throughput", "throughput"];
}

export function Findings(props: { run: Run; sections: ReadonlySet<string> }) {
  const findings = list(props.run.summary, "findings");
  return (
    <Section id="findings" title="Findings">
      {findings.length === 0 && <Missing>{props.run.complete ? "None beside the answer above." : "None: the run ended before it was analysed."}</Missing>}
      <ul class="findings">
        {findings.map((finding) => {
          const text = str(finding, "text") ?? "";
          const severity = str(finding, "severity") ?? "info";
          const [id, name] = evidenceOf(text);
          return (
            <li class={severity}>
              <span class="word">{severity}</span>
              {text}
              {props.sections.has(id) && <a href={`#${id}`}>see {name}</a>}
              {str(finding, "filter") && (
                <details>
                  <summary>in Wireshark</summary>
                  <code>{str(finding, "filter")}</code>
                </details>
              )}
            </li>
          );
        })}
      </ul>
    </Section>
  );
}

export function Checks(props: { run: Run }) {
  const checks = list(props.run.summary, "checks");
  const failed = checks.filter((check) => at(check, "ok") === false).length;
  const cautions = checks.filter((check) => at(check, "ok") === true && at(check, "caution") === true).length;
  const rank = (check: Json) => (at(check, "ok") === false ? 0 : at(check, "caution") === true ? 1 : 2);
  const failedFirst = [...checks].sort((a, b) => rank(a) - rank(b));
  const grouped = (text: string | null) => text?.replace(/\b\d{5,15}\b/g, (number) => show("count", Number(number))) ?? null;
  const rows: Cell[][] = failedFirst.map((check) => [
    at(check, "ok") === false ? "✗ failed" : at(check, "ok") !== true ? "– not done" : at(check, "caution") === true ? "! with care" : "✓ ok",
    str(check, "name"),
    str(check, "text"),
    grouped(str(check, "expected")),
    grouped(str(check, "found")),
  ]);
  if (checks.length === 0) {
    return (
      <Section id="checks" title="Checks">
        <Missing>{props.run.command === "analyze" ? "Captures and files of other programs have no second count for every figure, as runs have; where several tell the same, the findings say how they agree." : "The run ended before its checks."}</Missing>
      </Section>
    );
  }
  const line = failed > 0 ? `✗ ${failed} of ${checks.length} checks failed, so the figures are not to be relied on` : cautions > 0 ? `! All ${checks.length} checks passed, ${cautions} with care` : `✓ All ${checks.length} checks passed`;
  return (
    <section id="checks" aria-label="Checks">
      <details class={`card checks ${failed > 0 ? "bad" : cautions > 0 ? "caution" : "good"}`} open={failed + cautions > 0}>
        <summary>
          <b>{line}.</b> <span class="quiet">A figure is believed when two independent counts agree.</span>
        </summary>
        <TableView table={{ columns: columns("|check|what was seen|expected|found"), rows }} />
      </details>
    </section>
  );
}
