// SPDX-License-Identifier: Apache-2.0
// What sliders would give elsewhere: step time over the rate, by strategy; efficiency over ranks, with its 90 % band. Where the
// formula does not hold lines have gaps.

import type { ComponentChildren } from "preact";
import { faded, seriesColour } from "./colours";
import { show } from "./format";
import { holds, type Predicted, predicted } from "./predicted";
import { computeOf, type Setting, STRATEGIES, type Work } from "./step_time";

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

interface Point {
  /** The rate, or ranks. */
  of: number;
  found: Predicted;
}

/** Points side by side where the formula holds. */
function stretches(values: number[], setting: (value: number) => Setting, work: Work): Point[][] {
  const found: Point[][] = [[]];
  for (const of of values) {
    const answer = predicted(setting(of), work);
    if (holds(answer)) found[found.length - 1]?.push({ of, found: answer });
    else found.push([]);
  }
  return found.filter((points) => points.length > 0);
}

/** A line, or a dot where neighbours are missing. */
function Stretch(props: { at: [number, number][]; colour: string; width: number }) {
  const [first] = props.at;
  if (first !== undefined && props.at.length === 1) return <circle cx={first[0]} cy={first[1]} r={props.width} fill={props.colour} />;
  return <polyline points={props.at.join(" ")} fill="none" stroke={props.colour} stroke-width={props.width} />;
}

const Nowhere = () => <p class="quiet">The formula holds nowhere along this slider, so that there is no curve.</p>;

/** A line for each strategy, the chosen one thick; both axes logarithmic. */
export function OverRate(props: { rates: number[]; setting: Setting; work: Work }) {
  const { rates, setting, work } = props;
  const lines = STRATEGIES.map((strategy) => stretches(rates, (rate_bps) => ({ ...setting, rate_bps, strategy }), work));
  const all = lines.flat(2).map((point) => point.found.step_s);
  if (all.length === 0) return <Nowhere />;
  const [low, high] = [Math.min(...all) / 1.15, Math.max(...all) * 1.15];
  const [first, last] = ends(rates);
  const x = (rate: number) => across(logarithm(rate, first, last));
  const y = (time: number) => up(logarithm(time, low, high));
  const ticks = [1e7, 1e8, 1e9, 1e10, 1e11].filter((rate) => rate >= first && rate <= last);
  const times = [1e-3, 1e-2, 0.1, 1, 10, 100, 1000].filter((time) => time > low && time < high);
  const here = predicted(setting, work);
  return (
    <Frame title="step time over the rate of a link" across={ticks.map((rate) => ({ at: x(rate), text: show("rate", rate) }))} up={times.map((time) => ({ at: y(time), text: show("time", time) }))}>
      {STRATEGIES.map((strategy, i) => lines[i]?.map((points) => <Stretch at={points.map(({ of, found }) => [x(of), y(found.step_s)])} colour={seriesColour(i)} width={strategy === setting.strategy ? 3 : 1.2} />))}
      {STRATEGIES.map((strategy, i) => (
        <text x={WIDTH - EDGE.right - 4} y={EDGE.top + 14 + 15 * i} text-anchor="end" fill={seriesColour(i)} class={strategy === setting.strategy ? "chosen" : ""}>
          {strategy}
        </text>
      ))}
      {holds(here) && <circle cx={x(setting.rate_bps)} cy={y(here.step_s)} r={5} fill={colourOf(setting)} />}
    </Frame>
  );
}

/** Compute over step, of the chosen strategy, as `predict --scale` has it. */
export function OverRanks(props: { ranks: number[]; setting: Setting; work: Work }) {
  const { ranks, setting, work } = props;
  const compute = computeOf(work);
  if (compute === 0) return <p class="quiet">Without compute time there is no efficiency, and no curve of it over ranks.</p>;
  const parts = stretches(ranks, (count) => ({ ...setting, ranks: count }), work);
  if (parts.length === 0) return <Nowhere />;
  const [first, last] = ends(ranks);
  const x = (count: number) => across(logarithm(count, first, last));
  const y = (step: number) => up(Math.min(1, compute / step));
  const line = (points: Point[], of: (found: Predicted) => number) => points.map((point): [number, number] => [x(point.of), y(of(point.found))]);
  const ticks = [2, 8, 32, 128, 512, 2048].filter((count) => count >= first && count <= last);
  const here = predicted(setting, work);
  return (
    <Frame title="efficiency (compute over step) over ranks, 90 % band" across={ticks.map((count) => ({ at: x(count), text: show("count", count) }))} up={[0, 0.25, 0.5, 0.75, 1].map((share) => ({ at: up(share), text: show("share", share) }))}>
      {parts.map((points) => (
        <polygon class="what-if-band" points={[...line(points, (found) => found.low_s), ...line(points, (found) => found.high_s).reverse()].join(" ")} fill={faded(colourOf(setting), 0.2)} />
      ))}
      {parts.map((points) => (
        <Stretch at={line(points, (found) => found.step_s)} colour={colourOf(setting)} width={3} />
      ))}
      {holds(here) && <circle cx={x(setting.ranks)} cy={y(here.step_s)} r={5} fill={colourOf(setting)} />}
    </Frame>
  );
}
