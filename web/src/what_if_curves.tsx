// SPDX-License-Identifier: Apache-2.0
// What sliders would give elsewhere: step time over the rate, by strategy; efficiency over ranks, with its 90 % band.

import type { ComponentChildren } from "preact";
import { faded, seriesColour } from "./colours";
import { show } from "./format";
import { predicted, type Setting, stepTime, STRATEGIES, type Work } from "./step_time";

const WIDTH = 480;
const HEIGHT = 220;
const EDGE = { left: 64, right: 20, top: 26, bottom: 34 };

const colourOf = (setting: Setting): string => seriesColour(STRATEGIES.indexOf(setting.strategy));

interface Tick {
  at: number;
  text: string;
}

/** Axes with their grid; what is drawn in them is given in their coordinates. */
function Frame(props: { title: string; across: Tick[]; up: Tick[]; children: ComponentChildren }) {
  return (
    <svg class="curves" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={props.title}>
      <text x={EDGE.left} y={14}>
        {props.title}
      </text>
      {props.across.map(({ at, text }) => (
        <g>
          <line x1={at} x2={at} y1={EDGE.top} y2={HEIGHT - EDGE.bottom} class="grid" />
          <text x={at} y={HEIGHT - EDGE.bottom + 15} text-anchor="middle">
            {text}
          </text>
        </g>
      ))}
      {props.up.map(({ at, text }) => (
        <g>
          <line x1={EDGE.left} x2={WIDTH - EDGE.right} y1={at} y2={at} class="grid" />
          <text x={EDGE.left - 6} y={at + 4} text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {props.children}
    </svg>
  );
}

const logarithm = (value: number, low: number, high: number) => Math.log(value / low) / Math.log(high / low);
const across = (share: number) => EDGE.left + share * (WIDTH - EDGE.left - EDGE.right);
const up = (share: number) => HEIGHT - EDGE.bottom - share * (HEIGHT - EDGE.top - EDGE.bottom);
const ends = (values: number[]): [number, number] => [values[0] as number, values[values.length - 1] as number];

/** A line for each strategy, the chosen one thick; both axes logarithmic. */
export function OverRate(props: { rates: number[]; setting: Setting; work: Work }) {
  const { rates, setting, work } = props;
  const lines = STRATEGIES.map((strategy) => rates.map((rate_bps) => stepTime({ ...setting, rate_bps, strategy }, work)));
  const all = lines.flat();
  const [low, high] = [Math.min(...all) / 1.15, Math.max(...all) * 1.15];
  const [first, last] = ends(rates);
  const x = (rate: number) => across(logarithm(rate, first, last));
  const y = (time: number) => up(logarithm(time, low, high));
  const ticks = [1e7, 1e8, 1e9, 1e10, 1e11].filter((rate) => rate >= first && rate <= last);
  const times = [1e-3, 1e-2, 0.1, 1, 10, 100, 1000].filter((time) => time > low && time < high);
  return (
    <Frame title="step time over the rate of a link" across={ticks.map((rate) => ({ at: x(rate), text: show("rate", rate) }))} up={times.map((time) => ({ at: y(time), text: show("time", time) }))}>
      {STRATEGIES.map((strategy, i) => (
        <polyline points={rates.map((rate, k) => `${x(rate)},${y(lines[i]?.[k] ?? low)}`).join(" ")} fill="none" stroke={seriesColour(i)} stroke-width={strategy === setting.strategy ? 3 : 1.2} />
      ))}
      {STRATEGIES.map((strategy, i) => (
        <text x={WIDTH - EDGE.right - 4} y={EDGE.top + 14 + 15 * i} text-anchor="end" fill={seriesColour(i)} class={strategy === setting.strategy ? "chosen" : ""}>
          {strategy}
        </text>
      ))}
      <circle cx={x(setting.rate_bps)} cy={y(stepTime(setting, work))} r={5} fill={colourOf(setting)} />
    </Frame>
  );
}

/** Compute over step, of the chosen strategy, as `predict --scale` has it. */
export function OverRanks(props: { ranks: number[]; setting: Setting; work: Work }) {
  const { setting, work } = props;
  const compute = work.forward_s + work.backward_s;
  if (compute === 0) return <p class="quiet">Without compute time there is no efficiency, and no curve of it over ranks.</p>;
  const ranks = props.ranks.filter((count) => setting.strategy !== "ps" || count > work.servers);
  const points = ranks.map((count) => predicted({ ...setting, ranks: count }, work));
  const [first, last] = ends(ranks);
  const x = (count: number) => across(logarithm(count, first, last));
  const y = (step: number) => up(Math.min(1, compute / step));
  const line = (of: (point: (typeof points)[number]) => number) => points.map((point, i) => `${x(ranks[i] as number)},${y(of(point))}`);
  const ticks = [2, 8, 32, 128, 512, 2048].filter((count) => count >= first && count <= last);
  return (
    <Frame title="efficiency (compute over step) over ranks, 90 % band" across={ticks.map((count) => ({ at: x(count), text: show("count", count) }))} up={[0, 0.25, 0.5, 0.75, 1].map((share) => ({ at: up(share), text: show("share", share) }))}>
      <polygon id="what-if-band" points={[...line((point) => point.low_s), ...line((point) => point.high_s).reverse()].join(" ")} fill={faded(colourOf(setting), 0.2)} />
      <polyline points={line((point) => point.step_s).join(" ")} fill="none" stroke={colourOf(setting)} stroke-width={3} />
      <circle cx={x(setting.ranks)} cy={y(stepTime(setting, work))} r={5} fill={colourOf(setting)} />
    </Frame>
  );
}
