// SPDX-License-Identifier: Apache-2.0
// Reports of real runs in Chromium, opened from file:// without network: report_page.mjs PROGRAM TREE.
// Looks at pixels and texts, for a page can be blank without an error. Leaves screenshots beside itself.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
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
        watched: {
          process: 4711,
          seconds: 30,
          packets: HOSTILE,
          ways: [{ local: HOSTILE, remote: "10.0.0.2", connections: 2, sent_bytes: 1.5e9, received_bytes: 1e6, sent_again: 7, round_trip_s: 0.002, least_round_trip_s: 0.001, busy_s: 15, peer_limited_s: 3, buffer_limited_s: 0 }],
          devices: [{ name: HOSTILE, sent_bytes: 2e9, received_bytes: 5, dropped_packets: 1, errors: 0, peak_sent_bps: 9e9, rate_bps: null }],
          rdma_counters: { [HOSTILE]: 12 },
        },
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

/** A dumbbell of four hosts and two jobs, of which the first takes three quarters of the core. */
function networkRun() {
  const run = join(folder, "network.run");
  mkdirSync(run);
  const value = (of) => ({ value: of, origin: "file" });
  const counted = (rate, of) => ({ packets: 1, bytes: rate / 8, dropped_packets: 2, lost_packets: 0, marked_packets: 0, queue_peak_bytes: 9000, rate_bps: rate, share: rate / of });
  const links = ["host0", "host1", "host2", "host3", "core"].flatMap((name) =>
    ["from_host", "to_host"].map((direction) => {
      const capacity = name === "core" ? 1e7 : 1e8;
      const busy = name === "core" && direction === "from_host";
      return { name, direction, requested: { rate_bps: capacity }, effective: null, counted: counted(busy ? 8e6 : 1e6, capacity), ...(busy ? { shares: [{ of: "vision", bytes: 3, share: 0.75 }, { of: "language", bytes: 1, share: 0.25 }] } : {}) };
    }),
  );
  const job = (name, median, slowdown) => ({ name, strategy: "ring", ranks: 2, step: { median_s: median, ci_low_s: median, ci_high_s: median, count: 9 }, exchange: { median_s: median / 2 }, phases_median_s: { wait: median / 4 }, alone: { step: { median_s: median / slowdown }, slowdown } });
  const summary = {
    experiment: { network: { topology: value("dumbbell"), hosts: value(4), left: value(2) }, jobs: [{ name: value("vision"), placement: value(["host0", "host2"]) }, { name: value("language"), placement: value(["host1", "host3"]) }] },
    network: { links, paths: [{ from: "host0", to: "host1", fitness: "ok", requested: { rate_bps: 1e8 }, effective: { rate_bps: 9.9e7 }, problems: [] }] },
    jobs: [job("vision", 0.4, 1.6), job("language", 0.7, 1.2)],
    utilisation: { link: "core", direction: "from_host", share: 0.8, rate_bps: 8e6 },
    capture: { duration_s: 1 },
  };
  writeFileSync(join(run, "run.json"), JSON.stringify({ schema: 1, program: "trainwire", command: "run", complete: true, summary }));
  return "network.run";
}

/** 64 hosts on one switch, a ring of 64 ranks; flows that all last 7.1 s; one round trip of 66 ms among a thousand of 1 ms. */
function largeRun() {
  const run = join(folder, "large.run");
  mkdirSync(run);
  const numbers = Array.from({ length: 64 }, (_none, i) => i);
  const value = (of) => ({ value: of, origin: "file" });
  const hosts = numbers.map((i) => `host${i}`);
  const links = hosts.flatMap((name) => ["from_host", "to_host"].map((direction) => ({ name, direction, requested: { rate_bps: 1e8 }, effective: { rate_bps: 9.9e7 }, counted: { bytes: 1e6, share: name === "host37" ? 0.6 : 0.4, rate_bps: name === "host37" ? 6e7 : 4e7 } })));
  const times = [0.1, 0.11, 0.12, 0.13];
  const summary = {
    experiment: { network: { topology: value("star"), hosts: value(64) }, jobs: [{ placement: value(hosts) }], run: { scale: value(25) } },
    network: { links, paths: hosts.map((to) => ({ from: "host0", to, fitness: "ok", requested: { rate_bps: 1e8 }, effective: { rate_bps: 9.9e7 }, problems: [] })) },
    hosts: hosts.map((name) => ({ name, addresses: [name] })),
    capture: { duration_s: 1, packets: 1 },
    jobs: [{ name: "job0", ranks: 64, step: { median_s: 0.115, ci_low_s: 0.1, ci_high_s: 0.13, count: 4, times_s: times }, busbw_bps: 8e7 }],
    collectives: [{ operation: "all_reduce", strategy: "ring", order: hosts, time_s: 0.1, busbw_bps: 8e7, evidence: "a ring of 64" }],
    checks: Array.from({ length: 9 }, (_none, i) => ({ name: `check${i}`, ok: true, text: "agrees" })),
  };
  writeFileSync(join(run, "run.json"), JSON.stringify({ schema: 1, program: "trainwire", command: "run", complete: true, summary }));
  writeFileSync(join(run, "pairs.csv"), `from,to,wire_bytes\n${numbers.map((i) => `host${i},host${(i + 1) % 64},1000000\n`).join("")}`);
  writeFileSync(join(run, "links.csv"), `link,direction,requested_bps,wire_bytes,dropped_packets\n${hosts.map((name) => `${name},from_host,100000000,1000,0\n${name},to_host,100000000,1000,0\n`).join("")}`);
  writeFileSync(join(run, "flows.csv"), `flow,source,source_port,destination,destination_port,protocol,class,first_ns,last_ns,wire_bytes,stream_bytes\n${numbers.map((i) => `${i},host${i},1,host${(i + 1) % 64},2,tcp,gradient,0,${7100000000 + i},1000000,900000\n`).join("")}`);
  writeFileSync(join(run, "steps.csv"), `rank,step,phase,start_ns,end_ns,job\n${numbers.flatMap((rank) => times.map((_time, step) => `${rank},${step},step,${step * 115e6},${(step + 1) * 115e6},job0\n${rank},${step},forward,${step * 115e6},${(step + 0.5) * 115e6},job0\n`)).join("")}`);
  writeFileSync(join(run, "sockets.csv"), `time_ns,job,rank,peer,lane,rtt_ns,window_bytes,retransmitted_packets,queued_bytes\n${Array.from({ length: 2000 }, (_none, i) => `${i * 200000},job0,0,1,0,${i === 1234 ? 66000000 : 1000000},14480,0,10\n`).join("")}`);
  return "large.run";
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

/** The first screen of a page: an answer in words, a picture and figures, and checks in one line where they passed. */
async function assertFirstScreen(tab, name, { picture, answer, checks }) {
  const found = await tab.evaluate((id) => {
    const top = (selector) => document.querySelector(selector)?.getBoundingClientRect().top ?? Infinity;
    return { answer: document.querySelector("#answer .answer")?.innerText ?? "", picture: top(`#answer #${id}`), figures: top("#figures"), folded: document.querySelector("#checks details")?.open === false, line: document.querySelector("#checks")?.innerText ?? "" };
  }, picture);
  assert.match(found.answer, answer, name);
  assert.ok(found.picture < 600 && found.figures < 600, `${name}: the picture begins at ${found.picture} px, the figures at ${found.figures} px`);
  if (checks) assert.match(found.line, checks, name);
  if (checks) assert.equal(found.folded, /^✓/.test(found.line.trim()), `${name}: checks are folded when all passed, and only then`);
}

/** Tables that are wider than their box say so, and scroll to their last column. */
async function assertTablesScroll(tab, name) {
  await tab.setViewport({ width: 800, height: 900 });
  await new Promise((done) => setTimeout(done, 300));
  const boxes = await tab.$$eval(".sideways", (all) =>
    all
      .filter((box) => box.offsetParent)
      .map((box) => {
        const scroll = box.querySelector(".scroll");
        const said = box.querySelector(".hint.right") !== null;
        const wide = scroll.scrollWidth > scroll.clientWidth + 2;
        scroll.scrollLeft = scroll.scrollWidth;
        const [last, edge] = [scroll.querySelector("th:last-child").getBoundingClientRect().right, scroll.getBoundingClientRect().right];
        scroll.scrollLeft = 0;
        return { label: scroll.getAttribute("aria-label"), said, wide, reached: last <= edge + 2 };
      }),
  );
  for (const { label, said, wide, reached } of boxes) {
    assert.equal(said, wide, `${name}: the table ${label} is ${wide ? "" : "not "}cut, and ${said ? "says" : "does not say"} so`);
    assert.ok(reached, `${name}: the last column of ${label} cannot be reached`);
  }
  await tab.setViewport({ width: 1280, height: 900 });
}

/** The picture of an emulated network, with figures that can be checked on paper. */
async function testTopology() {
  const { tab, troubles } = await opened("topology", networkRun());
  assert.equal(await tab.$eval("#topology h3", (title) => title.textContent), "The busiest link, left to right, was used to 80 %.");
  const { csv } = await savedBy(tab, "topology");
  assert.match(csv, /^from,to,rate \(bps\),"carried, mean \(bps\)",used,by\n/);
  assert.match(csv, /\nleft,right,10000000,8000000,0.8,"vision 75 %, language 25 %"\n/);
  assert.match(csv, /\nhost0,left,100000000,1000000,0.01,\n/);
  const drawing = await readSvg(tab, (await savedBy(tab, "topology")).svg);
  for (const name of ["host0", "host3", "left", "right", "language 1", "busiest: 80 %"]) assert.ok(drawing.text.includes(name), `the picture lacks ${name}`);
  const line = await tab.$("#topology svg g line");
  await line.hover();
  assert.match(await tab.$eval("#topology .place", (element) => element.textContent), /^\w+ > \w+: [\d.]+ [kM]?bit\/s of [\d.]+ Mbit\/s, [\d.]+ %( \(.*\))?$/);
  assert.match(await tab.$eval("#links", (section) => section.innerText), /left to right/);
  await assertFirstScreen(tab, "topology", { picture: "topology", answer: /^A step of vision takes 400 ms, exchanging its gradients 200 ms; .* Beside the others a step takes 1\.6 times as long as alone\.$/ });
  assert.match(await tab.$eval("#answer .more", (line) => line.innerText), /A step of language takes 700 ms.* The busiest link, left to right, is 80 % full/);
  assert.match(await tab.$eval("#answer .jobs", (table) => table.innerText), /vision \(ring, 2 ranks\)\s+400 ms/);
  // One figure for one quantity: the card has what the picture has.
  assert.match(await tab.$eval("#figures", (figures) => figures.innerText), /busiest link\s+80 %\s+left to right/);
  await assertTablesScroll(tab, "topology");
  await assertWhole(tab, "topology");
  assert.deepEqual(troubles, []);
  await tab.close();
}

/** The median of a step is the same wherever it stands. */
async function assertOneMedian(tab) {
  const texts = await tab.evaluate(() => [
    /takes ([\d.]+ \S+?),/.exec(document.querySelector("#answer .answer").innerText)[1],
    document.querySelector("#figures .value").innerText,
    /longer than (.*)\.$/.exec(document.querySelector("#step-cdf h3").innerText)[1],
  ]);
  assert.equal(new Set(texts).size, 1, `the median step is ${texts.join(", ")}`);
}

async function testRun() {
  const { tab, troubles, bytes } = await opened("run", measuredRun());
  const ids = await assertDrawn(tab, "run");
  for (const id of ["step-times", "step-cdf", "phases-timeline", "phases-median"]) assert.ok(ids.includes(id), `no plot ${id}`);
  await assertFirstScreen(tab, "run", { picture: "phases-timeline", answer: /^A step takes [\d.]+ ms, exchanging its gradients [\d.]+ .?s/, checks: /^(✓ All|! All|✗ \d+ of) \d* ?checks/ });
  await assertOneMedian(tab);
  assert.match(await readoutAt(tab, "phases-timeline", 0.5), /rank \d/);
  assert.match(await readoutAt(tab, "start-skew", 0.5), /rank \d: median [\d.]+ .?s, 95th percentile/);
  await assertWhole(tab, "run");
  // One of several plots over time: all of them zoom once.
  await assertZooms(tab, "rtt");
  assert.ok(bytes < 1_000_000);
  assert.deepEqual(troubles, []);
  await tab.close();
}

/** The verdict is the headline, and the bar below it is cut as the record says. */
async function testVerdict() {
  writeFileSync(
    join(folder, "slow.toml"),
    '[network]\nhosts = 4\nrate = "200Mbit"\n[[network.link]]\nat = "host1"\ndirection = "to_host"\nrate = "50Mbit"\n[[job]]\nparameters = "2MB"\ncompute_time = "20ms"\nsteps = 6\n',
  );
  trainwire("sim", "slow.toml", "--level", "flow", "-o", "slow.run");
  const { tab, troubles } = await opened("verdict", "slow.run");
  assert.match(await tab.$eval("#answer .answer", (line) => line.innerText), /^The network costs \d+ of \d+ ms a step, .*host1's way in, 50 Mbit\/s.* At 200 Mbit\/s a step would take/);
  const bar = await tab.$$eval("#account .account-bar span", (all) => all.map((each) => ({ title: each.title, width: each.getBoundingClientRect().width })));
  const { accounting } = JSON.parse(readFileSync(join(folder, "slow.run/run.json"), "utf8")).summary;
  const all = bar.reduce((sum, part) => sum + part.width, 0);
  const slow = bar.find((part) => part.title.startsWith("waiting behind a slow link"));
  assert.ok(Math.abs(slow.width / all - accounting.wait_link_s / accounting.step_s) < 0.01, "the slow link's part is as wide as its share");
  assert.match(await tab.$eval("#account .account-key", (key) => key.innerText), /compute 20 ms/);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testSliders() {
  writeFileSync(join(folder, "sliders.toml"), '[network]\nhosts = 4\nrate = "10Gbit"\n[[job]]\nstrategy = "ring"\nparameters = "18750kB"\ncompute_time = "20ms"\nsteps = 4\n');
  trainwire("sim", "sliders.toml", "--level", "flow", "-o", "sliders.run");
  const { tab, troubles } = await opened("sliders", "sliders.run");
  const said = () => tab.$eval("#what-if-answer", (line) => line.innerText);
  const steps = () => tab.$$eval("#what-if .split b", (all) => all.map((each) => each.innerText));
  assert.match(await said(), /^By formula a step takes 43\.\d+ ms \(.*\); this run's took 4\d\.\d+ ms\.$/);
  // Three streams of 4.7 MB meet in a port whose queue has 262 kB, about what the path holds.
  await choose(tab, "what-if", "clique");
  assert.equal(await said(), "The formula does not hold here: streams meet in queues that may overflow. trainwire predict simulates that.");
  const [own, set] = await steps();
  assert.match(own, /^43\.\d+ ms$/);
  assert.equal(set, "no formula");
  // The line over rates ends where they begin to meet; the band over ranks is there of two, and of so many that nobody simulates them.
  assert.equal(await tab.$$eval("#what-if .what-if-band", (all) => all.length), 2);
  await (await tab.$("#what-if")).screenshot({ path: join(shots, "sliders.png") });
  await choose(tab, "what-if", "ring");
  assert.match(await said(), /^By formula/);
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

async function testLarge() {
  const { tab, troubles } = await opened("large", largeRun());
  await assertDrawn(tab, "large");
  await assertFirstScreen(tab, "large", { picture: "topology", answer: /^A step takes 115 ms/, checks: /^✓ All 9 checks passed/ });
  assert.match(await tab.$eval("#answer", (section) => section.innerText), /Scale 1:25\.[^]*link of 100 Mbit\/s here is one of 2\.5 Gbit\/s there[^]*80 Mbit\/s, as nccl-tests defines it; 2 Gbit\/s on the cluster/);
  // 64 rows of everything, and yet a page that one scrolls through.
  const height = await tab.evaluate(() => document.documentElement.scrollHeight);
  assert.ok(height < 8000, `the page of 64 hosts is ${height} px high`);
  // Flows of one length are no distribution.
  assert.match(await tab.$eval("p#flow-durations", (told) => told.innerText), /7\.1 s\..*No plot.*64 × gradient: 7\.1 s/);
  // What the title names is drawn.
  assert.equal(await tab.$eval("#rtt h3", (title) => title.textContent), "Round trips reached 66 ms.");
  const { csv } = await savedBy(tab, "rtt");
  assert.ok(Math.abs(Math.max(...csv.trim().split("\n").slice(1).map((row) => Number(row.split(",")[1]))) - 0.066) < 1e-5, "the longest round trip is in the plot");
  // The mark of the busiest link lies on no arrow.
  const hits = await tab.$eval("#topology svg", (svg) => {
    const mark = svg.querySelector("#busiest-mark").getBoundingClientRect();
    return [...svg.querySelectorAll("g > polygon")].filter((head) => {
      const box = head.getBoundingClientRect();
      return box.right > mark.left && box.left < mark.right && box.bottom > mark.top && box.top < mark.bottom;
    }).length;
  });
  assert.equal(hits, 0, "the mark of the busiest link lies on arrows");
  await assertTablesScroll(tab, "large");
  await assertFits(tab, "large");
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testSeveral() {
  const { tab, troubles } = await opened("several", "ring.run", "capture.run");
  const ids = await assertDrawn(tab, "several");
  assert.ok(ids.includes("compare-cdf"));
  assert.ok(ids.includes("compare-differences"));
  assert.match(await tab.$eval("#side-by-side .answer", (line) => line.innerText), /^By the time of a step capture\.run is [\d.]+ (times|%) (slower|faster) than ring\.run\.$/);
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
  // Bursts every 100 ms, say: three periods are shown, not a wall of them.
  const title = await tab.$eval("#load-rate h3", (element) => element.textContent);
  const period = seconds(/in periods of ([\d.]+ \S+?);/.exec(title)?.[1] ?? "NaN s");
  const shown = seconds(await readoutAt(tab, "load-rate", 0.99)) - seconds(await readoutAt(tab, "load-rate", 0.01));
  assert.ok(shown > 2.5 * period && shown < 3.5 * period, `${shown} s are shown of periods of ${period} s`);
  await tab.click("#load-rate button.reset");
  await assertZooms(tab, "load-rate");
  assert.deepEqual(troubles, []);
  await tab.close();
}

/** A sweep's folder: rows of points.csv below `columns`, with the settings of each point in run.json. */
function sweepRun(name, columns, points) {
  const run = join(folder, name);
  mkdirSync(run);
  const summary = { points: points.map(({ settings, ok = true }, i) => ({ folder: `point-00${i}`, settings, checks_ok: ok })) };
  writeFileSync(join(run, "run.json"), JSON.stringify({ schema: 1, program: "trainwire", command: "run", complete: true, summary }));
  const rows = points.map(({ values, ok = true, complete = 1 }, i) => `point-00${i},,${complete},${Number(ok)},${values.join(",")}`);
  writeFileSync(join(run, "points.csv"), `folder,settings,complete,checks_ok,${columns}\n${rows.join("\n")}\n`);
  return run;
}

async function testSweep() {
  const loads = [0, 0.4, 0.8].map((load) => ({ settings: ['job.model="vgg16"', `traffic.0.load=${load}`], values: [0.2 + load, 0.3 + load, load * 1e9, 1e9] }));
  sweepRun("sweep.run", "step_mean_s,step_p99_s,traffic_achieved_bps,capacity_bps", loads);
  const { tab, troubles } = await opened("sweep", "sweep.run");
  assert.deepEqual(await assertDrawn(tab, "sweep"), ["sweep-load"]);
  assert.deepEqual(await assertWhole(tab, "sweep"), ["sweep-load"]);
  // What was varied has a column each.
  assert.match((await savedBy(tab, "sweep-load")).csv, /^traffic load,point,checks,.*\n0,point-000,✓ ok,0.2,0.3,/);
  assert.deepEqual(troubles, []);
  await tab.close();
}

/** Loss from 0 to 1 %: in percent on a logarithmic axis, with its fit, a point that failed and why, and pages. */
async function testLossSweep() {
  const losses = ["0", '"0.01%"', '"0.1%"', '"1%"'].map((loss, i) => ({ settings: [`network.loss=${loss}`], values: [[0.25, 0.29, 0.47, 2.95][i], [0.3, 0.4, 0.9, 4][i]], ok: i !== 2 }));
  const run = sweepRun("loss.run", "step_mean_s,step_p99_s", losses);
  for (const point of ["point-000", "point-002"]) mkdirSync(join(run, point));
  writeFileSync(join(run, "point-000", "report.html"), "a page");
  const checks = [{ name: "machine", ok: false, text: "the machine was busy" }];
  writeFileSync(join(run, "point-002", "run.json"), JSON.stringify({ schema: 1, program: "trainwire", complete: true, summary: { engine: "netem", checks } }));
  writeFileSync(join(run, "fit.json"), JSON.stringify({ model: "power", x: "network.loss", y: "step_mean_s", equation: "t = 30 x^0.5", r_squared: 0.97, parameters: [{ name: "a", value: 30, ci_low: 25, ci_high: 35, unit: "s" }], points: [{ x: 1e-4, fitted: 0.3 }, { x: 1e-3, fitted: 0.95 }, { x: 1e-2, fitted: 3 }] }));
  const { tab, troubles } = await opened("loss.run/report", "loss.run");
  assert.deepEqual(await assertDrawn(tab, "loss"), ["sweep-points"]);
  const title = "From loss 0 % to loss 1 % the mean step goes from 250 ms to 2.95 s.";
  assert.equal(await tab.$eval("#sweep .answer", (line) => line.innerText), title);
  const { csv, svg } = await savedBy(tab, "sweep-points");
  assert.match(csv, /^loss,point,checks,mean step \(s\),p99 \(s\)\n0,point-000,✓ ok,0.25,0.3\n0.0001,point-001,✓ ok,.*\n0.001,point-002,✗ machine,/);
  const text = (await readSvg(tab, svg)).text.split("\n");
  for (const tick of ["0 %", "0.01 %", "0.1 %", "1 %", "loss"]) assert.ok(text.includes(tick), `the axis lacks ${tick}: ${text}`);
  assert.match(await tab.$eval("#sweep-points", (figure) => figure.innerText), /fit: t = 30 x\^0\.5 a = 30 \[25, 35\] s; R² = 0\.97/);
  assert.match(await tab.$eval("#sweep", (section) => section.innerText), /loss 0\.1 %: machine: the machine was busy/);
  assert.deepEqual(await tab.$$eval("#sweep .card:last-child td a", (links) => links.map((link) => link.getAttribute("href"))), ["point-000/report.html"]);
  await assertWhole(tab, "loss");
  await assertFits(tab, "loss");
  assert.deepEqual(troubles, []);
  await tab.close();
}

/** Two settings of numbers are a map, words stand side by side. */
async function testGridSweep() {
  const points = [1, 2, 4].flatMap((delay) => [4, 8, 16].map((ranks) => ({ settings: [`network.delay="${delay}ms"`, `job.ranks=${ranks}`], values: [(delay * ranks) / 100] })));
  sweepRun("grid.run", "step_mean_s", points);
  const grid = await opened("grid", "grid.run");
  assert.deepEqual(await assertDrawn(grid.tab, "grid"), ["sweep-heat"]);
  assert.match(await readoutAt(grid.tab, "sweep-heat", 0.5), /^delay 2 ms, ranks 8: 160 ms$/);
  await choose(grid.tab, "sweep", "lines");
  assert.deepEqual(await assertDrawn(grid.tab, "grid"), ["sweep-points"]);
  assert.deepEqual(await grid.tab.$$eval("#sweep-points .entry", (all) => all.map((each) => each.innerText.trim())), ["ranks 4", "ranks 8", "ranks 16"]);
  await grid.tab.close();
  sweepRun("words.run", "step_mean_s", ["ring", "star"].map((strategy, i) => ({ settings: [`job.strategy="${strategy}"`], values: [0.1 + 0.13 * i] })));
  const words = await opened("words", "words.run");
  await assertDrawn(words.tab, "words");
  assert.equal(await words.tab.$eval("#sweep .answer", (line) => line.innerText), "The mean step takes 100 ms with ring and 230 ms, 2.3 times as long, with star.");
  assert.deepEqual([...grid.troubles, ...words.troubles], []);
  await words.tab.close();
}

async function testHostile() {
  const { tab, troubles } = await opened("hostile", hostileRun());
  assert.equal(await tab.evaluate(() => window.broken), undefined);
  assert.equal(await tab.$eval("h1", (element) => element.textContent), HOSTILE);
  assert.equal((await tab.$$("main img, main script")).length, 0);
  assert.match(await tab.$eval(".banner.bad", (element) => element.innerText), /not whole/);
  const watched = await tab.$eval("#watched", (section) => section.innerText);
  assert.match(watched, /Process 4711 and those it has started, for 30 s; <script>/);
  // Of 30 s busy for half, and of these 15 s held up by the peer for a fifth.
  assert.match(watched, /10\.0\.0\.2\s+2\s+1\.5 GB\s+1 MB\s+7\s+2 ms\s+1 ms\s+50 %\s+20 %\s+0 %/);
  assert.match(watched, /9 Gbit\/s\s+–\s+1\s+0/);
  assert.match(watched, /Counters of RDMA cards[^]*\s12/);
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
  await runTests(testRun, testVerdict, testSliders, testCapture, testTopology, testLarge, testSeveral, testSweep, testLossSweep, testGridSweep, testLoad, testHostile);
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
