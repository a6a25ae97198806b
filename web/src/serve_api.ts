// SPDX-License-Identifier: Apache-2.0
// What `trainwire serve` answers, and how it is asked: with the token of the page's own address, which
// stays there so that a reload works.

export interface RunRow {
  /** Its place in the folder. */
  id: string;
  path: string;
  command: string | null;
  name: string;
  state: "complete" | "partial" | "running" | "broken";
  started: string | null;
  jobs: { name: string; model: string | null; strategy: string | null; ranks: number | null }[];
  hosts: number | null;
  points: number | null;
  step_mean_s: number | null;
  steps: number | null;
  duration_s: number | null;
  checks: { ok: number; failed: number } | null;
  sparkline: number[] | null;
  sparkline_of: string;
  problem: string | null;
}

export interface RunList {
  runs: RunRow[];
  left_off: number;
  /** The folder has so much in it that not all was looked at. */
  search_cut?: boolean;
}

export interface LiveHeader {
  name: string;
  started_ns: number;
  hosts: string[];
  capacity_bps: (number | null)[] | null;
  jobs: { name: string; model: string | null; strategy: string | null; ranks: number; steps: number; warmup: number }[];
}

export interface Sample {
  time_ns: number;
  /** Of each job, warm-up included. */
  steps: number[];
  sent_bps: number[];
  /** From host, to host, bytes so far. */
  pairs: [number, number, number][];
  /** Where links are counted. */
  busiest?: { link: string; direction: string; share: number };
  /** By link between switches: upwards, or left to right, and the other way. */
  core_bps?: Record<string, [number, number]>;
}

export interface LiveAnswer {
  /** Only with the first samples. */
  header: LiveHeader | null;
  samples: Sample[];
  /** Where the next answer begins. */
  next: number;
  ended: boolean;
  running: boolean;
  /** Of a sweep: the folder of the point that runs. */
  point?: string;
}

export interface Task {
  task: string;
  name: string;
  state: "waiting" | "running" | "done" | "failed";
  run: string | null;
  message: string | null;
  seconds: number;
}

export const TOKEN = { "X-Trainwire-Token": new URLSearchParams(location.search).get("token") ?? "" };

/** The server answered, with a sentence that says why not. */
export class Refusal extends Error {}

const NO_ANSWER = "The server does not answer. Is trainwire serve still running?";

/** What to tell of a failed request. */
export const troubleText = (error: unknown): string => (error instanceof Refusal ? error.message : NO_ANSWER);

/** The sentence of an answer that is not what was asked for. */
export function refusalText(status: number, body: string): string {
  if (status === 401 || status === 403) return "The server does not know this page's token: open the address that trainwire serve printed.";
  try {
    const told: unknown = JSON.parse(body).error;
    if (typeof told === "string") return told;
  } catch {
    // Not JSON: the status says what there is to say.
  }
  return `The server answered with status ${status}.`;
}

export async function ask<T>(path: string): Promise<T> {
  const answer = await fetch(path, { headers: TOKEN, cache: "no-store", signal: AbortSignal.timeout(60_000) });
  if (!answer.ok) throw new Refusal(refusalText(answer.status, await answer.text()));
  return (await answer.json()) as T;
}

export interface Rounds {
  now: () => void;
  stop: () => void;
}

/** Calls `act` again and again, after as many milliseconds as it says; not while the page is hidden. */
export function rounds(act: () => Promise<number>): Rounds {
  let timer = 0;
  let busy = false;
  let stopped = false;
  async function round() {
    clearTimeout(timer);
    if (busy || stopped || document.hidden) return;
    busy = true;
    const pause = await act();
    busy = false;
    if (!stopped) timer = setTimeout(round, pause);
  }
  document.addEventListener("visibilitychange", round);
  void round();
  return {
    now: () => void round(),
    stop: () => {
      stopped = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", round);
    },
  };
}
