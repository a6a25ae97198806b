// SPDX-License-Identifier: Apache-2.0
// Reports of real runs in Chromium, opened from file:// without network: report_page.mjs PROGRAM TREE.
// Looks at pixels and texts, for a page can be blank without an error. Leaves screenshots beside itself.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { drawnPixels, launch, runTests, watchedTab } from "./page.mjs";

const [program, tree] = process.argv.slice(2);
const shots = fileURLToPath(new URL(".", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "trainwire-page-"));
const HOSTILE = "<script>window.broken=1</script><img src=x onerror='window.broken=1'>";

const trainwire = (...words) => execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

/** A run on this machine's loopback: steps, phases and sockets of real ranks. */
function measuredRun() {
  writeFileSync(
    join(folder, "ring.toml"),
    'name = "ring of three"\n[network]\nhosts = 3\n[[job]]\nparameters = "1MB"\nranks = 3\nstrategy = "ring"\nsteps = 100\nwarmup = 1\ncompute_time = "10ms"\n',
  );
  trainwire("run", "ring.toml", "--on", "loopback", "-o", "ring.run");
  return "ring.run";
}

function analysedCapture() {
  trainwire("analyze", join(tree, "tests/captures/ddp4_straggler.pcap.zst"), "-o", "capture.run");
  return "capture.run";
}

/** Names that would run as script if they were taken for HTML, in every place that names can reach. */
function hostileRun() {
  const run = join(folder, "hostile.run");
  mkdirSync(run);
  const times = [0.1, 0.2, 0.15];
  const finding = { text: HOSTILE, severity: HOSTILE };
  writeFileSync(
    join(run, "run.json"),
    JSON.stringify({
      schema: 1,
      program: "trainwire",
      command: HOSTILE,
      complete: false,
      partial: HOSTILE,
      provenance: { command_line: ["trainwire", HOSTILE], started: HOSTILE, inputs: [{ path: HOSTILE }] },
      summary: {
        experiment: { name: { value: HOSTILE, origin: "file" } },
        jobs: [{ name: HOSTILE, ranks: 1, step: { median_s: 0.15, times_s: times } }],
        findings: [finding],
        checks: [{ name: HOSTILE, ok: false, text: HOSTILE, expected: HOSTILE, found: HOSTILE }],
        collectives: [{ operation: HOSTILE, strategy: HOSTILE, order: [HOSTILE], evidence: HOSTILE }],
        quality: { level: "good", reasons: [HOSTILE] },
      },
    }),
  );
  const name = `"${HOSTILE}"`;
  writeFileSync(join(run, "pairs.csv"), `from,to,wire_bytes\n${name},b,100\n`);
  writeFileSync(join(run, "flows.csv"), `flow,source,source_port,destination,destination_port,protocol,class,first_ns,last_ns,wire_bytes,stream_bytes\n0,${name},1,b,2,${name},${name},0,9000,100,90\n`);
  writeFileSync(join(run, "iteration_pairs.csv"), `iteration,from,to,gradient_bytes,first_ns,last_ns\n0,${name},b,100,0,5000\n`);
  writeFileSync(join(run, "windows.csv"), `scope,from,to,flow,start_ns,width_ns,wire_bytes\ntotal,,,,0,1000,100\ntotal,,,,5000,1000,9\npair,${name},b,,0,1000,100\n`);
  return "hostile.run";
}

/** A dumbbell of four hosts: 1 MB from host1 to host2 in the second that was captured. */
function networkRun() {
  const run = join(folder, "network.run");
  mkdirSync(run);
  const value = (of) => ({ value: of, origin: "file" });
  const links = ["host0", "host1", "host2", "host3", "core"].flatMap((name) =>
    ["from_host", "to_host"].map((direction) => ({ name, direction, requested: { rate_bps: name === "core" ? 1e7 : 1e8 }, effective: null })),
  );
  const summary = {
    experiment: { network: { topology: value("dumbbell"), hosts: value(4), left: value(2) }, jobs: [{ placement: value(["host0", "host1"]) }] },
    network: { links, paths: [{ from: "host0", to: "host1", fitness: "ok", requested: { rate_bps: 1e8 }, effective: { rate_bps: 9.9e7 }, problems: [] }] },
    capture: { duration_s: 1 },
  };
  writeFileSync(join(run, "run.json"), JSON.stringify({ schema: 1, program: "trainwire", command: "run", complete: true, summary }));
  writeFileSync(join(run, "pairs.csv"), "from,to,wire_bytes\nhost1,host2,1000000\nhost0,host1,500\n");
  writeFileSync(join(run, "steps.csv"), "rank,step,phase,start_ns,end_ns,job\n0,0,step,1000000000,3000000000,job0\n");
  writeFileSync(join(run, "samples.csv"), "time_ns,host,sent_bytes,received_bytes\n0,host0,0,0\n1000000000,host0,1000,0\n3000000000,host0,251000,0\n4000000000,host0,999000,0\n");
  return "network.run";
}

const browser = await launch();

/** The report of `sources`, opened; fails on any request but for the page itself, and on any error. */
async function opened(name, ...sources) {
  const path = join(folder, `${name}.html`);
  trainwire("report", ...sources, "-o", path);
  const { tab, troubles } = await watchedTab(browser);
  tab.on("request", (request) => !/^(blob|data):/.test(request.url()) && request.url() !== `file://${path}` && troubles.push(`request for ${request.url().slice(0, 80)}`));
  await tab.setOfflineMode(true);
  await tab.goto(`file://${path}`, { waitUntil: "load" });
  await tab.waitForSelector("main h1");
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { tab, troubles, bytes: statSync(path).size };
}

async function assertDrawn(tab, name) {
  const plots = await drawnPixels(tab);
  for (const { id, coloured } of plots) assert.ok(coloured > 20, `${name}: plot ${id} has only ${coloured} coloured pixels`);
  return plots.map((plot) => plot.id);
}

/** Moves the mouse to a share of the plot's width and gives the text that appears. */
async function readoutAt(tab, id, share) {
  const area = await tab.$(`#${id} .u-over`);
  await area.scrollIntoView();
  const box = await area.boundingBox();
  await tab.mouse.move(box.x + box.width * share, box.y + box.height / 2);
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(done)));
  return tab.$eval(`#${id} .place`, (element) => element.textContent);
}

async function drag(tab, id, from, to) {
  const area = await tab.$(`#${id} .u-over`);
  await area.scrollIntoView();
  const box = await area.boundingBox();
  const y = box.y + box.height / 2;
  await tab.mouse.move(box.x + box.width * from, y);
  await tab.mouse.down();
  await tab.mouse.move(box.x + box.width * to, y, { steps: 4 });
  await tab.mouse.up();
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

const seconds = (text) => {
  const [number, unit] = text.split(" ");
  return Number(number.replace(/,/g, "")) * { s: 1, ms: 1e-3, "µs": 1e-6, ns: 1e-9 }[unit];
};

async function assertZooms(tab, id) {
  const before = seconds(await readoutAt(tab, id, 0.9));
  await drag(tab, id, 0.2, 0.4);
  assert.equal((await tab.$$("figure.plot button.reset")).length > 0, true, "zooming offers the way back");
  // A fifth of the axis, from 0.2 to 0.4: at 0.9 of the plot there is now what was at 0.38.
  const zoomed = seconds(await readoutAt(tab, id, 0.9));
  assert.ok(Math.abs(zoomed / before - 0.38 / 0.9) < 0.08, `drag zoom: ${before} s became ${zoomed} s`);
  await tab.focus(`#${id} .drawing`);
  await tab.keyboard.press("0");
  const back = seconds(await readoutAt(tab, id, 0.9));
  assert.ok(Math.abs(back / before - 1) < 0.05, `key 0 shows all: ${before} s, then ${back} s`);
}

/** What the buttons of a plot save: its CSV and SVG as text, type and size of all. */
async function savedBy(tab, id) {
  return tab.evaluate(async (plot) => {
    const blobs = [];
    const create = URL.createObjectURL;
    URL.createObjectURL = (blob) => (blobs.push(blob), create(blob));
    for (const button of document.querySelectorAll(`#${plot} .tools button:not(.reset)`)) button.click();
    for (let i = 0; i < 50 && blobs.length < 3; i++) await new Promise((done) => setTimeout(done, 100));
    URL.createObjectURL = create;
    const of = (type) => blobs.find((blob) => blob.type === type);
    return { csv: await of("text/csv")?.text(), svg: await of("image/svg+xml")?.text(), png: of("image/png")?.size ?? 0 };
  }, id);
}

/** An SVG file as the browser's own XML reader takes it. */
const readSvg = (tab, text) =>
  tab.evaluate((source) => {
    const file = new DOMParser().parseFromString(source, "image/svg+xml");
    const all = (name) => [...file.querySelectorAll(name)];
    return {
      broken: all("parsererror").length,
      root: file.documentElement.localName,
      names: [...new Set(all("*").map((element) => element.localName))],
      text: all("text, title").map((element) => element.textContent).join("\n"),
      // What has a colour is data: axes and texts are grey.
      coloured: all("path, line, polygon").filter((element) => {
        const [r, g, b] = (/^#(..)(..)(..)$/.exec(element.getAttribute("stroke") ?? element.getAttribute("fill") ?? "")?.slice(1).map((part) => parseInt(part, 16)) ??
          /(\d+),(\d+),(\d+)/.exec(element.getAttribute("stroke") ?? element.getAttribute("fill") ?? "")?.slice(1).map(Number)) ?? [0, 0, 0];
        return Math.max(r, g, b) - Math.min(r, g, b) > 30 && /[\dL]/.test(element.getAttribute("d") ?? "1");
      }).length,
      badPaths: all("path").filter((path) => !/^M/.test(path.getAttribute("d") ?? "")).length,
    };
  }, text);

const SVG_NAMES = new Set(["svg", "title", "path", "text", "g", "clipPath", "rect", "line", "polygon"]);

/** Every drawing of the page can be taken away, explains itself and has a table. */
async function assertWhole(tab, name) {
  const figures = await tab.$$eval("figure.plot", (all) => all.map((figure) => ({ id: figure.id, title: figure.querySelector("h3").textContent })));
  assert.ok(figures.length > 0);
  assert.equal(new Set(figures.map(({ id }) => id)).size, figures.length, `${name}: ids are not unique`);
  for (const { id, title } of figures) {
    const { csv, svg, png } = await savedBy(tab, id);
    assert.ok(csv && csv.split("\n").length > 2 && csv.split("\n")[0].includes(","), `${name} ${id}: CSV ${csv?.slice(0, 80)}`);
    assert.ok(png > 1000, `${name} ${id}: PNG of ${png} bytes`);
    const drawing = await readSvg(tab, svg ?? "");
    assert.equal(drawing.broken, 0, `${name} ${id}: the SVG is no XML`);
    assert.equal(drawing.root, "svg");
    assert.deepEqual(drawing.names.filter((each) => !SVG_NAMES.has(each)), [], `${name} ${id}: elements of the SVG`);
    assert.ok(drawing.coloured > 0, `${name} ${id}: the SVG has no data in it`);
    assert.equal(drawing.badPaths, 0, `${name} ${id}: paths that begin nowhere`);
    if (id !== "topology") assert.ok(drawing.text.includes(title), `${name} ${id}: the SVG lacks its title`);
    const folds = await tab.$$eval(`#${id} summary`, (all) => all.map((each) => each.textContent));
    assert.deepEqual(folds, ["Table", "How is this computed?"], `${name} ${id}`);
    await tab.$eval(`#${id} details`, (details) => (details.open = true));
    await tab.waitForSelector(`#${id} details tbody td`);
    const how = await tab.$eval(`#${id} details.how`, (details) => details.textContent.length);
    assert.ok(how > 60, `${name} ${id}: says hardly how it is computed`);
  }
  return figures.map(({ id }) => id);
}

/** Clicks the button of a choice by its text. */
async function choose(tab, section, text) {
  const found = await tab.$$eval(`#${section} .choice button`, (all, wanted) => all.filter((button) => button.textContent === wanted).map((button) => button.click()).length, text);
  assert.equal(found, 1, `a choice "${text}" in ${section}`);
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
}

async function assertFits(tab, name) {
  for (const width of [1280, 800]) {
    await tab.setViewport({ width, height: 900 });
    await new Promise((done) => setTimeout(done, 300));
    const excess = await tab.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(excess <= 0, `${name} is ${excess} px wider than ${width} px`);
    await tab.screenshot({ path: join(shots, `${name}-${width}.png`) });
  }
}

async function assertDark(tab) {
  const ground = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: "dark" }]);
  await new Promise((done) => setTimeout(done, 300));
  assert.notEqual(await ground(), light, "dark mode changes the ground");
  await assertDrawn(tab, "dark");
  await tab.screenshot({ path: join(shots, "dark.png") });
}

/** On paper: no links and buttons, every plot there. */
async function assertPrints(tab) {
  await tab.emulateMediaType("print");
  await new Promise((done) => setTimeout(done, 300));
  for (const part of ["nav", ".tools"]) assert.equal(await tab.$eval(part, (element) => getComputedStyle(element).display), "none", `${part} is not printed`);
  await assertDrawn(tab, "print");
  const pdf = Buffer.from(await tab.pdf({ printBackground: true }));
  assert.equal(pdf.subarray(0, 5).toString(), "%PDF-");
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  assert.ok(pages >= 3, `${pages} printed pages`);
  await tab.emulateMediaType("screen");
}

/** Flows one by one, and instead of them what pairs carried in iterations. */
async function assertFlows(tab) {
  assert.match(await readoutAt(tab, "flow-rows", 0.5), /^[\d.]+:\d+ > [\d.]+:\d+ \(\w+\): [\d.,]+ [kMG]?B in [\d.]+ [mµn]?s, mean [\d.,]+ [kMG]?bit\/s/);
  const { csv } = await savedBy(tab, "flow-rows");
  assert.match(csv, /^flow,protocol,class,start \(s\),length \(s\),frames \(bytes\),mean rate \(bps\)\n/);
  await choose(tab, "flows", "transfers of each iteration");
  await assertDrawn(tab, "transfers");
  assert.match(await readoutAt(tab, "transfer-rows", 0.5), /^[\d.]+ s?,? ?.*[\d.]+ > [\d.]+/);
  const transfers = (await savedBy(tab, "transfer-rows")).csv.trim().split("\n");
  const iterations = new Set(transfers.slice(1).map((row) => row.split(",")[0]));
  assert.ok(iterations.size > 1 && transfers.length > iterations.size * 2, `${transfers.length} rows of ${iterations.size} iterations`);
  // The same time as the other plots: zoomed here, they all have the way back.
  await assertZoomsTogether(tab, "transfer-rows", "throughput-plot");
  await choose(tab, "flows", "flows");
}

async function assertZoomsTogether(tab, id, other) {
  await drag(tab, id, 0.2, 0.4);
  for (const plot of [id, other]) assert.equal((await tab.$$(`#${plot} button.reset`)).length, 1, `${plot} zooms along`);
  await tab.click(`#${id} button.reset`);
  for (const plot of [id, other]) assert.equal((await tab.$$(`#${plot} button.reset`)).length, 0, `${plot} shows all`);
}

/** A quarter of a second of pairs, which the slider moves. */
async function assertCloseUp(tab) {
  const at = async () => Number.parseFloat(await readoutAt(tab, "close-up", 0.5));
  assert.match(await readoutAt(tab, "close-up", 0.5), /^[\d.]+ s, .* > .*: [\d.]+ [kMG]?bit\/s$/);
  const middle = await at();
  await tab.$eval("#close-up input", (input) => {
    input.value = input.min;
    input.dispatchEvent(new Event("input", { bubbles: true }));
  });
  const first = await at();
  assert.ok(first < middle && first > 0, `the slider moves from ${middle} s to ${first} s`);
}

async function assertMatrix(tab) {
  await choose(tab, "matrix", "one iteration");
  assert.match(await tab.$eval("#matrix caption", (caption) => caption.textContent), /in iteration \d+/);
  const { csv } = await savedBy(tab, "matrix-plot");
  assert.match(csv, /^from,to,gradients \(bytes\),share of all\n/);
  const shares = csv.trim().split("\n").slice(1).map((row) => Number(row.split(",")[3]));
  assert.ok(Math.abs(shares.reduce((sum, share) => sum + share, 0) - 1) < 1e-9, "shares of an iteration add up");
  await choose(tab, "matrix", "as the collective goes");
  await assertDrawn(tab, "matrix as the collective goes");
  await choose(tab, "matrix", "whole run");
}

/** The picture of an emulated network, with figures that can be checked on paper. */
async function testTopology() {
  const { tab, troubles } = await opened("topology", networkRun());
  assert.equal(await tab.$eval("#topology h3", (title) => title.textContent), "The busiest link, left to right, was used to 80 %.");
  const { csv } = await savedBy(tab, "topology");
  // 1 MB from host1 to host2 in 1 s: 8 Mbit/s, over a core of 10 Mbit/s.
  assert.match(csv, /\nleft,right,10000000,8000000,0.8\n/);
  // The device of host0 counted 250,000 bytes in the 2 s of its steps: 1 Mbit/s of 100.
  assert.match(csv, /\nhost0,left,100000000,1000000,0.01\n/);
  const drawing = await readSvg(tab, (await savedBy(tab, "topology")).svg);
  for (const name of ["host0", "host3", "left", "right", "rank 1", "busiest: 80 %"]) assert.ok(drawing.text.includes(name), `the picture lacks ${name}`);
  const line = await tab.$("#topology svg g line");
  await line.hover();
  assert.match(await tab.$eval("#topology .place", (element) => element.textContent), /^\w+ > \w+: [\d.]+ [kM]?bit\/s of [\d.]+ Mbit\/s, [\d.]+ %$/);
  assert.match(await tab.$eval("#links", (section) => section.innerText), /left to right/);
  await assertWhole(tab, "topology");
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testRun() {
  const { tab, troubles, bytes } = await opened("run", measuredRun());
  const ids = await assertDrawn(tab, "run");
  for (const id of ["step-times", "step-cdf", "phases-timeline", "phases-median"]) assert.ok(ids.includes(id), `no plot ${id}`);
  assert.match(await readoutAt(tab, "phases-timeline", 0.5), /rank \d/);
  assert.match(await readoutAt(tab, "start-skew", 0.5), /rank \d: median [\d.]+ .?s, 95th percentile/);
  await assertWhole(tab, "run");
  // One of several plots over time: all of them zoom once.
  await assertZooms(tab, "rtt");
  assert.ok(bytes < 1_000_000);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testCapture() {
  const { tab, troubles } = await opened("capture", analysedCapture());
  const ids = await assertDrawn(tab, "capture");
  for (const id of ["throughput-plot", "close-up", "flow-rows", "matrix-plot", "flow-sizes", "iteration-sizes", "step-bars"]) assert.ok(ids.includes(id), `no plot ${id}`);
  assert.match(await readoutAt(tab, "throughput-plot", 0.5), /s$/);
  const value = await tab.$eval("#throughput-plot .entry b", (element) => element.textContent);
  assert.match(value, /bit\/s/);
  await assertZooms(tab, "throughput-plot");
  await assertFlows(tab);
  await assertCloseUp(tab);
  await assertMatrix(tab);
  await assertWhole(tab, "capture");
  await assertFits(tab, "capture");
  await assertPrints(tab);
  await assertDark(tab);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testSeveral() {
  const { tab, troubles } = await opened("several", "ring.run", "capture.run");
  const ids = await assertDrawn(tab, "several");
  assert.ok(ids.includes("compare-cdf"));
  assert.ok(ids.includes("compare-differences"));
  assert.match(await tab.$eval("#side-by-side table", (table) => table.innerText), /[+−][\d.,]+ %/);
  await assertWhole(tab, "several");
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testLoad() {
  trainwire("traffic", "make", "--kind", "burst", "--rate", "1Gbit", "--duration", "1s", "-o", "load.csv");
  const { tab, troubles } = await opened("load", "load.csv");
  const ids = await assertDrawn(tab, "load");
  assert.deepEqual(ids, ["load-rate", "load-sizes", "load-rates"]);
  await assertWhole(tab, "load");
  await assertZooms(tab, "load-rate");
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testSweep() {
  const run = join(folder, "sweep.run");
  mkdirSync(run);
  const rows = [0, 0.4, 0.8].map((load, i) => `point-00${i},"job.model=""vgg16"" traffic.0.load=${load}",1,1,${0.2 + load},${0.3 + load},${load * 1e9},1e9`);
  writeFileSync(join(run, "run.json"), JSON.stringify({ schema: 1, program: "trainwire", command: "run", complete: true, summary: { points: rows.map(() => ({ checks_ok: true })) } }));
  writeFileSync(join(run, "points.csv"), `folder,settings,complete,checks_ok,step_mean_s,step_p99_s,traffic_achieved_bps,capacity_bps\n${rows.join("\n")}\n`);
  const { tab, troubles } = await opened("sweep", "sweep.run");
  assert.deepEqual(await assertDrawn(tab, "sweep"), ["sweep-load"]);
  assert.deepEqual(await assertWhole(tab, "sweep"), ["sweep-load"]);
  // What was varied has a column each.
  assert.match((await savedBy(tab, "sweep-load")).csv, /^model,traffic load,checks,.*\nvgg16,0,✓ ok,0.2,0.3,/);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testHostile() {
  const { tab, troubles } = await opened("hostile", hostileRun());
  assert.equal(await tab.evaluate(() => window.broken), undefined);
  assert.equal(await tab.$eval("h1", (element) => element.textContent), HOSTILE);
  assert.equal((await tab.$$("main img, main script")).length, 0);
  assert.match(await tab.$eval(".banner.bad", (element) => element.innerText), /not whole/);
  // Names go into files that are saved, too: as text.
  const { svg } = await savedBy(tab, "flow-rows");
  const drawing = await readSvg(tab, svg);
  assert.equal(drawing.broken, 0);
  assert.ok(!drawing.names.includes("script") && !drawing.names.includes("img"));
  assert.ok(drawing.text.includes("<script>window"), "the SVG shows the name");
  for (const summary of await tab.$$("summary")) await summary.evaluate((element) => element.click());
  assert.equal(await tab.evaluate(() => window.broken), undefined);
  assert.deepEqual(troubles, []);
  await tab.close();
}

try {
  await runTests(testRun, testCapture, testTopology, testSeveral, testSweep, testLoad, testHostile);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
