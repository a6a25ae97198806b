// SPDX-License-Identifier: Apache-2.0
// What the program puts into the page (src/report/run_data.h says the same from its side), and how it
// is read. Everything may be missing or of another type than expected: it is read through functions
// that give null then.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

export interface Packed {
  n: number;
  step: number;
  data: string;
}

export interface Distribution {
  n: number;
  mean: number;
  min: number;
  max: number;
  q: number[];
  band: number;
}

export interface Series {
  group: "total" | "host" | "pair";
  name: string;
  bytes: number;
  start_s: number;
  bucket_s: number;
  window_s: number;
  mean: Packed;
  min?: Packed;
  max?: Packed;
  rates: Histogram;
}

export interface Times {
  /** As the record has it. */
  median_s: number | null;
  series: { per: number; mean: number[]; min?: number[]; max?: number[] };
  distribution: Distribution;
}

export interface StepTimes {
  name: string | null;
  source: string | null;
  step: Times;
  exchange: Times | null;
}

export interface Phases {
  rows: { job: string; rank: number }[];
  phases: string[];
  median_s: (number | null)[][];
  /** For each row: median, 95th percentile and longest time after the first rank. */
  late_s: ([number, number, number] | null)[];
  timeline: {
    from_step: number;
    to_step: number;
    steps: number;
    left_off_rows: number;
    row: number[];
    phase: number[];
    start_us: number[];
    length_us: number[];
  } | null;
}

/** Pairs window by window around the middle iteration; rates in bit/s. */
export interface Close {
  middle_s: number;
  pairs: { name: string; start_s: number; window_s: number; rates: Packed }[];
}

export interface IterationTimes {
  start_us: number[];
  end_us: number[];
  count: number;
}

/** What each pair carried in each iteration; lists of equal length. */
export interface Transfers {
  pairs: [string, string][];
  iteration: number[];
  pair: number[];
  bytes: number[];
  start_us: number[];
  length_us: number[];
  iterations: number;
  left_off_pairs: number;
  sizes: Distribution | null;
}

export interface FlowRow {
  source: string;
  destination: string;
  protocol: string;
  class: string;
  first_s: number;
  last_s: number;
  bytes: number;
  /** Number of the first cell with a rate, and the rates from there on. */
  cell?: number;
  rates?: Packed;
}

export interface FlowRows {
  start_s: number;
  cell_s: number;
  left_off: number;
  left_off_bytes: number;
  rows: FlowRow[];
}

export interface Matrix {
  hosts: string[];
  bytes: number[][];
  left_off: number;
}

export type FlowClasses = Record<
  string,
  { bytes: Distribution | null; duration_s: Distribution | null; rate_bps: Distribution | null; rtt_s: Distribution | null }
>;

export interface CrossClass {
  traffic: number;
  from_bytes: number;
  to_bytes: number | null;
  completion_s: Distribution | null;
  unfinished: number;
}

export interface Sockets {
  start_s: number;
  bucket_s: number;
  connections: {
    name: string;
    samples: number;
    retransmitted: number;
    rtt_mean_s: number;
    rtt_max_s: number;
    rtt: Packed;
    rtt_max: Packed;
    window: Packed;
    retransmissions: Packed;
  }[];
  left_off: number;
}

export interface Queues {
  start_s: number;
  bucket_s: number;
  hosts: { name: string; queue: Packed }[];
  left_off: number;
}

export interface MachineLoad {
  start_s: number;
  bucket_s: number;
  busy: Packed;
  steal: Packed;
  wait: Packed;
}

/** A setting that differs between the points of a sweep; lists have an element for each point. */
export interface SweepAxis {
  key: string;
  label: string;
  kind: "number" | "share" | "rate" | "time" | "bytes" | "word";
  /** As the experiment has them. */
  texts: string[];
  /** In base units; only where all are numbers. */
  numbers?: (number | null)[];
}

export interface Swept {
  folders: string[];
  axes: SweepAxis[];
  /** Checks that failed. */
  why: ({ name: string; text: string }[] | null)[];
  /** Whether the point's folder has a page. */
  pages: boolean[];
  /** What is to be kept in mind of all points. */
  cautions: string[];
}

export type Row = { [column: string]: Json };

export interface Run {
  label: string;
  path: string;
  command: string | null;
  complete: boolean;
  partial: string | null;
  provenance: Json;
  summary: Json;
  steps: StepTimes[];
  throughput: Series[] | null;
  close: Close | null;
  iterations: IterationTimes | null;
  transfers: Transfers | null;
  phases: Phases | null;
  matrix: Matrix | null;
  flows: FlowClasses | null;
  flow_rows: FlowRows | null;
  cross_flows: CrossClass[] | null;
  links: Row[] | null;
  points: Row[] | null;
  sockets: Sockets | null;
  queues: Queues | null;
  load: MachineLoad | null;
  sweep: Swept | null;
  fit: Json;
  notes: string[];
}

/** In virtual time: nothing was captured, no machine was busy, no link was measured. */
export const isSimulated = (run: Run): boolean => run.command === "sim";

export interface Load {
  path: string;
  flows: number;
  span_s: number;
  bytes: number;
  mean_bps: number;
  bin_s: number;
  rate: Packed;
  sizes: Histogram;
  rates: Histogram;
}

export interface Histogram {
  low: number;
  width: number;
  counts: number[];
}

export interface Page {
  schema: number;
  version: string;
  commit: string;
  full?: boolean;
  runs?: Run[];
  /** Of all runs but the first with it, as `trainwire compare --json` has them. */
  comparisons?: Json[];
  load?: Load;
  /** The page of `trainwire serve`: its data come from the server that sent it. */
  serve?: { folder: string; upload_limit_bytes: number };
}

export type Values = (number | null)[];

const NO_VALUE = 65535;

export function unpack(packed: Packed): Values {
  const text = atob(packed.data);
  const values: Values = new Array(packed.n);
  for (let i = 0; i < packed.n; i++) {
    const code = text.charCodeAt(2 * i) | (text.charCodeAt(2 * i + 1) << 8);
    values[i] = code === NO_VALUE ? null : code * packed.step;
  }
  return values;
}

/** The member reached by `path`; null when there is none. */
export function at(json: Json | undefined, ...path: (string | number)[]): Json {
  let value: Json = json ?? null;
  for (const key of path) {
    if (value === null || typeof value !== "object") return null;
    value = (value as { [key: string]: Json })[String(key)] ?? null;
  }
  return value;
}

export function num(json: Json | undefined, ...path: (string | number)[]): number | null {
  const value = at(json, ...path);
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

export function str(json: Json | undefined, ...path: (string | number)[]): string | null {
  const value = at(json, ...path);
  return typeof value === "string" ? value : null;
}

export function list(json: Json | undefined, ...path: (string | number)[]): Json[] {
  const value = at(json, ...path);
  return Array.isArray(value) ? value : [];
}

/** The p-quantile of a distribution that is kept by its quantiles. */
export function quantile(distribution: Distribution, p: number): number {
  const q = distribution.q;
  const place = p * (q.length - 1);
  const below = Math.floor(place);
  const low = q[below] ?? 0;
  const high = q[Math.min(below + 1, q.length - 1)] ?? low;
  return low + (high - low) * (place - below);
}

/** Values that a plot would show as one: fewer than three, or the same to three digits. */
export const isFlat = (of: Distribution): boolean => of.n < 3 || of.max - of.min <= 0.005 * Math.max(Math.abs(of.max), Math.abs(of.min));

export function readPage(): Page {
  const element = document.getElementById("data");
  return JSON.parse(element?.textContent ?? "null") as Page;
}
