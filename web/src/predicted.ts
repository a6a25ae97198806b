// SPDX-License-Identifier: Apache-2.0
// What a step would take, with its interval, or why the formula does not say: what `trainwire predict --level formula` answers.
//
// Intervals are the program's (src/forecast/interval.h): what 90 % of emulated runs were off by in their regime, and more beyond
// what was measured. Pure.

import { FORM_ERRORS, MEASURED } from "./errors";
import { isUncertain, noFormula } from "./step_limits";
import { bytesOf, computeOf, computingAnd, LEAST_TIMEOUT_S, type Line, lineOf, type Setting, type Shape, shapeOf, stepTime, type Work } from "./step_time";

export interface Predicted {
  step_s: number;
  /** The 90 % interval. */
  low_s: number;
  high_s: number;
}

/** The formula does not hold. */
export interface Refused {
  because: string;
}

export const holds = (of: Predicted | Refused): of is Predicted => "step_s" in of;

/** Whether the way of a step's transfers takes longer than the line. */
function waitsForWays(shape: Shape, work: Work, line: Line): boolean {
  const ways = Math.max(1, work.buckets.length) * line.way_s * shape.rounds;
  return ways > (shape.rounds * shape.share * bytesOf(work)) / line.bytesPerS;
}

/** What a step mostly depends on, as src/forecast/regime.h has it; where queues may overflow, as uncertain as shallow ones. */
function regimeOf(setting: Setting, work: Work): keyof typeof FORM_ERRORS {
  if (isUncertain(setting, work)) return "queue";
  if (setting.loss > 0) return "loss";
  if (setting.strategy === "ps" || setting.strategy === "star") return "servers";
  return waitsForWays(shapeOf(setting, work), work, lineOf(setting, work)) ? "latency" : "bandwidth";
}

const beyond = (value: number, least: number, most: number): number => (value > most ? Math.log(value / most) : value < least ? Math.log(least / value) : 0);

/** Where queues may overflow at rates that were not measured, each exchange may wait for one. */
const timeouts = (setting: Setting, work: Work): number => (setting.rate_bps > MEASURED.mostRate_bps && isUncertain(setting, work) ? LEAST_TIMEOUT_S * work.buckets.length : 0);

/** Ranks are 2 at least. */
export function predicted(setting: Setting, work: Work): Predicted | Refused {
  const because = noFormula(setting, work);
  if (because !== "") return { because };
  const step_s = stepTime(setting, work);
  const compute = computeOf(work);
  const scale = Math.max(0, step_s - compute) + 0.05 * compute;
  const far = beyond(setting.rate_bps, MEASURED.leastRate_bps, MEASURED.mostRate_bps) + beyond(setting.ranks, 1, MEASURED.hosts);
  const width = FORM_ERRORS[regimeOf(setting, work)] + MEASURED.perFold * far;
  const change = (factor: number) => computingAnd(setting, work, factor) - computingAnd(setting, work, 1);
  const [less, more] = [Math.exp(-width), Math.exp(width)];
  return {
    step_s,
    low_s: step_s - Math.max(scale * (1 - less), -change(less)),
    high_s: step_s + Math.max(scale * (more - 1), change(more), timeouts(setting, work)),
  };
}
