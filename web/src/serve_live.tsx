// SPDX-License-Identifier: Apache-2.0
// A run while it goes on: how far its jobs are, what hosts send, who has sent how much to whom.

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Matrix } from "./data";
import { digits, show, unitFor } from "./format";
import { matrixHeight, MatrixPlot } from "./matrix";
import { FigureCard } from "./parts";
import { type Drawn, type Line, Plot } from "./plot";
import { ask, type LiveAnswer, type LiveHeader, rounds, type Sample, troubleText } from "./serve_api";
import { counted } from "./serve_runs";
import { Meter } from "./serve_upload";
import type { Cell } from "./table";
import { wayOf } from "./ways";
import { type Range, zoomTo } from "./zoom";

const EVERY_MS = 500;
const WINDOW_S = 60;
/** In a long run samples are further apart than the window: as many as these are kept at least. */
const FEWEST_KEPT = 120;
/** With more hosts than these, their mean and range are drawn. */
const MOST_LINES = 12;
const STAY_MS = 3000;
/** Whatever their times say. */
const MOST_KEPT = 1000;
const SILENCE_S = 5;

interface View {
  header: LiveHeader | null;
  samples: Sample[];
  /** The first of the run, or the first that was not skipped. */
  first: Sample | null;
  next: number;
  point: string | null;
  ended: boolean;
  running: boolean;
  /** Has been seen running: its end is news. */
  seen: boolean;
}

const NOTHING: View = { header: null, samples: [], first: null, next: 0, point: null, ended: false, running: true, seen: false };

function kept(samples: Sample[]): Sample[] {
  const last = samples[samples.length - 1];
  if (!last) return samples;
  const from = samples.findIndex((sample) => sample.time_ns >= last.time_ns - (WINDOW_S + 1) * 1e9);
  return samples.slice(Math.max(0, samples.length - MOST_KEPT, Math.min(from, samples.length - FEWEST_KEPT)));
}

/** An answer with a header begins anew: the first one, the next point of a sweep, a run that was replaced. */
function joined(view: View, answer: LiveAnswer): View {
  const before = answer.header ? NOTHING : view;
  return {
    header: answer.header ?? view.header,
    samples: kept([...before.samples, ...answer.samples]),
    first: before.first ?? answer.samples[0] ?? null,
    next: answer.next,
    point: answer.point ?? null,
    ended: answer.ended,
    running: answer.running,
    seen: view.seen || answer.running,
  };
}

function useLive(id: string): { view: View; trouble: string | null } {
  const [view, setView] = useState(NOTHING);
  const [trouble, setTrouble] = useState<string | null>(null);
  useEffect(() => {
    let now = NOTHING;
    const polling = rounds(async () => {
      try {
        const point = now.point === null ? "" : `&point=${encodeURIComponent(now.point)}`;
        now = joined(now, await ask<LiveAnswer>(`/api/live?id=${encodeURIComponent(id)}&from=${now.next}${point}`));
        setView(now);
        setTrouble(null);
        return now.running ? EVERY_MS : 4 * EVERY_MS;
      } catch (error) {
        setTrouble(troubleText(error));
        return 4 * EVERY_MS;
      }
    });
    return polling.stop;
  }, [id]);
  return { view, trouble };
}

/** "1:05" or "2:03:09" */
function clock(seconds: number): string {
  const all = Math.max(0, Math.round(seconds));
  const two = (n: number) => String(n).padStart(2, "0");
  const [h, m, s] = [Math.floor(all / 3600), Math.floor(all / 60) % 60, all % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** Steps a second of the last minute, or of the whole run where that had few. */
function pace(view: View, job: number): number | null {
  const last = view.samples[view.samples.length - 1];
  const steps = (sample: Sample | null | undefined) => sample?.steps[job] ?? 0;
  for (const from of [view.samples[0], view.first]) {
    if (!last || !from || last.time_ns <= from.time_ns) continue;
    const done = steps(last) - steps(from);
    if (done >= 2) return done / ((last.time_ns - from.time_ns) * 1e-9);
  }
  return null;
}

function Progress(props: { view: View; header: LiveHeader; job: number }) {
  const { view, header } = props;
  const job = header.jobs[props.job] as LiveHeader["jobs"][number];
  const done = view.samples[view.samples.length - 1]?.steps[props.job] ?? 0;
  const all = job.steps + job.warmup;
  const rate = pace(view, props.job);
  const over = view.ended || !view.running;
  const facts = [
    rate !== null && `${digits(rounded(rate))} steps/s`,
    rate !== null && `${show("time", rounded(1 / rate))} a step`,
    !over && rate !== null && done < all && `about ${clock((all - done) / rate)} left`,
    !over && done <= job.warmup && "warming up",
    over && done < all && "as it was last seen",
  ].filter(Boolean);
  return (
    <div class="progress">
      <div class="row">
        <h3>{job.name || "job"}</h3>
        <span class="quiet">{[job.model, job.strategy, counted(job.ranks, "rank")].filter(Boolean).join(" · ")}</span>
        <span class="fill" />
        <span>
          step <b class="step">{done}</b> of {all}
          {job.warmup > 0 && <span class="quiet"> ({job.warmup} to warm up)</span>}
        </span>
      </div>
      <Meter share={all > 0 ? done / all : 0} label={`steps of ${job.name}`} />
      <div class="quiet">{facts.join(" · ") || "waiting for the first steps"}</div>
    </div>
  );
}

/** Figures that change twice a second are read to three digits. */
const rounded = (value: number) => Number(value.toPrecision(3));

const secondsOf = (header: LiveHeader, sample: Sample) => (sample.time_ns - header.started_ns) * 1e-9;

/** Distinct capacities, the largest first. */
const capacities = (header: LiveHeader) => [...new Set(header.capacity_bps?.filter((bps) => bps !== null))].sort((a, b) => b - a);

function ratesDrawn(header: LiveHeader, samples: Sample[]): Drawn {
  const from = samples[0] ? secondsOf(header, samples[0]) : 0;
  const last = samples[samples.length - 1];
  // At least ten seconds wide, so that a run that has just begun is not one enormous second.
  const to = Math.max(last ? secondsOf(header, last) : 0, from + 10);
  const xs = [...samples.map((sample) => secondsOf(header, sample)), to];
  const few = header.hosts.length <= MOST_LINES;
  const over = (pick: (sent: number[]) => number) => [...samples.map((sample) => pick(sample.sent_bps)), null];
  const ys: Drawn["ys"] = few
    ? header.hosts.map((_host, i) => ({ values: over((sent) => sent[i] ?? 0) }))
    : [{ values: over((sent) => sent.reduce((sum, each) => sum + each, 0) / Math.max(1, sent.length)), low: over((sent) => Math.min(...sent)), high: over((sent) => Math.max(...sent)) }];
  for (const capacity of capacities(header)) ys.push({ values: xs.map(() => capacity) });
  return { xs, ys };
}

function rateLines(header: LiveHeader): Line[] {
  const hosts = header.hosts.length <= MOST_LINES ? header.hosts : [`mean of ${header.hosts.length} hosts, from the least to the most`];
  return [
    ...hosts.map((label, colour): Line => ({ label, colour })),
    ...capacities(header).map((capacity): Line => ({ label: `link, ${show("rate", capacity)}`, colour: 6, dashed: true })),
  ];
}

/** uPlot stays while data come: they are put into it by its own zoom, which keeps what the reader chose. */
function Rates(props: { header: LiveHeader; samples: Sample[] }) {
  const { header, samples } = props;
  const shown = useRef<{ samples: Sample[]; range: Range | null }>({ samples, range: null });
  shown.current.samples = samples;
  const largest = samples.reduce((most, sample) => sample.sent_bps.reduce((a, b) => Math.max(a, b), most), Math.max(0, ...capacities(header)));
  const unit = unitFor("rate", largest).name;
  const data = useMemo(() => (range: Range | null) => ((shown.current.range = range), ratesDrawn(header, shown.current.samples)), [header, unit]);
  useEffect(() => zoomTo("live-rates", shown.current.range), [samples]);
  useEffect(() => () => zoomTo("live-rates", null), []);
  const table = () => ({
    columns: [{ name: "time", kind: "time" as const }, ...header.hosts.map((name) => ({ name, kind: "rate" as const }))],
    rows: shown.current.samples.map((sample): Cell[] => [secondsOf(header, sample), ...header.hosts.map((_host, i) => sample.sent_bps[i] ?? null)]),
  });
  return (
    <Plot
      id="live-rates"
      title="What each host sends."
      x={{ label: "since the start", kind: "time" }}
      y={{ label: "sent by host", kind: "rate" }}
      lines={rateLines(header)}
      data={data}
      height={matrixHeight(header.hosts.length)}
      table={table}
      how={
        <p>
          What each host sends, counted by its link, or by what its ranks' connections have acknowledged where links are not emulated: the mean since the sample before, so bursts shorter than
          that are not seen. The last {WINDOW_S} s are shown. The run's page will have all of it, from packets.
        </p>
      }
    />
  );
}

function matrixOf(header: LiveHeader, sample: Sample | undefined): Matrix {
  const bytes = header.hosts.map(() => header.hosts.map(() => 0));
  for (const [from, to, sum] of sample?.pairs ?? []) {
    const line = bytes[from];
    if (line && to < line.length) line[to] = sum;
  }
  return { hosts: header.hosts, bytes, left_off: 0 };
}

function Figures(props: { view: View; header: LiveHeader }) {
  const { samples } = props.view;
  const last = samples[samples.length - 1];
  const now = (last?.sent_bps ?? []).reduce((sum, each) => sum + each, 0);
  const moved = (last?.pairs ?? []).reduce((sum, [, , bytes]) => sum + bytes, 0);
  const { hosts, capacity_bps } = props.header;
  const busiest = last?.busiest;
  return (
    <div class="figures four">
      <FigureCard name="running for" value={clock(last ? secondsOf(props.header, last) : 0)} note={`since ${new Date(props.header.started_ns / 1e6).toLocaleTimeString("en-GB")}`} />
      <FigureCard name="moved so far" value={show("bytes", rounded(moved))} note="between ranks, acknowledged" />
      <FigureCard name="sent now" value={show("rate", rounded(now))} note={`by ${counted(hosts.length, "host")} together`} />
      {capacity_bps && <FigureCard name="busiest link" value={show("share", busiest?.share ?? 0)} note={busiest ? `${busiest.link}, ${wayOf(busiest.link, busiest.direction)}` : "of what it can carry"} />}
    </div>
  );
}

/** Seconds without a sample, when that is more than the distance of samples explains. */
function silence(samples: Sample[]): number | null {
  const [before, last] = samples.slice(-2);
  if (!before || !last) return null;
  const seconds = Date.now() * 1e-3 - last.time_ns * 1e-9;
  return seconds > Math.max(SILENCE_S, 3e-9 * (last.time_ns - before.time_ns)) ? seconds : null;
}

function State(props: { view: View; address: string }) {
  const { view } = props;
  const quiet = silence(view.samples);
  // Of a sweep, one point has ended: the next comes.
  if (view.running && (!view.ended || view.point !== null)) {
    if (quiet === null) return null;
    return (
      <div class="banner caution" role="status">
        <p>No news for {clock(quiet)}: the training is over and its packets are being analysed, or something is stuck.</p>
      </div>
    );
  }
  return (
    <div class="banner good" role="status">
      <p>
        {view.running ? (
          <b>The training has ended; the run is being analysed.</b>
        ) : (
          <>
            <b>The run has ended.</b> {view.seen && "Its page opens in a moment: "}
            <a href={props.address}>open its page</a>
          </>
        )}
      </p>
    </div>
  );
}

export function Live(props: { id: string }) {
  const { view, trouble } = useLive(props.id);
  const { header, samples } = view;
  const last = samples[samples.length - 1];
  const address = `#/run/${encodeURIComponent(props.id)}`;
  const over = !view.running && view.seen;
  useEffect(() => {
    if (!over) return;
    // Back then leads to the list, not to the end of this.
    const timer = setTimeout(() => location.replace(address), STAY_MS);
    return () => clearTimeout(timer);
  }, [over]);
  useEffect(() => {
    if (header) document.title = `${header.name}: live`;
  }, [header]);
  const matrix = useMemo(() => header && matrixOf(header, last), [header, last]);
  return (
    <main class="frame one">
      <header class="top">
        <h1>{header?.name ?? "A run"}</h1>
        <p class="facts">
          {view.running && <span class="badge live">live</span>} {header && [view.point, counted(header.hosts.length, "host")].filter(Boolean).join(" · ")}
        </p>
        {trouble && <div class="banner bad" role="alert"><p><b>{trouble}</b> What is shown is old.</p></div>}
        <State view={view} address={address} />
      </header>
      {header && matrix && header.hosts.length > 0 ? (
        <>
          <Figures view={view} header={header} />
          <div class="card">{header.jobs.map((_job, i) => <Progress view={view} header={header} job={i} />)}</div>
          <div class="plots">
            <Rates key={`rates ${view.point} ${header.started_ns}`} header={header} samples={samples} />
            <MatrixPlot
              key={`matrix ${view.point} ${header.started_ns}`}
              id="live-matrix"
              title="Who has sent how much to whom so far."
              matrix={matrix}
              bytesName="acknowledged"
              how={<p>Bytes from each host (rows) to each other (columns) that the receiver has acknowledged since the start, as the kernel tells the ranks of their connections. Colours are logarithmic over three decades.</p>}
            />
          </div>
        </>
      ) : (
        <p class="missing">{view.running ? "Waiting for the run to begin: links and ranks are being made." : "This run has left no live log."}</p>
      )}
    </main>
  );
}
