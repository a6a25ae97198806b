// SPDX-License-Identifier: Apache-2.0
// Sections that are mostly tables: collectives, links, distributions of flows, provenance.

import { Cdf, type NamedDistribution } from "./cdf";
import { classPlace } from "./colours";
import { at, type Distribution, isSimulated, type Json, list, num, quantile, type Run, str } from "./data";
import { digits, show } from "./format";
import { Missing, Section } from "./parts";
import { type Cell, How, TableView, columns } from "./table";
import { Topology } from "./topology";
import { wayOf } from "./ways";

/** All of a few; of many the first and the last. */
const chain = (hosts: string[]) => (hosts.length <= 9 ? hosts.join(" → ") : `${hosts.slice(0, 4).join(" → ")} → … → ${hosts[hosts.length - 1]} (${hosts.length} hosts)`);

export function Collectives(props: { run: Run }) {
  const found = list(props.run.summary, "collectives");
  const jobs = found.some((each) => str(each, "job") !== null);
  const order = (collective: Json) => chain(list(collective, "order").map(String));
  const runnerUp = (collective: Json) => {
    const probability = num(collective, "runner_up", "probability") ?? 0;
    if (probability < 0.02) return null;
    const ranks = num(collective, "runner_up", "ranks_on_each") ?? 1;
    const strategy = str(collective, "runner_up", "strategy");
    const name = strategy === "unknown" ? str(collective, "runner_up", "operation") : strategy;
    const bytes = ((num(collective, "runner_up", "bytes_per_iteration") ?? 0) / 1e6).toPrecision(4);
    return `${(name ?? "").replace(/_/g, " ")}${ranks > 1 ? ` with ${ranks} ranks on each host` : ""} of ${bytes} MB: ${probability.toFixed(2)}`;
  };
  return (
    <Section id="collectives" title="Collectives" lead="Recognised in the packets, without being told; times and bandwidths are those of the wire, from the first byte of gradients to the last.">
      {found.length === 0 && <Missing>None was recognised: nothing was captured, or no pattern of a collective repeats.</Missing>}
      {found.length > 0 && (
        <div class="card">
          <TableView
            table={{
              columns: columns(`${jobs ? "job|" : ""}operation|strategy|size:bytes|times seen:count|first to last byte:time|algbw:bus|busbw:bus|confidence:share|or|hosts|known by`),
              rows: found.map((each): Cell[] => [
                ...(jobs ? [str(each, "job")] : []),
                (str(each, "operation") ?? "").replace(/_/g, " "),
                str(each, "strategy"),
                num(each, "bytes_per_iteration"),
                num(each, "count"),
                num(each, "time_s"),
                num(each, "algbw_bps"),
                num(each, "busbw_bps"),
                num(each, "confidence"),
                runnerUp(each),
                order(each),
                str(each, "evidence"),
              ]),
            }}
          />
          <How>
            <p>
              Bytes of each pair in each iteration are compared with what the schedules of known strategies would move. The time is the median from the first to the last
              gradient byte of an iteration on the wire; algbw is size over that time, busbw that times the operation's factor, as nccl-tests defines them and in its unit: 1 GB/s are 8 Gbit/s.
              {list(props.run.summary, "jobs").length > 0 ? " The key figures' exchange is another quantity: from the ranks' own log, each rank's own time, averaged over ranks. On the wire it lasts from the first rank's first byte to the last rank's last." : ""}
            </p>
          </How>
        </div>
      )}
    </Section>
  );
}

function Paths(props: { run: Run }) {
  const paths = list(props.run.summary, "network", "paths");
  if (paths.length === 0) return null;
  const name = (path: Json) => `${str(path, "from")}\u00a0>\u00a0${str(path, "to")}`;
  const problems = paths.flatMap((path) => list(path, "problems").map((problem) => `${name(path)}: ${String(problem)}`));
  const lossy = paths.some((path) => num(path, "requested", "loss") || num(path, "effective", "loss"));
  return (
    <div class="card">
      <TableView
        caption="Paths: asked for and found"
        most={40}
        table={{
          columns: columns(`|path|rate asked:rate|found:rate|round trip asked:time|found, median:time|p99:time${lossy ? "|loss asked:share|found:share" : ""}`),
          rows: paths.map((path): Cell[] => [
            { ok: "✓ ok", warn: "! warning", refused: "✗ refused" }[str(path, "fitness") ?? ""] ?? str(path, "fitness"),
            name(path),
            num(path, "requested", "rate_bps"),
            num(path, "effective", "rate_bps"),
            num(path, "requested", "round_trip_s"),
            num(path, "effective", "round_trip_s"),
            num(path, "effective", "round_trip_p99_s"),
            ...(lossy ? [num(path, "requested", "loss"), num(path, "effective", "loss")] : []),
          ]),
        }}
      />
      <ul class="reasons">
        {problems.map((problem) => (
          <li>{problem}</li>
        ))}
      </ul>
      <How>
        <p>What was measured with packets of its own on some paths before the run began, against what the links on the way ask for together.</p>
      </How>
    </div>
  );
}

/** `picture`: whether the network is drawn here. */
export function Links(props: { run: Run; picture: boolean }) {
  const links = list(props.run.summary, "network", "links");
  const counted = new Map((props.run.links ?? []).map((link) => [`${str(link, "link")} ${str(link, "direction")}`, link]));
  if (links.length === 0) return null;
  const lossy = links.some((link) => num(link, "requested", "loss") || num(link, "effective", "path_loss"));
  const measured = !isSimulated(props.run);
  const jittery = links.some((link) => num(link, "requested", "jitter_s"));
  const marking = links.some((link) => num(link, "requested", "ecn_bytes"));
  const counts = links.some((link) => num(link, "counted", "bytes") !== null);
  const [losing, marked] = [links.some((link) => num(link, "counted", "lost_packets")), links.some((link) => num(link, "counted", "marked_packets"))];
  const shared = links.some((link) => list(link, "shares").length > 0);
  const rows = links.map((link): Cell[] => {
    const counter = counted.get(`${str(link, "name")} ${str(link, "direction")}`);
    const asked = num(link, "requested", "rate_bps");
    const got = num(link, "effective", "rate_bps");
    return [
      str(link, "name"),
      wayOf(str(link, "name") ?? "", str(link, "direction")),
      asked,
      ...(measured ? [got, asked && got ? got / asked - 1 : null] : []),
      num(link, "requested", "delay_s"),
      ...(measured ? [num(link, "effective", "path_round_trip_s")] : []),
      ...(lossy ? [num(link, "requested", "loss")] : []),
      ...(lossy && measured ? [num(link, "effective", "path_loss")] : []),
      ...(jittery ? [num(link, "requested", "jitter_s")] : []),
      num(link, "requested", "queue_bytes"),
      ...(marking ? [num(link, "requested", "ecn_bytes")] : []),
      num(link, "counted", "bytes") ?? num(counter, "wire_bytes"),
      ...(counts ? [num(link, "counted", "share"), num(link, "counted", "queue_peak_bytes")] : []),
      num(link, "counted", "dropped_packets") ?? num(counter, "dropped_packets"),
      ...(losing ? [num(link, "counted", "lost_packets")] : []),
      ...(marked ? [num(link, "counted", "marked_packets")] : []),
      ...(shared ? [list(link, "shares").map((each) => `${str(each, "of")} ${show("share", num(each, "share"))}`).join(", ")] : []),
    ];
  });
  return (
    <Section id="links" title="Network and links">
      {props.picture && <Topology run={props.run} />}
      <div class="card">
        <TableView
          caption={measured ? "Links: asked for and in effect" : "Links: what each is and carried"}
          table={{
            columns: columns(`link|direction|rate asked:rate|${measured ? "in effect:rate|difference:share|" : ""}delay asked:time|${measured ? "path's round trip:time|" : ""}${lossy ? "loss asked:share|" : ""}${lossy && measured ? "path's loss:share|" : ""}${jittery ? "jitter asked:time|" : ""}queue:bytes|${marking ? "marks from:bytes|" : ""}carried:bytes|${counts ? "used:share|queue, fullest:bytes|" : ""}dropped:count${losing ? "|lost as asked:count" : ""}${marked ? "|marked:count" : ""}${shared ? "|by" : ""}`),
            rows,
          }}
        />
        <How>
          {!measured && (
            <p>
              Asked is what the experiment says. Carried is what went over the link in the simulation, headers included (links.csv), used its mean from beginning to end over the rate asked for. A flow level has no
              packets: it counts those that its bytes would take.
            </p>
          )}
          {measured && <p>
            Asked is what the experiment says (divided by run.scale); in effect is what was measured on paths over the link before the run, where no other link on the way is narrower. Carried and dropped are what
            the link and its queue counted during the run (links.csv); used is the mean while steps were measured over the rate asked for. Dropped packets found the queue full.
          </p>}
        </How>
      </div>
      <Paths run={props.run} />
    </Section>
  );
}

export function Distributions(props: { run: Run }) {
  const flows = props.run.flows;
  const of = (pick: "bytes" | "duration_s" | "rate_bps" | "rtt_s"): NamedDistribution[] =>
    Object.entries(flows ?? {}).flatMap(([name, parts]) => {
      const distribution: Distribution | null = parts[pick];
      return distribution && distribution.max > 0 ? [{ name, colour: classPlace(name), of: distribution }] : [];
    });
  const how = <p>Directed flows of flows.csv by class; a flow is a connection in one direction.</p>;
  const sizes = of("bytes");
  const perIteration = props.run.transfers?.sizes ?? null;
  const model = num(props.run.summary, "model_bytes");
  const times = of("duration_s");
  const trips = of("rtt_s");
  return (
    <Section id="distributions" title="Distributions of flows">
      {sizes.length === 0 && <Missing>flows.csv is missing or empty: nothing was captured.</Missing>}
      <div class="plots">
        {perIteration && (
          <Cdf
            id="iteration-sizes"
            title={`A pair carries ${show("bytes", quantile(perIteration, 0.5))} of gradients in an iteration${model ? `: ${digits(Number((quantile(perIteration, 0.5) / model).toPrecision(3)))} times the model` : ""} (median).`}
            label="gradients of a pair in an iteration"
            kind="bytes"
            all={[{ name: "pair and iteration", colour: 0, of: perIteration }]}
            how={
              <p>
                Distinct payload of gradient flows, one value for each pair of hosts in each iteration (iteration_pairs.csv).{" "}
                {model ? `The model has ${show("bytes", model)}, as recognised in the packets. In a ring of N each pair carries 2 (N − 1)/N of it.` : ""}
              </p>
            }
          />
        )}
        {sizes.length > 0 && <Cdf id="flow-sizes" title={`The largest flow carried ${show("bytes", Math.max(...sizes.map((each) => each.of.max)))}.`} label="distinct payload" kind="bytes" log all={sizes} how={how} />}
        {times.length > 0 && <Cdf id="flow-durations" title={`Flows lasted up to ${show("time", Math.max(...times.map((each) => each.of.max)))}.`} label="from first to last packet" kind="time" log all={times} how={how} />}
        {trips.length > 0 && (
          <Cdf
            id="flow-rtt"
            title={`Mean round trips of flows reach ${show("time", Math.max(...trips.map((each) => each.of.max)))}.`}
            label="mean round trip of a flow, as captured"
            kind="time"
            log
            all={trips}
            how={<p>From a segment to its acknowledgement at the point of capture; near the receiver that is shorter than the whole way.</p>}
          />
        )}
      </div>
    </Section>
  );
}

const WRITTEN: [RegExp, [number, string][]][] = [
  [/_bps$/, [[1e9, "Gbit"], [1e6, "Mbit"], [1e3, "kbit"], [1, "bit"]]],
  [/_ns$/, [[1e9, "s"], [1e6, "ms"], [1e3, "us"], [1, "ns"]]],
  [/_bytes$/, [[1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]]],
];

/** A key and its value as `--set` takes them: "network.rate" and "10Gbit". */
function asWritten(path: string, value: Json): [string, string] {
  const key = path.replace(/^jobs\b/, "job").replace(/^network\.links\b/, "network.link");
  const [ending, units] = WRITTEN.find(([pattern]) => pattern.test(key)) ?? [null, []];
  if (ending && typeof value === "number") {
    const [size, unit] = units.find(([least]) => Math.abs(value) >= least) ?? [1, ""];
    return [key.replace(ending, ""), `${value / size}${unit}`];
  }
  const inner = value !== null && typeof value === "object" && !Array.isArray(value) ? Object.entries(value) : [];
  const text = inner.length === 1 && typeof inner[0]?.[1] === "number" ? `${inner[0][1]}${inner[0][0] === "bdp" ? "bdp" : ""}` : value === null ? "none" : typeof value === "object" ? JSON.stringify(value) : String(value);
  return [ending ? key.replace(ending, "") : key, text];
}

function settingRows(json: Json, path: string, rows: Cell[][]) {
  if (json === null || typeof json !== "object") return;
  const origin = str(json, "origin");
  if (origin !== null) {
    rows.push([...asWritten(path, at(json, "value")), origin]);
    return;
  }
  for (const [key, part] of Object.entries(json)) settingRows(part as Json, path ? `${path}.${key}` : key, rows);
}

export function Provenance(props: { run: Run }) {
  const { run } = props;
  const settings: Cell[][] = [];
  settingRows(at(run.summary, "experiment"), "", settings);
  const command = list(run.provenance, "command_line").join(" ");
  const own = settings.filter((row) => row[2] !== "default" && row[2] !== "derived");
  const rest = settings.filter((row) => !own.includes(row));
  const settingColumns = columns("setting|value|from");
  return (
    <div class="card">
      <h3>{run.label}</h3>
      <pre>{command}</pre>
      <p class="facts">
        Made by trainwire {str(run.provenance, "version")} ({str(run.provenance, "commit")}), started {str(run.provenance, "started")}, folder {run.path}.
      </p>
      <TableView
        table={{
          columns: [{ name: "input" }, { name: "size", kind: "bytes" }, { name: `hash (${str(run.provenance, "input_hash") ?? "–"})` }],
          rows: list(run.provenance, "inputs").map((input): Cell[] => [str(input, "path"), num(input, "bytes"), str(input, "hash")]),
        }}
      />
      {own.length > 0 && <TableView caption="What the experiment sets" table={{ columns: settingColumns, rows: own }} />}
      {rest.length > 0 && (
        <details>
          <summary>{rest.length} defaults and derived values</summary>
          <TableView table={{ columns: settingColumns, rows: rest }} />
        </details>
      )}
    </div>
  );
}
