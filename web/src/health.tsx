// SPDX-License-Identifier: Apache-2.0
// What TCP, the emulated queues and the machine said during the run.

import { useMemo } from "preact/hooks";
import { num, type Packed, type Run, unpack, type Values } from "./data";
import { show } from "./format";
import { Missing, Section, Told } from "./parts";
import { type Drawn, type Line, Plot, type PlotProps } from "./plot";
import type { Cell } from "./table";
import type { Range } from "./zoom";

interface OverTime {
  start_s: number;
  bucket_s: number;
  lines: { label: string; values: Packed }[];
  /** What buckets become when several share a place of the plot. */
  combine: (values: number[]) => number;
}

const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
const largest = (values: number[]) => Math.max(...values);

/** Pixels for each point: more points than that of several lines over one another are a tangle. */
const PIXELS = 4;

function cells(lines: Values[], of: OverTime, range: Range | null, points: number): Drawn {
  const count = lines[0]?.length ?? 0;
  const place = (time: number) => Math.min(count, Math.max(0, Math.floor((time - of.start_s) / of.bucket_s)));
  const [first, last] = range ? [place(range[0]), Math.min(count, place(range[1]) + 1)] : [0, count];
  const per = Math.max(1, Math.ceil(((last - first) * PIXELS) / points));
  const begins: number[] = [];
  for (let i = first; i < last; i += per) begins.push(i);
  return {
    xs: begins.map((i) => of.start_s + (i + per / 2) * of.bucket_s),
    ys: lines.map((line) => ({
      values: begins.map((i) => {
        const some = line.slice(i, i + per).filter((value): value is number => value !== null);
        return some.length > 0 ? of.combine(some) : null;
      }),
    })),
  };
}

type SeriesProps = Pick<PlotProps, "id" | "title" | "how"> & { of: OverTime; y: PlotProps["y"]; full: Range; stepped?: boolean };

/** A plot over time of series that share their buckets; of nothing but zeros there is none. */
function SeriesPlot(props: SeriesProps) {
  if (props.of.lines.some((line) => peak(line.values) > 0)) return <SeriesDrawn {...props} />;
  return (
    <Told id={props.id} title={props.title}>
      No plot: it was zero all the time.
    </Told>
  );
}

function SeriesDrawn(props: SeriesProps) {
  const { of } = props;
  const data = useMemo(() => {
    const lines = of.lines.map((line) => unpack(line.values));
    return (range: Range | null, points: number): Drawn => cells(lines, of, range, points);
  }, [of.lines.map((line) => line.label).join("|"), props.id]);
  return (
    <Plot
      id={props.id}
      title={props.title}
      group="time"
      height={220}
      x={{ label: "time since the first packet", kind: "time", full: props.full }}
      y={props.y}
      lines={of.lines.map((line, i): Line => ({ label: line.label, colour: i, stepped: props.stepped ?? false, spanGaps: true }))}
      data={data}
      table={() => {
        const drawn = data(null, Infinity);
        return {
          columns: [{ name: "time", kind: "time" }, ...of.lines.map((line) => ({ name: line.label, kind: props.y.kind }))],
          rows: drawn.xs.map((x, i): Cell[] => [x, ...drawn.ys.map((line) => line.values[i] ?? null)]),
        };
      }}
      how={
        <>
          {props.how}
          <p>Buckets of {show("time", of.bucket_s)}.</p>
        </>
      }
    />
  );
}

/** The largest value of a packed series. */
const peak = (packed: Packed) => largest(unpack(packed).map((value) => value ?? 0));

const MOST_LINES = 8;

function TcpPlots(props: { run: Run; full: Range }) {
  const sockets = props.run.sockets;
  if (!sockets) return <Missing>sockets.csv is missing or empty: only ranks of <code>run</code> ask TCP about its connections.</Missing>;
  const shown = sockets.connections.slice(0, MOST_LINES);
  const left = sockets.connections.length - shown.length + sockets.left_off;
  const of = (pick: (each: (typeof shown)[number]) => Packed, combine = mean): OverTime => ({
    combine,
    start_s: sockets.start_s,
    bucket_s: sockets.bucket_s,
    lines: shown.map((each) => ({ label: each.name, values: pick(each) })),
  });
  const longest = Math.max(...shown.map((each) => each.rtt_max_s));
  const again = sockets.connections.reduce((sum, each) => sum + each.retransmitted, 0);
  const note = left > 0 ? <p>The connection with the longest round trip and the {shown.length - 1} that had the most to send; {left} others are left off.</p> : null;
  return (
    <>
      <SeriesPlot
        id="rtt"
        title={`Round trips reached ${show("time", longest)}.`}
        y={{ label: "round trip", kind: "time" }}
        full={props.full}
        of={of((each) => each.rtt_max, largest)}
        how={
          <>
            <p>TCP's own smoothed round trip (tcpi_rtt), asked every 10 ms (sockets.csv); the longest of a bucket.</p>
            {note}
          </>
        }
      />
      <div class="plots">
        <SeriesPlot
          id="retransmissions"
          title={`TCP sent ${show("count", again)} packets again.`}
          y={{ label: "packets so far", kind: "count" }}
          full={props.full}
          stepped
          of={of((each) => each.retransmissions, largest)}
          how={<p>Counted by the kernel for each connection since it began (sockets.csv).</p>}
        />
        <SeriesPlot
          id="window"
          title={`TCP dared to have up to ${show("bytes", Math.max(...shown.map((each) => peak(each.window))))} under way.`}
          y={{ label: "congestion window", kind: "bytes" }}
          full={props.full}
          of={of((each) => each.window, largest)}
          how={<p>The congestion window times the segment size (sockets.csv); the largest of a bucket.</p>}
        />
      </div>
    </>
  );
}

export function Health(props: { run: Run; full: Range }) {
  const { queues, load } = props.run;
  const again = num(props.run.summary, "traffic", "retransmitted_share");
  return (
    <Section id="health" title="Transport health" lead={again === null ? undefined : `${show("share", again)} of the payload was captured more than once.`}>
      <TcpPlots run={props.run} full={props.full} />
      <div class="plots">
        {queues && (
          <SeriesPlot
            id="queues"
            title={`The fullest queue before a link held ${show("bytes", Math.max(...queues.hosts.map((host) => peak(host.queue))))}.`}
            y={{ label: "waiting for the line", kind: "bytes" }}
            full={props.full}
            of={{ combine: largest, start_s: queues.start_s, bucket_s: queues.bucket_s, lines: queues.hosts.slice(0, MOST_LINES).map((host) => ({ label: host.name, values: host.queue })) }}
            how={<p>The fullest that each queue was seen in a bucket, asked every 10 ms (samples.csv); those that were the fullest of all.</p>}
          />
        )}
        {load && (
          <SeriesPlot
            id="machine"
            title={`The machine that emulated all this was ${show("share", mean(unpack(load.busy).map((value) => value ?? 0)))} busy.`}
            y={{ label: "share", kind: "share", full: [0, 1] }}
            full={props.full}
            of={{
              combine: mean,
              start_s: load.start_s,
              bucket_s: load.bucket_s,
              lines: [
                { label: "processors busy", values: load.busy },
                { label: "taken by the hypervisor", values: load.steal },
                { label: "a rank ready but not running", values: load.wait },
              ],
            }}
            how={<p>From the kernel's counters (load.csv). An emulation on a busy machine measures the machine; the checks say when that is so.</p>}
          />
        )}
      </div>
    </Section>
  );
}
