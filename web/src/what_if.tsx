// SPDX-License-Identifier: Apache-2.0
// What if: sliders over the formula of a step (step_time.ts), beginning where the run was.

import { useMemo, useState } from "preact/hooks";
import { phaseColour, seriesColour } from "./colours";
import { list, num, type Run } from "./data";
import { difference, type Kind, show } from "./format";
import { Choice, Section } from "./parts";
import { type OwnSettings, ownSettings } from "./settings";
import { type Setting, stepTime, STRATEGIES, type Strategy } from "./step_time";

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

const WIDTH = 640;
const HEIGHT = 220;
const EDGE = { left: 64, right: 110, top: 10, bottom: 34 };

/** Step time over the rate, a line for each strategy, the chosen one thick; both axes logarithmic. */
function Curves(props: { own: OwnSettings; setting: Setting }) {
  const { own, setting } = props;
  const rates = stopsOf("rate_bps", own.setting.rate_bps);
  const lines = STRATEGIES.map((strategy) => rates.map((rate_bps) => stepTime({ ...setting, rate_bps, strategy }, own.work)));
  const all = lines.flat();
  const [low, high] = [Math.min(...all) / 1.15, Math.max(...all) * 1.15];
  const share = (value: number, from: number, to: number) => Math.log(value / from) / Math.log(to / from);
  const x = (rate: number) => EDGE.left + share(rate, rates[0] as number, rates[rates.length - 1] as number) * (WIDTH - EDGE.left - EDGE.right);
  const y = (time: number) => HEIGHT - EDGE.bottom - share(time, low, high) * (HEIGHT - EDGE.top - EDGE.bottom);
  const ticks = [1e7, 1e8, 1e9, 1e10, 1e11];
  const times = [1e-3, 1e-2, 0.1, 1, 10, 100, 1000].filter((time) => time > low && time < high);
  const chosen = stepTime(setting, own.work);
  return (
    <svg class="curves" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label="step time over the rate of a link, by strategy">
      {ticks.map((rate) => (
        <g>
          <line x1={x(rate)} x2={x(rate)} y1={EDGE.top} y2={HEIGHT - EDGE.bottom} class="grid" />
          <text x={x(rate)} y={HEIGHT - EDGE.bottom + 15} text-anchor="middle">
            {show("rate", rate)}
          </text>
        </g>
      ))}
      {times.map((time) => (
        <g>
          <line x1={EDGE.left} x2={WIDTH - EDGE.right} y1={y(time)} y2={y(time)} class="grid" />
          <text x={EDGE.left - 6} y={y(time) + 4} text-anchor="end">
            {show("time", time)}
          </text>
        </g>
      ))}
      {STRATEGIES.map((strategy, i) => (
        <polyline
          points={rates.map((rate, k) => `${x(rate)},${y(lines[i]?.[k] ?? low)}`).join(" ")}
          fill="none"
          stroke={seriesColour(i)}
          stroke-width={strategy === setting.strategy ? 3 : 1.2}
        />
      ))}
      {STRATEGIES.map((strategy, i) => (
        <text x={WIDTH - EDGE.right + 12} y={EDGE.top + 14 + 17 * i} fill={seriesColour(i)} class={strategy === setting.strategy ? "chosen" : ""}>
          {strategy}
        </text>
      ))}
      <circle cx={x(setting.rate_bps)} cy={y(chosen)} r={5} fill={seriesColour(STRATEGIES.indexOf(setting.strategy))} />
    </svg>
  );
}

/** Compute and what is waited for beside it, to the longer of two steps. */
function Bar(props: { name: string; step: number; compute: number; longest: number }) {
  const part = (time: number) => `${(100 * time) / props.longest}%`;
  return (
    <div class="split">
      <span>{props.name}</span>
      <div>
        <i style={{ width: part(Math.min(props.compute, props.step)), background: phaseColour("backward") }} title={`compute ${show("time", props.compute)}`} />
        <i style={{ width: part(Math.max(0, props.step - props.compute)), background: phaseColour("wait") }} title={`waiting for the network ${show("time", props.step - props.compute)}`} />
      </div>
      <b>{show("time", props.step)}</b>
    </div>
  );
}

export const hasWhatIf = (run: Run): boolean => ownSettings(run.summary) !== null;

export function WhatIf(props: { run: Run }) {
  const own = useMemo(() => ownSettings(props.run.summary), [props.run]);
  const [setting, setSetting] = useState<Setting | null>(own?.setting ?? null);
  if (own === null || setting === null) return null;
  const [here, there] = [stepTime(own.setting, own.work), stepTime(setting, own.work)];
  const measured = num(list(props.run.summary, "jobs")[0] ?? null, "step", "median_s");
  const compute = own.work.forward_s + own.work.backward_s;
  const longest = Math.max(here, there);
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
          {moved ? `A step would take ${show("time", there)}, ${difference(there, here)} against this run's settings.` : `By formula a step takes ${show("time", here)}${measured === null ? "" : `; this run's took ${show("time", measured)}`}.`}
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
        <p class="quiet">Blue: compute; yellow: waiting for the network beyond it.{setting.loss > 0 && " Under loss only TCP's lower rate is counted, not that ranks wait for each other's losses: steps take longer than this."}</p>
        <Curves own={own} setting={setting} />
      </div>
    </Section>
  );
}
