// SPDX-License-Identifier: Apache-2.0
// What `trainwire export` writes, read back by hyparquet, sqlite3, JSON and a decoder of our own: export.mjs
// PROGRAM TREE. Every field of every row is compared with the run's CSV.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet";
import { compressors } from "hyparquet-compressors";

const [program, tree] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "trainwire-export-"));
const place = (...names) => join(folder, ...names);
const trainwire = (...words) =>
  execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"], maxBuffer: 1 << 28 });
const schema = Object.fromEntries(JSON.parse(trainwire("schema", "--json")).tables.map((table) => [table.name, table.columns]));

/** Rows of a CSV after RFC 4180. */
function parseCsv(text) {
  const rows = [];
  let row = [];
  let field = "";
  let quoted = false;
  for (let i = 0; i < text.length; ++i) {
    const c = text[i];
    if (quoted) {
      if (c !== '"') field += c;
      else if (text[i + 1] === '"') field += text[++i];
      else quoted = false;
    } else if (c === '"') quoted = true;
    else if (c === ",") (row.push(field), (field = ""));
    else if (c === "\n" || (c === "\r" && text[i + 1] === "\n")) {
      if (c === "\r") ++i;
      rows.push([...row, field]);
      row = [];
      field = "";
    } else field += c;
  }
  return rows;
}

const typed = { integer: (text) => BigInt(text), real: (text) => Number(text), text: (text) => text };

/** The rows of a table as objects of typed values, null where a field is empty, with what the schema adds. */
function rowsOf(path, columns) {
  // Bytes that are no UTF-8 become U+FFFD one by one in both; Node's decoder does the same here.
  const [header, ...rows] = parseCsv(readFileSync(path, "utf8").replaceAll("\0", "\ufffd"));
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(({ name, type }) => {
        const text = row[header.indexOf(name)] ?? "";
        return [name, text === "" ? null : typed[type](text)];
      }),
    ),
  );
}

async function parquetRows(path) {
  const file = await asyncBufferFromFile(path);
  const metadata = await parquetMetadataAsync(file);
  return { metadata, rows: await parquetReadObjects({ file, metadata, compressors }) };
}

/** JSON.parse with integers of 64 bits. */
function parseLine(line, columns) {
  const row = JSON.parse(line);
  const exact = new Map([...line.matchAll(/"([a-z0-9_]+)":(-?\d+)(?=[,}])/g)].map(([, name, digits]) => [name, BigInt(digits)]));
  for (const { name, type } of columns) if (type === "integer" && row[name] !== null) row[name] = exact.get(name);
  return row;
}

const sqlite = (database, sql) =>
  execFileSync("sqlite3", ["-csv", database, sql], { encoding: "utf8", maxBuffer: 1 << 28 });

function sqliteRows(database, table, columns) {
  const names = columns.map(({ name }) => `"${name}"`);
  return parseCsv(sqlite(database, `select ${names.join(",")} from "${table}" order by rowid`)).map((row) =>
    Object.fromEntries(columns.map(({ name, type }, i) => [name, row[i] === "" ? null : typed[type](row[i])])),
  );
}

/** sqlite3 prints 15 digits of a real number. */
function near(found, wanted) {
  for (const [name, value] of Object.entries(wanted)) {
    if (typeof value === "number" && found[name] !== null) {
      assert.ok(Math.abs(found[name] - value) <= 1e-14 * Math.abs(value), `${name}: ${found[name]} for ${value}`);
    } else assert.equal(found[name], value, name);
  }
}

/** All tables of `run`, exported in all formats of tables, are what its CSV files say. */
async function compareTables(run, out, { exact = true } = {}) {
  const database = join(out, "run.sqlite");
  let fields = 0;
  for (const name of Object.keys(schema)) {
    const source = join(run, `${name}.csv`);
    if (!existsSync(source)) continue;
    const columns = schema[name];
    const wanted = rowsOf(source, columns);
    const { metadata, rows } = await parquetRows(join(out, `${name}.parquet`));
    assert.deepEqual(rows, wanted, `${name}.parquet`);
    assert.equal(metadata.num_rows, BigInt(wanted.length));
    assert.equal(metadata.row_groups.length, Math.ceil(wanted.length / 131072));
    const about = JSON.parse(metadata.key_value_metadata.find(({ key }) => key === "trainwire").value);
    assert.deepEqual(about.columns, columns);
    const lines = readFileSync(join(out, `${name}.jsonl`), "utf8").split("\n").slice(0, -1);
    assert.deepEqual(lines.map((line) => parseLine(line, columns)), wanted, `${name}.jsonl`);
    assert.deepEqual(rowsOf(join(out, `${name}.csv`), columns), wanted, `${name}.csv`);
    if (exact) {
      const stored = sqliteRows(database, name, columns);
      assert.equal(stored.length, wanted.length);
      stored.forEach((row, i) => near(row, wanted[i]));
    }
    fields += wanted.length * columns.length;
  }
  assert.ok(fields > 0);
  return fields;
}

/** The native trace by its decoder, and the other one has the same slices. */
function compareTraces(run, out) {
  const trace = JSON.parse(
    execFileSync("python3", [new URL("export_trace.py", import.meta.url).pathname, join(out, "run.perfetto-trace"), run], { encoding: "utf8" }),
  );
  const chrome = JSON.parse(readFileSync(join(out, "run.trace.json"), "utf8"));
  const of = (phase) => chrome.traceEvents.filter(({ ph }) => ph === phase);
  assert.equal(of("X").length, trace.slices);
  assert.equal(of("C").length, trace.values);
  assert.equal(of("M").length, trace.tracks.process + (trace.tracks.thread ?? 0));
  assert.equal(chrome.otherData.start_ns, trace.first_ns);
  assert.ok(of("X").every(({ ts, dur }) => ts >= 0 && dur >= 0));
  return trace;
}

const everything = "csv,json,parquet,sqlite,perfetto,chrome,figures";

function exported(run, ...options) {
  const out = place(`${run}-export`);
  const document = JSON.parse(trainwire("export", run, "--to", everything, "--json", ...options));
  for (const { path, bytes } of document.files) assert.equal(readFileSync(place(path)).length, bytes, path);
  const there = readdirSync(out, { recursive: true }).filter((name) => name !== "figures" && name !== "export.json");
  assert.deepEqual(there.sort(), document.files.map(({ path }) => path.slice(`${run}-export/`.length)).sort());
  return { out, document };
}

const experiment = `name = "ring of three"\n[network]\nhosts = 3\n[[job]]\nparameters = "1MB"\nranks = 3\nstrategy = "ring"\nsteps = 20\nwarmup = 1\ncompute_time = "5ms"\n`;

async function measured() {
  writeFileSync(place("ring.toml"), experiment);
  trainwire("run", "ring.toml", "--on", "loopback", "-o", "ring.run");
  const { out, document } = exported("ring.run");
  const fields = await compareTables(place("ring.run"), out);
  const trace = compareTraces(place("ring.run"), out);
  assert.ok(trace.of_steps >= 3 * 21 * 5, `${trace.of_steps} slices of steps`);
  assert.ok(trace.names.includes("rank 0 to 1: rtt"));
  console.log(`measured run: ${fields} fields, ${trace.slices} slices, ${trace.values} values, ${document.files.length} files`);
}

async function analysed() {
  trainwire("analyze", join(tree, "tests/captures/ddp4_straggler.pcap.zst"), "-o", "capture.run");
  const { out } = exported("capture.run");
  const fields = await compareTables(place("capture.run"), out);
  const trace = compareTraces(place("capture.run"), out);
  assert.ok(trace.names.includes("all traffic") && trace.names.includes("iterations"));
  // Sums and a join by SQL are those of the CSV files.
  const database = join(out, "run.sqlite");
  const flows = rowsOf(place("capture.run", "flows.csv"), schema.flows);
  const windows = rowsOf(place("capture.run", "windows.csv"), schema.windows);
  const sum = (rows, name) => rows.reduce((total, row) => total + row[name], 0n);
  assert.equal(sqlite(database, "select sum(wire_bytes) from flows").trim(), String(sum(flows, "wire_bytes")));
  const gradient = new Set(flows.filter((flow) => flow.class === "gradient").map(({ flow }) => flow));
  assert.equal(
    sqlite(database, "select sum(w.wire_bytes) from windows w join flows f using (flow) where f.class = 'gradient'").trim(),
    String(sum(windows.filter(({ flow }) => flow !== null && gradient.has(flow)), "wire_bytes")),
  );
  assert.equal(sqlite(database, "select unit from columns where table_name = 'flows' and column_name = 'rtt_mean_ns'").trim(), "ns");
  assert.equal(sqlite(database, "pragma integrity_check").trim(), "ok");
  console.log(`analysed capture: ${fields} fields, ${trace.slices} slices, ${trace.values} values`);
}

function handMade(name, tables) {
  mkdirSync(place(name));
  const document = { schema: 1, program: "trainwire", command: "run", complete: true, provenance: {}, summary: {} };
  writeFileSync(place(name, "run.json"), JSON.stringify(document));
  for (const [table, content] of Object.entries(tables)) writeFileSync(place(name, `${table}.csv`), content);
}

/** Texts that formats stumble over, and bytes that are no text. */
async function hostile() {
  const names = ['"quo""ted"', '"com,ma"', '"line\nend"', "back\\slash", "'; drop table pairs; --", "größe 模型 🚀", "`id`", "\x1b[2J"];
  const rows = names.map((name, i) => `${name},b,${i},${9007199254740993n + BigInt(i)},,-5,\n`);
  const head = "from,to,packets,wire_bytes,payload_bytes,stream_bytes,retransmitted_bytes\n";
  handMade("hostile.run", { pairs: Buffer.concat([Buffer.from(head + rows.join("")), Buffer.from([0x61, 0xff, 0x00, 0xc3, 0x2c]), Buffer.from("b,1,2,3,4,5\n")]) });
  const { out, document } = exported("hostile.run");
  await compareTables(place("hostile.run"), out);
  assert.ok(document.notes.some((note) => note.includes("were replaced in 1 field")), document.notes.join("; "));
  console.log("hostile names: kept, replaced where they are no text");
}

/** More rows than a row group, with columns that are empty for long and then are not. */
async function long() {
  const lines = ["scope,from,to,flow,start_ns,width_ns,wire_bytes"];
  for (let i = 0; i < 300_000; ++i) {
    const kind = i % 3;
    lines.push(`${["total", "pair", "flow"][kind]},${kind ? "host" + (i % 7) : ""},${kind ? "host" + (i % 5) : ""},${i < 140_000 || kind < 2 ? "" : i % 11},${1794769187670000000n + BigInt(i) * 1000000n},1000000,${(i * 7919) % 100000}`);
  }
  handMade("long.run", { windows: lines.join("\n") + "\n", load: "time_ns,busy_share,steal_share,wait_share\n" });
  const { out, document } = exported("long.run", "--events", "5000");
  const fields = await compareTables(place("long.run"), out, { exact: false });
  assert.equal(sqlite(join(out, "run.sqlite"), "select count(*), count(flow), count(distinct flow) from windows").trim(), "300000,53334,11"); // every third from 140,000 to 299,999
  const trace = compareTraces(place("long.run"), out);
  assert.ok(trace.slices + trace.values <= 5000, `${trace.slices + trace.values} events`);
  assert.ok(document.notes.some((note) => note.includes("rates are means over")));
  console.log(`long table: ${fields} fields in 3 row groups, ${trace.values} values under the cap`);
}

async function sweep() {
  writeFileSync(place("sweep.toml"), `${experiment.replace("steps = 20", "steps = 5")}\n[sweep]\n"job.compute_time" = ["1ms", "3ms"]\n`);
  trainwire("run", "sweep.toml", "--on", "loopback", "-o", "sweep.run");
  const out = place("sweep.run-export");
  trainwire("export", "sweep.run", "--to", everything);
  const columns = [{ name: "point", type: "text" }, ...schema.steps];
  const wanted = ["point-000", "point-001"].flatMap((point) => rowsOf(place("sweep.run", point, "steps.csv"), schema.steps).map((row) => ({ point, ...row })));
  assert.deepEqual((await parquetRows(join(out, "steps.parquet"))).rows, wanted);
  assert.deepEqual(rowsOf(join(out, "steps.csv"), columns), wanted);
  const settings = (await parquetRows(join(out, "settings.parquet"))).rows;
  assert.deepEqual(settings.map(({ point, key }) => `${point} ${key}`), ["point-000 job.compute_time", "point-001 job.compute_time"]);
  assert.equal(sqlite(join(out, "run.sqlite"), "select count(*) from steps join points using (point) join settings using (point)").trim(), String(wanted.length));
  for (const name of ["point-000.perfetto-trace", "point-001.trace.json", "figures/step_time_by_setting.csv"]) assert.ok(existsSync(join(out, name)), name);
  console.log(`sweep: ${wanted.length} rows of two points joined`);
}

/** A place that is full or may not be written: one line says so, and no half of a file stays. */
function noPlace() {
  for (const [options, reason] of [["size=256k", /No space left|disk is full/], ["ro", /Read-only/]]) {
    for (const format of ["csv", "parquet", "sqlite", "perfetto"]) {
      const script = `mount -t tmpfs -o ${options} none "$0" || exit 99; "$1" export long.run --to ${format} -o "$0/out"; code=$?; find "$0" -name '*.part' -o -name '*.sqlite*' -o -name 'windows*'; exit $code`;
      mkdirSync(place("small"), { recursive: true });
      const done = spawnSync("unshare", ["-rm", "sh", "-c", script, place("small"), program], { cwd: folder, encoding: "utf8" });
      if (done.status === 99 || done.error || /unshare/.test(done.stderr)) {
        console.log("no file system of a test's own may be mounted here: not tried");
        return;
      }
      assert.equal(done.status, 3, `${options} ${format}: ${done.stderr}`);
      assert.match(done.stderr, reason);
      assert.match(done.stderr, /--out\n$/);
      assert.equal(done.stderr.trim().split("\n").length, 1, done.stderr);
      assert.equal(done.stdout, "");
    }
  }
  console.log("full and read-only places: one error, no half files");
}

try {
  await measured();
  await analysed();
  await hostile();
  await long();
  await sweep();
  noPlace();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
