// SPDX-License-Identifier: Apache-2.0
// A step's time as a formula, in the browser: what `trainwire predict` computes where it answers
// "formula" (src/forecast/formula.h says what is behind each term), for one rank a host on a star of
// equal links. tests/step_time.mjs holds the two against each other.
//
// Limits: the formula's; step_limits.ts says where it does not hold. Loss it does not have: here it caps the rate of every
// connection at what TCP reaches under it (src/fluid/tcp_laws.h), without the waiting for one another that loss brings, so
// steps under loss take longer than this says. Pure.

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
  /** Into which trees cut a payload. */
  pieces: number;
  /** Of a port: bytes, products of rate and round trip, or the larger of both. */
  queue: { bytes: number | null; bdp: number | null };
  /** From which waiting bytes packets are marked, or dropped early; null: they are not. */
  marked: { bytes: number; drops: boolean } | null;
}

/** What of a schedule makes its time; `share` and `chunk` are parts of the payload. */
export interface Shape {
  rounds: number;
  /** What the busiest link carries in a round. */
  share: number;
  chunk: number;
  /** Of all ranks. */
  messages: number;
  /** Bytes are passed on as they come. */
  early: boolean;
}

export interface Line {
  bytesPerS: number;
  way_s: number;
  first_s: number;
  roundTrip_s: number;
  frameBytes: number;
  segmentBytes: number;
  /** Of a port. */
  queueBytes: number;
}

const ETHERNET = 14;
const TCP = 32;
export const LEAST_TIMEOUT_S = 0.2;
export const INITIAL_WINDOW = 10;
const PASSED_ON_FRAMES = 2;
/** Packets that a port of a switch takes at least, and where only products are given. */
const LEAST_QUEUE = { ofASwitch: 20, ofProducts: 2 };

export const computeOf = (work: Work): number => work.forward_s + work.backward_s;
export const bytesOf = (work: Work): number => work.buckets.reduce((sum, bucket) => sum + bucket.bytes, 0);

/** Of "ps". */
function serversShape(ranks: number, servers: number): Shape {
  const workers = ranks - servers;
  return { rounds: 2, share: Math.max(1, workers / servers), chunk: 1 / servers, messages: ranks * (workers > 1 ? servers : workers), early: false };
}

export function shapeOf(setting: Setting, work: Work): Shape {
  const n = setting.ranks;
  switch (setting.strategy) {
    case "ring":
      return { rounds: 2 * (n - 1), share: 1 / n, chunk: 1 / n, messages: 2 * n * (n - 1), early: true };
    case "opposite_rings":
      return { rounds: 2 * (n - 1), share: 1 / n, chunk: 1 / (2 * n), messages: 4 * n * (n - 1), early: true };
    case "clique":
      return { rounds: 2, share: (n - 1) / n, chunk: 1 / n, messages: 2 * n * (n - 1), early: false };
    case "star":
      return { rounds: 2, share: n - 1, chunk: 1, messages: n, early: false };
    case "ps":
      return serversShape(n, work.servers);
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

/** As spec::queue_bytes() has it for the longest way of a star. */
function queueBytes(setting: Setting, work: Work): number {
  const { bytes, bdp } = work.queue;
  if (bytes !== null && bdp === null) return bytes;
  const product = (setting.rate_bps * 4 * setting.delay_s) / 8;
  const least = (bytes === null ? LEAST_QUEUE.ofProducts : LEAST_QUEUE.ofASwitch) * (work.mtu + ETHERNET);
  return Math.max(least, bytes ?? 0, Math.round((bdp ?? 1) * product));
}

export function lineOf(setting: Setting, work: Work): Line {
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
    queueBytes: queueBytes(setting, work),
  };
}

/** That meet in a link at a time. */
export const streamsOf = (shape: Shape): number => Math.max(1, shape.share / shape.chunk);

/** What a connection can have under way, in segments. */
export const pathSegments = (line: Line): number => (line.bytesPerS * line.roundTrip_s) / line.segmentBytes;

/** What one connection sends without having to wait for anybody, in segments: all of a ring's stream, or one message. */
export function sentSegments(shape: Shape, work: Work, line: Line): number {
  const part = shape.early ? (shape.rounds * shape.share) / streamsOf(shape) : shape.chunk;
  return (part * bytesOf(work)) / line.segmentBytes;
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
  const idle = computeOf(work);
  const timeout = LEAST_TIMEOUT_S + line.roundTrip_s;
  if (idle < timeout) return 0;
  const holds = pathSegments(line);
  let lost = 0;
  for (let window = windowAfterIdle(2 * holds, idle, timeout); window < holds; window *= 2) lost += line.roundTrip_s * (1 - window / holds);
  return lost;
}

/** How long a connection has nothing to send: while ranks compute, and in rounds that are others'. */
function idleTime(shape: Shape, work: Work, line: Line): number {
  if (shape.early || shape.rounds === 0) return computeOf(work);
  return computeOf(work) + ((shape.rounds - 1) / shape.rounds) * exchange(shape, bytesOf(work), line);
}

/** What windows may take to open again, at most, where a pause of more than a timeout has closed them. */
export function reopening(shape: Shape, work: Work, line: Line): number {
  if (idleTime(shape, work, line) < LEAST_TIMEOUT_S + line.roundTrip_s) return 0;
  const needed = Math.min(sentSegments(shape, work, line), pathSegments(line));
  let doublings = 0;
  for (let window = INITIAL_WINDOW; window < needed; window *= 2) doublings++;
  return doublings * line.roundTrip_s * (shape.early ? 1 : shape.rounds);
}

/** Seconds. Ranks are 2 at least, with a worker and a server for "ps". */
export function stepTime(setting: Setting, work: Work): number {
  const line = lineOf(setting, work);
  const shape = shapeOf(setting, work);
  const compute = computeOf(work);
  let now = work.overlap ? work.forward_s : compute;
  let lost = Math.min(restart(work, line), reopening(shape, work, line));
  for (const bucket of work.buckets) {
    if (work.overlap) now = Math.max(now, work.forward_s + bucket.ready_s);
    const taken = exchange(shape, bucket.bytes, line);
    now += taken + (taken > 0 ? lost : 0);
    lost = 0;
  }
  return Math.max(now, compute);
}

/** A step whose exchange overlaps backward, where the network takes `factor` times what it does; windows that open again left out. */
export function computingAnd(setting: Setting, work: Work, factor: number): number {
  const compute = computeOf(work);
  if (!work.overlap) return compute;
  const [line, shape] = [lineOf(setting, work), shapeOf(setting, work)];
  let now = 0;
  for (const bucket of work.buckets) now = Math.max(now, work.forward_s + bucket.ready_s) + factor * exchange(shape, bucket.bytes, line);
  return Math.max(now, compute);
}
