// SPDX-License-Identifier: Apache-2.0
// The top of the page: what the run was, how good its data are, its figures, its findings, its checks.

import { at, type Json, list, num, type Run, str } from "./data";
import { show } from "./format";
import { FigureCard, Missing, Section } from "./parts";
import { type Cell, TableView, columns } from "./table";

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
  const failedPoints = list(summary, "points").filter((point) => at(point, "checks_ok") === false).length;
  if (failedPoints > 0) {
    worsen("bad");
    reasons.push(`checks failed in ${failedPoints} of ${list(summary, "points").length} points`);
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
    str(summary, "engine") ? `engine ${str(summary, "engine")}` : null,
    capture !== null ? `${show("count", capture)} packets in ${show("time", num(summary, "capture", "duration_s"))}` : null,
  ];
  return facts.filter(Boolean).join(" · ");
}

export function RunHeader(props: { run: Run; small?: boolean }) {
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
      {!props.small && quality.reasons.length > 0 && (
        <ul class="reasons">
          {quality.reasons.map((reason) => (
            <li>{reason}</li>
          ))}
        </ul>
      )}
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

function stepFigure(run: Run): Figure | null {
  const job = list(run.summary, "jobs")[0];
  const from = job ? at(job, "step") : at(run.summary, "iterations");
  const median = num(from, "median_s");
  if (median === null) return null;
  const count = num(from, "count");
  const source = job ? "the ranks' own log" : str(from, "source") === "log" ? "the program's log" : "inferred from packets";
  return {
    name: "step time, median",
    value: show("time", median),
    note: `95 % interval ${show("time", num(from, "ci_low_s"))} to ${show("time", num(from, "ci_high_s"))}, ${count ?? "?"} steps, ${source}`,
    raw: median,
  };
}

export function keyFigures(run: Run): Figure[] {
  const summary = run.summary;
  const figures: (Figure | null)[] = [stepFigure(run)];
  const job = list(summary, "jobs")[0] ?? null;
  const p99 = num(job, "step", "p99_s") ?? num(summary, "iterations", "p99_s");
  if (p99 !== null) figures.push({ name: "step time, 99th percentile", value: show("time", p99), raw: p99 });
  const exchange = num(job, "exchange", "median_s") ?? num(summary, "iterations", "exchange_s");
  const step = figures[0]?.raw ?? null;
  if (exchange !== null) {
    const share = step ? ` (${show("share", exchange / step)} of the step)` : "";
    figures.push({ name: "exchange of gradients", value: show("time", exchange), note: `a step${share}`, raw: exchange });
  }
  const wait = num(job, "phases_median_s", "wait");
  if (wait !== null) figures.push({ name: "waiting for the network", value: show("time", wait), note: "a step, not hidden by computing", raw: wait });
  const busbw = num(job, "busbw_bps") ?? num(list(summary, "collectives")[0], "busbw_bps");
  if (busbw !== null) figures.push({ name: "bus bandwidth", value: show("rate", busbw), note: "as nccl-tests defines it", raw: busbw });
  const use = num(summary, "utilisation", "share");
  if (use !== null) {
    figures.push({ name: "busiest link", value: show("share", use), note: `${str(summary, "utilisation", "link")}, ${direction(str(summary, "utilisation", "direction"))}`, raw: use });
  } else if (num(summary, "traffic", "peak_bps") !== null) {
    figures.push({ name: "peak rate", value: show("rate", num(summary, "traffic", "peak_bps")), note: `mean ${show("rate", num(summary, "traffic", "mean_bps"))}`, raw: num(summary, "traffic", "peak_bps") });
  }
  const again = num(summary, "traffic", "retransmitted_share");
  if (again !== null) figures.push({ name: "sent again", value: show("share", again), note: "of the payload, by TCP", raw: again });
  const late = str(summary, "straggler", "host");
  if (late) figures.push({ name: "slowest host", value: late, note: `${show("time", num(summary, "straggler", "delay_s"))} late` });
  const cross = num(summary, "cross_traffic", "achieved_bps");
  if (cross !== null) {
    figures.push({ name: "cross traffic", value: show("rate", cross), note: `asked for ${show("rate", num(summary, "cross_traffic", "requested_bps"))}`, raw: cross });
  }
  return figures.filter((figure): figure is Figure => figure !== null);
}

export const direction = (word: string | null): string =>
  word === "from_host" ? "sending" : word === "to_host" ? "receiving" : (word ?? "");

export function KeyFigures(props: { run: Run }) {
  const figures = keyFigures(props.run);
  return (
    <Section id="figures" title="Key figures">
      {figures.length === 0 && <Missing>The run has no figures: {props.run.complete ? "no training steps were found" : "it is not whole"}.</Missing>}
      <div class="figures">
        {figures.map((figure) => (
          <FigureCard name={figure.name} value={figure.value} note={figure.note} />
        ))}
      </div>
    </Section>
  );
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
    <Section id="findings" title="Findings" lead="What happened, in words; each with the place that shows it.">
      {findings.length === 0 && <Missing>{props.run.complete ? "None: nothing in this run stood out." : "None: the run ended before it was analysed."}</Missing>}
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
  return (
    <Section
      id="checks"
      title="Checks"
      lead={checks.length > 0 ? `A figure is believed when two independent counts agree. ${failed === 0 ? `All ${checks.length} checks passed${cautions > 0 ? `, ${cautions} with care` : ""}.` : `${failed} of ${checks.length} failed, so the figures are not to be relied on.`}` : undefined}
    >
      {checks.length === 0 ? (
        <Missing>{props.run.command === "analyze" ? "A capture alone has nothing to be checked against; a run counts everything twice." : "The run ended before its checks."}</Missing>
      ) : (
        <div class="card">
          <TableView table={{ columns: columns("|check|what was seen|expected|found"), rows }} />
        </div>
      )}
    </Section>
  );
}

