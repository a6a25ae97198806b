// SPDX-License-Identifier: Apache-2.0
// Where the formula of step_time.ts does not hold, as src/forecast/formula.cc judges it: the same conditions in the same order, in the
// program's words (`trainwire predict --level formula` prints them). tests/step_time.mjs holds the two against each other.
//
// Limits: what sliders move. What else a run may have that the formula has not (cross traffic, several switches) is
// settings.ts's; loss is let pass, of which step_time.ts counts a part. Pure.

import { INITIAL_WINDOW, type Line, lineOf, pathSegments, reopening, sentSegments, type Setting, type Shape, shapeOf, stepTime, streamsOf, type Work } from "./step_time";

/** Not a limit of the formula: there is no such job. */
export const NO_WORKER = "no worker is left beside the servers";

const SHALLOW_BYTES = 100_000;
/** Of loads, that chunks' rounding makes differ. */
const SAME = 1e-6;
/** Of a step: what may be left out. */
const SMALL_PART = 0.01;
/** Of what the path holds: queues like that had streams that meet lose nothing. */
const DEEP = 3;
/** When CUBIC's slow start ends at the latest, and what a connection has sent until then, with as much again. */
const SLOW_START_S = 1e-3;
const SLOW_START_BYTES = 4 * 65536;
/** It never ends below so many segments, of which large frames make more. */
const SLOW_START_SEGMENTS = 2 * 16;
/** Messages of a step; more of them that overflow queues take too long to simulate. */
const MOST_SIMULATED = 4000;
/** Of what the path holds: messages that BBR sends at the line's rate. */
const FILLED = 2;

/** Trees that cut a payload into pieces have other loads in the first and the last rounds. */
const isUneven = (setting: Setting, work: Work): boolean => setting.strategy === "star" && work.pieces > 1;

const tooShortForBbr = (shape: Shape, work: Work, line: Line): boolean => work.congestionControl.startsWith("bbr") && sentSegments(shape, work, line) < FILLED * pathSegments(line);

/** A queue that holds so much takes what streams have under way while they look for their rate. */
function deepBytes(shape: Shape, line: Line): number {
  const begins = streamsOf(shape) * INITIAL_WINDOW * line.segmentBytes;
  const sent = Math.max(SLOW_START_BYTES, SLOW_START_SEGMENTS * line.segmentBytes);
  const untilSlowStartEnds = Math.min(streamsOf(shape) * sent, line.bytesPerS * SLOW_START_S);
  return Math.max(DEEP * line.bytesPerS * line.roundTrip_s, begins, untilSlowStartEnds);
}

/** Of streams that meet: others wait in their hosts, which mark nothing. BBR minds no marks, but packets that are dropped in their place. */
function marksEarly(shape: Shape, work: Work, line: Line): boolean {
  if (work.marked === null || (work.congestionControl.startsWith("bbr") && !work.marked.drops)) return false;
  return streamsOf(shape) > 1 + SAME && work.marked.bytes < deepBytes(shape, line);
}

/** Whether streams that meet in a port may have more under way than it takes, so that TCP has to find its rate there. */
function overflows(shape: Shape, work: Work, line: Line): boolean {
  if (streamsOf(shape) <= 1 + SAME) return false;
  const largest = Math.max(0, ...work.buckets.map((bucket) => bucket.bytes));
  const atOnce = (shape.early ? shape.rounds : 1) * shape.share * largest;
  return atOnce > line.queueBytes && line.queueBytes < deepBytes(shape, line);
}

/** Whether the formula answers although queues may overflow: simulating so many messages would take too long. */
export function isUncertain(setting: Setting, work: Work): boolean {
  const shape = shapeOf(setting, work);
  return shape.messages > MOST_SIMULATED && overflows(shape, work, lineOf(setting, work));
}

/** Why the formula does not hold; empty: it does. */
export function noFormula(setting: Setting, work: Work): string {
  if (setting.strategy === "ps" && setting.ranks <= work.servers) return NO_WORKER;
  const [shape, line] = [shapeOf(setting, work), lineOf(setting, work)];
  if (line.queueBytes < SHALLOW_BYTES) return "queues are shallow";
  if (isUneven(setting, work)) return "the strategy loads links unevenly";
  if (marksEarly(shape, work, line)) return "switches mark packets before streams find their rate";
  if (reopening(shape, work, line) > SMALL_PART * stepTime(setting, work)) return "windows close while ranks compute";
  if (overflows(shape, work, line) && shape.messages <= MOST_SIMULATED) return "streams meet in queues that may overflow";
  if (tooShortForBbr(shape, work, line)) return "messages are too short for BBR to reach the line's rate";
  return "";
}
