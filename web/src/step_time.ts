// SPDX-License-Identifier: Apache-2.0
// A step's time as a formula, in the browser: what `trainwire predict` computes where it answers
// "formula" (src/forecast/formula.h says what is behind each term), for one rank a host on a star of
// equal links. tests/step_time.mjs holds the two against each other.
//
// Limits: the formula's. Loss it does not have: here it caps the rate of every connection at what TCP
// reaches under it (src/fluid/tcp_laws.h), without the waiting for one another that loss brings, so
// steps under loss take longer than this says. Pure.
//
// Intervals are the program's too (src/forecast/interval.h): what 90 % of emulated runs were off by in their regime, and more beyond
// what was measured.

import { FORM_ERRORS, MEASURED } from "./errors";

export const STRATEGIES = ["ring", "opposite_rings", "clique", "star", "ps"] as const;
export type Strategy = (typeof STRATEGIES)[number];

/** What sliders move. */
export interface Setting {
  rate_bps: number;
  /** Of one link, one way. */
  delay_s: number;
  /** Of one link, one way; 0 to 1. */
  loss: number;
  /** Servers included. */
  ranks: number;
  strategy: Strategy;
}

/** What they do not. */
export interface Work {
  forward_s: number;
  backward_s: number;
  buckets: { bytes: number; ready_s: number }[];
  overlap: boolean;
  mtu: number;
  ipVersion: number;
  congestionControl: string;
  servers: number;
  /** Queues hold less than the kernel's streams need. */
  shallow: boolean;
}

/** What of a schedule makes its time; `share` and `chunk` are parts of the payload. */
interface Shape {
  rounds: number;
  /** What the busiest link carries in a round. */
  share: number;
  chunk: number;
  /** Bytes are passed on as they come. */
  early: boolean;
}

interface Line {
  bytesPerS: number;
  way_s: number;
  first_s: number;
  roundTrip_s: number;
  frameBytes: number;
  segmentBytes: number;
}

const ETHERNET = 14;
const TCP = 32;
const LEAST_TIMEOUT_S = 0.2;
const INITIAL_WINDOW = 10;
const PASSED_ON_FRAMES = 2;

function shapeOf(setting: Setting, work: Work): Shape {
  const n = setting.ranks;
  switch (setting.strategy) {
    case "ring":
      return { rounds: 2 * (n - 1), share: 1 / n, chunk: 1 / n, early: true };
    case "opposite_rings":
      return { rounds: 2 * (n - 1), share: 1 / n, chunk: 1 / (2 * n), early: true };
    case "clique":
      return { rounds: 2, share: (n - 1) / n, chunk: 1 / n, early: false };
    case "star":
      return { rounds: 2, share: n - 1, chunk: 1, early: false };
    case "ps":
      return { rounds: 2, share: Math.max(1, (n - work.servers) / work.servers), chunk: 1 / work.servers, early: false };
  }
}

/** Segments a second under loss: Padhye's formula with the weight of timeouts measured on Linux. */
export function lossRate(congestionControl: string, loss: number, roundTrip_s: number): number {
  if (loss <= 0) return Infinity;
  if (congestionControl.startsWith("bbr")) return loss <= 0.2 ? Infinity : 0;
  const cubic = !["reno", "dctcp", "mltcp"].includes(congestionControl);
  const reno = Math.sqrt(1.5 / loss);
  const plateau = ((0.4 * 3.7) / (4 * 0.3)) ** 0.25;
  const window = cubic ? Math.max(reno, plateau * (roundTrip_s / loss) ** 0.75) : reno;
  const timeouts = LEAST_TIMEOUT_S * Math.min(1, 3 * Math.sqrt((3 * loss) / 8)) * loss * (1 + 32 * loss * loss);
  return 1 / (roundTrip_s / window + (cubic ? 0.81 : 0.33) * timeouts);
}

function lineOf(setting: Setting, work: Work): Line {
  const rate = setting.rate_bps / 8;
  const frame = work.mtu + ETHERNET;
  const share = (work.mtu - (work.ipVersion === 6 ? 40 : 20) - TCP) / frame;
  const serial = frame / rate;
  const roundTrip_s = 4 * setting.delay_s + 2 * serial;
  const segmentBytes = share * frame;
  const path = 1 - (1 - setting.loss) ** 2;
  return {
    bytesPerS: Math.min(share * rate, lossRate(work.congestionControl, path, roundTrip_s) * segmentBytes),
    way_s: 2 * setting.delay_s + serial,
    first_s: serial,
    roundTrip_s,
    frameBytes: frame,
    segmentBytes,
  };
}

function exchange(shape: Shape, bytes: number, line: Line): number {
  if (shape.rounds === 0 || bytes <= 0) return 0;
  const leaving = (shape.share * bytes) / line.bytesPerS;
  const early = shape.early && bytes * shape.chunk > PASSED_ON_FRAMES * line.frameBytes;
  if (!early) return shape.rounds * (leaving + line.way_s);
  const round = Math.max(leaving, line.first_s + line.way_s);
  return shape.rounds * round + (leaving - round) + line.way_s;
}

/** Halved for each timeout that went by, not below the initial one. */
function windowAfterIdle(window: number, idle_s: number, timeout_s: number): number {
  const least = Math.min(window, INITIAL_WINDOW);
  let left = window;
  for (let time = idle_s - timeout_s; time > 0 && left > least; time -= timeout_s) left /= 2;
  return Math.max(left, least);
}

/** What is lost until a window that compute has closed holds the path again. */
function restart(work: Work, line: Line): number {
  const idle = work.forward_s + work.backward_s;
  const timeout = LEAST_TIMEOUT_S + line.roundTrip_s;
  if (idle < timeout) return 0;
  const holds = (line.bytesPerS * line.roundTrip_s) / line.segmentBytes;
  let lost = 0;
  for (let window = windowAfterIdle(2 * holds, idle, timeout); window < holds; window *= 2) lost += line.roundTrip_s * (1 - window / holds);
  return lost;
}

/** Whether the way of a step's transfers takes longer than the line. */
function waitsForWays(shape: Shape, work: Work, line: Line): boolean {
  const bytes = work.buckets.reduce((sum, bucket) => sum + bucket.bytes, 0);
  const ways = Math.max(1, work.buckets.length) * line.way_s * shape.rounds;
  return ways > (shape.rounds * shape.share * bytes) / line.bytesPerS;
}

/** What a step mostly depends on, as src/forecast/regime.h has it. */
function regimeOf(setting: Setting, work: Work): keyof typeof FORM_ERRORS {
  if (setting.loss > 0) return "loss";
  if (work.shallow) return "queue";
  if (setting.strategy === "ps" || setting.strategy === "star") return "servers";
  return waitsForWays(shapeOf(setting, work), work, lineOf(setting, work)) ? "latency" : "bandwidth";
}

const beyond = (value: number, least: number, most: number): number => (value > most ? Math.log(value / most) : value < least ? Math.log(least / value) : 0);

export interface Predicted {
  step_s: number;
  /** The 90 % interval. */
  low_s: number;
  high_s: number;
}

/** A step with its interval. Ranks as for stepTime. */
export function predicted(setting: Setting, work: Work): Predicted {
  const step_s = stepTime(setting, work);
  const compute = work.forward_s + work.backward_s;
  const scale = Math.max(0, step_s - compute) + 0.05 * compute;
  const far = beyond(setting.rate_bps, MEASURED.leastRate_bps, MEASURED.mostRate_bps) + beyond(setting.ranks, 1, MEASURED.hosts);
  const width = FORM_ERRORS[regimeOf(setting, work)] + MEASURED.perFold * far;
  return { step_s, low_s: step_s - scale * (1 - Math.exp(-width)), high_s: step_s + scale * (Math.exp(width) - 1) };
}

/** Seconds. Ranks are 2 at least, with a worker and a server for "ps". */
export function stepTime(setting: Setting, work: Work): number {
  const line = lineOf(setting, work);
  const shape = shapeOf(setting, work);
  const compute = work.forward_s + work.backward_s;
  let now = work.overlap ? work.forward_s : compute;
  let lost = restart(work, line);
  for (const bucket of work.buckets) {
    if (work.overlap) now = Math.max(now, work.forward_s + bucket.ready_s);
    const taken = exchange(shape, bucket.bytes, line);
    now += taken + (taken > 0 ? lost : 0);
    lost = 0;
  }
  return Math.max(now, compute);
}
