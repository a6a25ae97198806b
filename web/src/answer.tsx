// SPDX-License-Identifier: Apache-2.0
// The first screen: the answer in words, the picture that shows it, and the figures beside.

import type { ComponentChildren } from "preact";
import { Account } from "./account";
import { CloseUp } from "./close";
import { at, isSimulated, type Json, list, num, type Run, str } from "./data";
import { show } from "./format";
import { Timeline } from "./iterations";
import { clusterOf, type Figure, keyFigures, MUCH_APART, networkFigures, stepFigures } from "./overview";
import { Missing } from "./parts";
import { type Cell, TableView } from "./table";
import { rateMarker } from "./throughput";
import { busiestLink, hasTopology, Topology } from "./topology";
import type { Range } from "./zoom";

/** What is drawn on the first screen is not drawn again below. */
export type FirstPicture = "network" | "timeline" | "close" | null;

export function firstPicture(run: Run): FirstPicture {
  if (hasTopology(run)) return "network";
  if (run.phases?.timeline) return "timeline";
  return (run.close?.pairs.length ?? 0) > 0 ? "close" : null;
}

/** How a job fares, in one sentence. */
function jobSentence(job: Json, of: string): string {
  const [step, exchange, wait] = [num(job, "step", "median_s"), num(job, "exchange", "median_s"), num(job, "phases_median_s", "wait")];
  if (step === null) return "";
  const parts = [`A step${of} takes ${show("time", step)}`];
  if (exchange !== null) parts.push(`exchanging its gradients ${show("time", exchange)}`);
  const text = parts.join(", ");
  if (wait === null || !(step > 0)) return `${text}.`;
  const alone = num(job, "alone", "slowdown");
  const slower = alone === null ? "" : ` Beside the others a step takes ${show("number", Number(alone.toPrecision(3)))} times as long as alone.`;
  return wait < 0.01 * step ? `${text}, all of it hidden by computing.${slower}` : `${text}; for ${show("time", wait)} (${show("share", wait / step)} of the step) computing stands still until they are there.${slower}`;
}

function captureSentence(run: Run): string {
  const [step, exchange, count] = [num(run.summary, "iterations", "median_s"), num(run.summary, "iterations", "exchange_s"), num(run.summary, "iterations", "count")];
  if (step === null) return "";
  const source = str(run.summary, "iterations", "source") === "log" ? "by the program's log" : "as the packets show it";
  const wire = exchange === null ? "" : `; from the first to the last byte of its gradients ${show("time", exchange)}`;
  const usual = num(run.summary, "iterations", "usual_s") ?? step;
  const unlike = Math.abs(usual - step) > MUCH_APART * usual;
  const takes = unlike ? `${show("time", usual)} (those most alike of ${show("count", count)}, ${source}; the median is ${show("time", step)})` : `${show("time", step)} (median of ${show("count", count)}, ${source})`;
  return `A step takes ${takes}${wire}.`;
}

/** Below this the record is not sure. */
const SURE = 0.75;
const guessed = (of: Json) => ((num(of, "confidence") ?? 1) < SURE ? " (guessed)" : "");

/** Who keeps the others waiting, in a sentence; "" when nobody does. */
function causeOf(run: Run): string {
  const [slow, late] = [at(run.summary, "bottleneck"), at(run.summary, "straggler")];
  if (slow !== null) return `${str(slow, "from")} to ${str(slow, "to")} is the slow link, at ${show("rate", num(slow, "rate_bps"))}${guessed(slow)}: every host waits for it.`;
  return late === null ? "" : `${str(late, "host")} begins ${show("time", num(late, "delay_s"))} late${guessed(late)}, and the network is idle meanwhile.`;
}

/** What else is in the way, or else what was found first. */
function mainFinding(run: Run, alone: boolean): string {
  // What causeOf() tells comes first among the findings.
  const findings = list(run.summary, "findings").slice(Number(causeOf(run) !== ""));
  const text = (severity: string) => str(findings.find((each) => str(each, "severity") === severity), "text");
  return text("warning") ?? (alone ? (str(findings[0], "text") ?? "") : "");
}

const MOST_JOBS = 3;

/** The verdict, with whose it is where there are several jobs. */
function verdictOf(run: Run): string | null {
  const [text, job] = [str(run.summary, "verdict", "text"), str(run.summary, "verdict", "job")];
  return text && job ? `${job}: ${text}` : text;
}

/** The answer, sentence by sentence. */
export function answerOf(run: Run): string[] {
  const jobs = list(run.summary, "jobs").filter((job) => num(job, "step", "median_s") !== null);
  const steps = jobs.length > 0 ? jobs.slice(0, MOST_JOBS).map((job) => jobSentence(job, jobs.length > 1 ? ` of ${str(job, "name") ?? "a job"}` : "")) : [captureSentence(run)];
  const link = busiestLink(run);
  const finding = mainFinding(run, steps.every((text) => text === ""));
  const ended = finding && /[.!?]$/.test(finding) ? finding : finding && `${finding}.`;
  return [verdictOf(run) ?? causeOf(run), ...steps, link ? `The busiest link, ${link.name}, is ${show("share", link.use)} full.` : "", ended].filter(Boolean);
}

/** Cluster and emulation side by side. */
function Scale(props: { run: Run }) {
  const { scale, slow } = clusterOf(props.run);
  if (scale * slow === 1) return null;
  const rate = rateMarker(props.run);
  const factor = (of: number) => show("number", of);
  return (
    <p class="scale">
      {scale !== 1 && (
        <>
          <b>Scale 1:{factor(scale)}.</b> Rates and bytes on this page are those of the emulation, 1/{factor(scale)} of the cluster's; times are {slow === 1 ? "the same" : "below"}.{" "}
        </>
      )}
      {slow !== 1 && (
        <>
          <b>Slow motion 1:{factor(slow)}.</b> Everything takes {factor(slow)} times as long here as in the cluster: times on this page are {factor(slow)} times the cluster's, rates 1/{factor(slow)}; bytes are the same.{" "}
        </>
      )}
      {rate !== null && `A host's link of ${show("rate", rate)} here is one of ${show("rate", rate * scale * slow)} there.`}
    </p>
  );
}

function Picture(props: { run: Run; full: Range }) {
  const { run } = props;
  const kind = firstPicture(run);
  if (kind === "network") return <Topology run={run} />;
  if (kind === "timeline" && run.phases) return <Timeline phases={run.phases} full={props.full} few virtual={isSimulated(run)} />;
  return kind === "close" ? <CloseUp run={run} rate={rateMarker(run)} /> : null;
}

/** Several jobs beside one another. */
function Jobs(props: { run: Run; jobs: Json[] }) {
  const figures = props.jobs.map((job) => new Map(stepFigures(props.run, job, "").map((figure) => [figure.name, figure])));
  const names = [...new Set(figures.flatMap((all) => [...all.keys()]))];
  const label = (job: Json) => `${str(job, "name") ?? "job"} (${[str(job, "strategy"), num(job, "ranks") === null ? null : `${num(job, "ranks")} ranks`].filter(Boolean).join(", ")})`;
  return (
    <div class="card jobs">
      <TableView
        table={{
          columns: [{ name: "job" }, ...names.map((name) => ({ name }))],
          rows: props.jobs.map((job, i): Cell[] => [label(job), ...names.map((name) => figures[i]?.get(name)?.value ?? null)]),
        }}
      />
    </div>
  );
}

/** The 99th percentile stands beside the median. */
function joined(figures: Figure[]): Figure[] {
  const tail = figures.find((figure) => figure.name.endsWith("99th percentile"));
  return figures.filter((figure) => figure !== tail).map((figure) => (tail && figure.name.endsWith("median") ? { ...figure, note: `99th percentile ${tail.value}; ${figure.note ?? ""}` } : figure));
}

export function Answer(props: { run: Run; full: Range; children: ComponentChildren }) {
  const { run } = props;
  const jobs = list(run.summary, "jobs").filter((job) => num(job, "step", "median_s") !== null);
  const figures = jobs.length > 1 ? networkFigures(run) : joined(keyFigures(run));
  const [first, ...more] = answerOf(run);
  return (
    <section id="answer" aria-label="Answer">
      {first && <p class="answer">{first}</p>}
      {more.length > 0 && <p class="answer more">{more.join(" ")}</p>}
      <Account run={run} />
      <Scale run={run} />
      <div class="first">
        <div class="picture">
          <Picture run={run} full={props.full} />
          {jobs.length > 1 && <Jobs run={run} jobs={jobs} />}
        </div>
        <dl class="card figures" id="figures">
          {figures.length === 0 && <Missing>The run has no figures: {run.complete ? "no training steps were found" : "it is not whole"}.</Missing>}
          {figures.map((figure) => (
            <div class="figure">
              <dt>{figure.name}</dt>
              <dd class="value">{figure.value}</dd>
              {figure.note && <dd class="note">{figure.note}</dd>}
            </div>
          ))}
        </dl>
        <div class="below">{props.children}</div>
      </div>
    </section>
  );
}
