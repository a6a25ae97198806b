// SPDX-License-Identifier: Apache-2.0
// What if: sliders over the formula of a step (step_time.ts), beginning where the run was.

import { useMemo, useState } from "preact/hooks";
import { phaseColour } from "./colours";
import { list, num, type Run } from "./data";
import { difference, type Kind, show } from "./format";
import { Choice, Section } from "./parts";
import { holds, type Predicted, predicted, type Refused } from "./predicted";
import { ownSettings } from "./settings";
import { NO_WORKER } from "./step_limits";
import { computeOf, type Setting, STRATEGIES, type Strategy } from "./step_time";
import { OverRanks, OverRate } from "./what_if_curves";

const decades = (from: number, to: number, steps: readonly number[]): number[] => {
  const values: number[] = [];
  for (let power = from; power <= to; power++) for (const step of steps) values.push(Number(`${step}e${power}`));
  return values;
};

const STOPS: Record<"rate_bps" | "delay_s" | "loss" | "ranks", { name: string; kind: Kind; values: number[] }> = {
  rate_bps: { name: "rate of a link", kind: "rate", values: [...decades(7, 10, [1, 2, 2.5, 4, 5]), 1e11, 2e11, 4e11] },
  delay_s: { name: "delay of a link", kind: "time", values: [0, ...decades(-6, -3, [1, 2, 5]), 1e-2, 2e-2, 5e-2, 0.1] },
  loss: { name: "loss of a link", kind: "share", values: [0, ...decades(-6, -3, [1, 2, 5]), 1e-2, 2e-2, 5e-2] },
  ranks: { name: "ranks", kind: "count", values: [2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 512, 1024, 2048, 4096] },
};
type Slid = keyof typeof STOPS;

/** The stops of a slider, the run's own value among them. */
function stopsOf(key: Slid, own: number): number[] {
  return [...new Set([...STOPS[key].values, own])].sort((a, b) => a - b);
}

function Slider(props: { of: Slid; own: number; value: number; onChange: (value: number) => void }) {
  const { name, kind } = STOPS[props.of];
  const stops = useMemo(() => stopsOf(props.of, props.own), [props.of, props.own]);
  const text = show(kind, props.value);
  return (
    <label class="slide">
      <span>{name}</span>
      <input
        type="range"
        id={`what-if-${props.of}`}
        min={0}
        max={stops.length - 1}
        value={stops.indexOf(props.value)}
        aria-valuetext={text}
        onInput={(event) => props.onChange(stops[Number(event.currentTarget.value)] as number)}
      />
      <b>{text}</b>
    </label>
  );
}

const stepOf = (answer: Predicted | Refused): number | null => (holds(answer) ? answer.step_s : null);

/** Compute and what is waited for beside it, to the longer of two steps; null: the formula does not hold. */
function Bar(props: { name: string; step: number | null; compute: number; longest: number }) {
  const { name, step, compute } = props;
  const part = (time: number) => `${(100 * time) / props.longest}%`;
  return (
    <div class="split">
      <span>{name}</span>
      <div>
        {step !== null && [
          <i style={{ width: part(Math.min(compute, step)), background: phaseColour("backward") }} title={`compute ${show("time", compute)}`} />,
          <i style={{ width: part(Math.max(0, step - compute)), background: phaseColour("wait") }} title={`waiting for the network ${show("time", step - compute)}`} />,
        ]}
      </div>
      <b>{step === null ? "no formula" : show("time", step)}</b>
    </div>
  );
}

/** "221.2 ms (205 ms to 240 ms)" */
const withInterval = (of: Predicted): string => `${show("time", of.step_s)} (${show("time", of.low_s)} to ${show("time", of.high_s)})`;

/** Of this run's settings, beside what was measured. */
function ownSentence(answer: Predicted | Refused, measured: number | null): string {
  const took = measured === null ? "" : `; this run's took ${show("time", measured)}`;
  return holds(answer) ? `By formula a step takes ${withInterval(answer)}${took}.` : `The formula does not hold at this run's settings: ${answer.because}${took}. trainwire predict simulates them.`;
}

/** Of what sliders say. */
function sentence(after: Predicted | Refused, before: Predicted | Refused): string {
  if (!holds(after) && after.because === NO_WORKER) return `There is no such job: ${NO_WORKER}.`;
  if (!holds(after)) return `The formula does not hold here: ${after.because}. trainwire predict simulates that.`;
  const beside = holds(before) ? `${difference(after.step_s, before.step_s)} against this run's settings` : `at this run's settings the formula does not hold: ${before.because}`;
  return `A step would take ${withInterval(after)}${holds(before) ? "," : ";"} ${beside}.`;
}

export const hasWhatIf = (run: Run): boolean => ownSettings(run.summary) !== null;

export function WhatIf(props: { run: Run }) {
  const own = useMemo(() => ownSettings(props.run.summary), [props.run]);
  const [setting, setSetting] = useState<Setting | null>(own?.setting ?? null);
  if (own === null || setting === null) return null;
  const [before, after] = [predicted(own.setting, own.work), predicted(setting, own.work)];
  const [here, there] = [stepOf(before), stepOf(after)];
  const measured = num(list(props.run.summary, "jobs")[0] ?? null, "step", "median_s");
  const compute = computeOf(own.work);
  const longest = Math.max(here ?? 0, there ?? 0);
  const moved = JSON.stringify(setting) !== JSON.stringify(own.setting);
  const change = (key: Slid) => (value: number) => setSetting({ ...setting, [key]: value });
  return (
    <Section
      id="what-if"
      title="What if"
      lead={
        <>
          Sliders begin at this run's settings. A formula answers, the one of <code>trainwire predict</code>: a star of equal links, one rank a host.
          {own.leftOut.length > 0 && ` It leaves out what this run has: ${own.leftOut.join(", ")}.`}
        </>
      }
    >
      <div class="card what-if">
        <p class="answer" id="what-if-answer">
          {moved ? sentence(after, before) : ownSentence(before, measured)}
        </p>
        <div class="sliders">
          {(Object.keys(STOPS) as Slid[]).map((key) => (
            <Slider of={key} own={own.setting[key]} value={setting[key]} onChange={change(key)} />
          ))}
          <Choice label="strategy" values={STRATEGIES} value={setting.strategy} onChange={(strategy: Strategy) => setSetting({ ...setting, strategy })} />
          <button type="button" disabled={!moved} onClick={() => setSetting(own.setting)}>
            back to this run
          </button>
        </div>
        <Bar name="this run's settings" step={here} compute={compute} longest={longest} />
        <Bar name="as set" step={there} compute={compute} longest={longest} />
        <p class="quiet">In brackets 90 % intervals. Blue: compute; yellow: waiting for the network beyond it. Where the formula does not hold lines have gaps.{setting.loss > 0 && there !== null && " Under loss only TCP's lower rate is counted: neither that ranks wait for each other's losses nor that short exchanges may have none. trainwire predict simulates both."}</p>
        <div class="two-curves">
          <OverRate rates={stopsOf("rate_bps", own.setting.rate_bps)} setting={setting} work={own.work} />
          <OverRanks ranks={stopsOf("ranks", own.setting.ranks)} setting={setting} work={own.work} />
        </div>
      </div>
    </Section>
  );
}
