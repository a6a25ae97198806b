// SPDX-License-Identifier: Apache-2.0
// Where a step's time goes: one bar a job, as wide as the step, cut by cause (src/record/account.h).

import { at, type Json, list, num, type Run, str } from "./data";
import { show } from "./format";
import { How } from "./table";

const WORDS: Record<string, string> = {
  compute: "compute",
  bandwidth: "transfer",
  latency: "delay",
  late_rank: "waiting for a late rank",
  slow_link: "waiting behind a slow link",
  loss: "loss and repair",
  cross_traffic: "cross traffic",
  other_job: "other jobs",
  window: "small socket buffer",
  idle_restart: "slow start after pauses",
  unexplained: "not explained",
};
/** The same on every page and both backgrounds: areas need no contrast of lines. */
const COLOURS: Record<string, string> = {
  compute: "#009E73",
  bandwidth: "#0072B2",
  latency: "#56B4E9",
  late_rank: "#CC79A7",
  slow_link: "#D55E00",
  loss: "#8C6D00",
  cross_traffic: "#E69F00",
  other_job: "#F0E442",
  window: "#7B61C9",
  idle_restart: "#B5338A",
};
/** Of the step: what is less is not drawn. */
const LEAST = 0.005;
const MOST_JOBS = 3;

interface Part {
  name: string;
  words: string;
  seconds: number;
  low: number;
  high: number;
}

function partsOf(accounting: Json): Part[] {
  const step = num(accounting, "step_s") ?? 0;
  const parts = list(accounting, "parts").map((part): Part => {
    const name = str(part, "name") ?? "";
    const seconds = num(part, "seconds") ?? 0;
    return { name, words: WORDS[name] ?? name, seconds, low: num(part, "low_s") ?? seconds, high: num(part, "high_s") ?? seconds };
  });
  return parts.filter((part) => part.seconds >= LEAST * step);
}

/** "loss and repair 20 ms (10 ms to 30 ms)". */
const told = (part: Part) => `${part.words} ${show("time", part.seconds)} (${show("time", Math.max(0, part.low))} to ${show("time", part.high)})`;

function Bar(props: { accounting: Json }) {
  const parts = partsOf(props.accounting);
  const sum = parts.reduce((so, part) => so + part.seconds, 0);
  const job = str(props.accounting, "job");
  const overlap = num(props.accounting, "overlap_s") ?? 0;
  if (!(sum > 0)) return null;
  const colour = (part: Part) => COLOURS[part.name] ?? "#9A9A9A";
  return (
    <div class="account" role="img" aria-label={`A step${job ? ` of ${job}` : ""}: ${parts.map(told).join(", ")}`}>
      <div class="account-bar">
        {parts.map((part) => (
          <span title={told(part)} style={{ flexGrow: String(part.seconds / sum), background: colour(part) }} />
        ))}
      </div>
      <p class="account-key">
        A step{job && ` of ${job}`}, {show("time", num(props.accounting, "step_s"))}:{" "}
        {parts.map((part) => (
          <span class="account-part" title={told(part)}>
            <i style={{ background: colour(part) }} /> {part.words} {show("time", part.seconds)}
          </span>
        ))}
        {overlap > LEAST * sum && <span class="account-part">{show("time", overlap)} more are hidden by computing</span>}
      </p>
    </div>
  );
}

/** Nothing where the record has no accounting. */
export function Account(props: { run: Run }) {
  const jobs = list(props.run.summary, "jobs").map((job) => at(job, "accounting"));
  const all = [...jobs, at(props.run.summary, "accounting")].filter((each) => list(each, "parts").length > 0);
  const shown = jobs.length > 1 ? all.slice(0, Math.min(MOST_JOBS, jobs.length)) : all.slice(-1);
  if (shown.length === 0) return null;
  const first = shown[0] ?? null;
  return (
    <div id="account">
      {shown.map((each) => (
        <Bar accounting={each} />
      ))}
      <How>
        The median step, taken apart by cause; parts add up to it. By {str(first, "method")}. {list(first, "not_visible").map((text) => `Not visible: ${text}. `)}
      </How>
    </div>
  );
}
