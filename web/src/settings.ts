// SPDX-License-Identifier: Apache-2.0
// A run's own settings and work, as sliders and the formula behind them take it.

import { at, type Json, list, num, str } from "./data";
import { type Setting, STRATEGIES, type Strategy, type Work } from "./step_time";

export interface OwnSettings {
  setting: Setting;
  work: Work;
  /** What the run has and the formula has not, in words. */
  leftOut: string[];
}

/** A setting of a resolved experiment is {value, origin}. */
const value = (of: Json, ...path: string[]): Json => at(of, "experiment", ...path, "value");

function leftOut(summary: Json, job: Json): string[] {
  const network = (key: string) => value(summary, "network", key);
  const of = (key: string) => at(job, key, "value");
  const placement = of("placement");
  const doubled = Array.isArray(placement) && new Set(placement).size < placement.length;
  const found: [boolean, string][] = [
    [network("topology") !== "star", "more than one switch"],
    [list(summary, "experiment", "network", "links").length > 0, "links that differ"],
    [list(summary, "experiment", "traffic").length > 0, "cross traffic"],
    [list(summary, "experiment", "faults").length > 0, "faults"],
    [Number(network("jitter_ns") ?? 0) > 0, "delays that vary"],
    [network("socket_buffer_bytes") !== null, "limited sockets"],
    [of("transport") === "rdma", "RDMA"],
    [of("aggregation") === "switch" || of("distribution") === "multicast", "switches that sum or copy messages"],
    [doubled, "several ranks on a host"],
    [of("asynchronous") === true, "ranks that do not wait for one another"],
    [of("straggler") !== null, "a slower host"],
    [Number(of("compute_jitter") ?? 0) > 0, "compute times that vary"],
    [of("forward_overlap") === true, "forward that begins before the exchange has ended"],
    [Number(of("connections") ?? 1) > 1, "several connections between two ranks"],
    [Number(of("side_connections") ?? 0) > 0, "side connections"],
  ];
  return found.filter(([there]) => there).map(([, name]) => name);
}

/** Of a port, as the experiment has it; the program's default where it has none. */
function queueOf(summary: Json): Work["queue"] {
  const queue = value(summary, "network", "queue");
  const [bytes, bdp] = [num(queue, "bytes"), num(queue, "bdp")];
  return bytes === null && bdp === null ? { bytes: 262_144, bdp: 1 } : { bytes, bdp };
}

function markedOf(summary: Json): Work["marked"] {
  const bytes = num(summary, "experiment", "network", "ecn_bytes", "value");
  return bytes === null ? null : { bytes, drops: str(summary, "experiment", "network", "ecn_action", "value") === "drop" };
}

/** Null where the run has no experiment, several jobs, or a strategy without a formula. */
export function ownSettings(summary: Json): OwnSettings | null {
  const [jobs, done] = [list(summary, "experiment", "jobs"), list(summary, "jobs")];
  const [job, pace] = [jobs[0] ?? null, at(done[0] ?? null, "pace")];
  if (jobs.length !== 1 || job === null || pace === null) return null;
  // Sliders would be in two worlds at once.
  if ((num(summary, "experiment", "run", "scale", "value") ?? 1) !== 1) return null;
  const strategy = str(job, "strategy", "value") as Strategy;
  const numbers = (key: string) => list(pace, key).map(Number);
  const [rate, delay, ranks] = [num(summary, "experiment", "network", "rate_bps", "value"), num(summary, "experiment", "network", "delay_ns", "value"), num(job, "ranks", "value")];
  const [forward, backward] = [num(pace, "forward_s"), num(pace, "backward_s")];
  if (!STRATEGIES.includes(strategy) || rate === null || delay === null || ranks === null || ranks < 2 || forward === null || backward === null) return null;
  const ready = numbers("bucket_ready_s");
  return {
    setting: { rate_bps: rate, delay_s: 1e-9 * delay, loss: num(summary, "experiment", "network", "loss", "value") ?? 0, ranks, strategy },
    work: {
      forward_s: forward,
      backward_s: backward,
      buckets: numbers("bucket_bytes").map((bytes, i) => ({ bytes, ready_s: ready[i] ?? 0 })),
      overlap: at(job, "overlap", "value") === true,
      mtu: num(summary, "experiment", "network", "mtu", "value") ?? 1500,
      ipVersion: num(summary, "experiment", "network", "ip_version", "value") ?? 4,
      congestionControl: str(job, "congestion_control", "value") ?? str(summary, "experiment", "network", "congestion_control", "value") ?? "cubic",
      servers: num(job, "servers", "value") ?? 1,
      pieces: num(job, "pieces", "value") ?? 1,
      queue: queueOf(summary),
      marked: markedOf(summary),
    },
    leftOut: leftOut(summary, job),
  };
}
