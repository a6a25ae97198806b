// SPDX-License-Identifier: Apache-2.0
// The page of `trainwire serve` in Chromium, with real runs, a run in progress and an upload:
// serve_page.mjs PROGRAM TREE. Leaves screenshots beside itself.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { drawnPixels, launch, runTests, watchedTab } from "./page.mjs";

const [program, tree] = process.argv.slice(2);
const shots = fileURLToPath(new URL(".", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "trainwire-serve-"));
const capture = join(tree, "tests/captures/ddp4_straggler.pcap.zst");
// No slash: it is also a file's name.
const HOSTILE = "<script>window.broken=1<script><img src=x onerror='window.broken=1'>";
const children = new Set();

const trainwire = (...words) => execFileSync(program, words, { cwd: folder, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });

function started(...words) {
  const child = spawn(program, words, { cwd: folder, stdio: ["ignore", "pipe", "pipe"] });
  children.add(child);
  child.over = new Promise((done) => child.on("exit", (code) => (children.delete(child), done(code))));
  return child;
}

/** Ranks of this machine's loopback. Every step computes for 20 ms. */
function writeExperiment(file, name, steps) {
  writeFileSync(
    join(folder, file),
    `name = "${name}"\n[network]\nhosts = 3\n[[job]]\nparameters = "1MB"\nranks = 3\nstrategy = "ring"\nsteps = ${steps}\nwarmup = 1\ncompute_time = "20ms"\n`,
  );
}

function makeRuns() {
  writeExperiment("ring.toml", "ring of three", 50);
  trainwire("run", "ring.toml", "--on", "loopback", "-o", "ring.run");
  trainwire("analyze", capture, "-o", "capture.run");
  const hostile = join(folder, `${HOSTILE}.run`);
  mkdirSync(hostile);
  writeFileSync(
    join(hostile, "run.json"),
    JSON.stringify({
      schema: 1,
      program: "trainwire",
      command: HOSTILE,
      complete: false,
      partial: HOSTILE,
      provenance: { command_line: ["trainwire", HOSTILE], started: HOSTILE },
      summary: {
        experiment: { name: { value: HOSTILE, origin: "file" } },
        jobs: [{ name: HOSTILE, strategy: HOSTILE, ranks: 1, step: { mean_s: 0.15, count: 3, times_s: [0.1, 0.2, 0.15] } }],
      },
    }),
  );
}

/** The server of `folder`; the address it prints is the first http one. */
async function serve() {
  const child = started("serve", ".", "--port", "0", "--upload-limit", "20MB");
  const address = await new Promise((found, failed) => {
    const told = [];
    for (const stream of [child.stdout, child.stderr]) {
      createInterface({ input: stream }).on("line", (line) => {
        told.push(line);
        const match = /http:\/\/\S+/.exec(line);
        if (match) found(match[0]);
      });
    }
    child.over.then((code) => failed(new Error(`serve ended with ${code}: ${told.join("\n")}`)));
  });
  return { child, address };
}

makeRuns();
const server = await serve();
const origin = new URL(server.address).origin;

const browser = await launch();

/** The page at a place of it; errors and requests to elsewhere are its troubles. */
async function opened(hash) {
  const { tab, troubles } = await watchedTab(browser);
  await tab.setRequestInterception(true);
  tab.on("request", (request) => {
    if (request.url().startsWith(`${origin}/`) || request.url().startsWith("blob:")) return void request.continue();
    troubles.push(`request for ${request.url().slice(0, 80)}`);
    void request.abort();
  });
  await tab.goto(server.address + hash, { waitUntil: "load" });
  return { tab, troubles };
}

const textOf = (tab, selector) => tab.$eval(selector, (element) => element.innerText);
const until = (tab, claim, ...values) => tab.waitForFunction(claim, { polling: 100 }, ...values);
const rowNames = (tab) => tab.$$eval(".runs tbody tr td:nth-child(2) > :first-child", (cells) => cells.map((cell) => cell.innerText));
const untilRows = (tab, count) => until(tab, (n) => document.querySelectorAll(".runs tbody tr").length === n, count);
const untilHeading = (tab, text) => until(tab, (wanted) => document.querySelector("main h1")?.innerText === wanted, text);

async function clickText(tab, selector, text) {
  const found = await tab.evaluateHandle((where, what) => [...document.querySelectorAll(where)].find((each) => each.innerText.startsWith(what)), selector, text);
  assert.ok(found.asElement(), `no ${selector} that says ${text}`);
  await found.click();
}

async function assertDrawn(tab, ...ids) {
  for (const id of ids) await tab.waitForSelector(`#${id} canvas`);
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  const plots = await drawnPixels(tab);
  for (const { id, coloured } of plots) assert.ok(coloured > 20, `plot ${id} has only ${coloured} coloured pixels`);
}

/** At both widths, in light and dark: nothing is wider than the window. */
async function shoot(tab, name) {
  for (const width of [1280, 800]) {
    for (const scheme of ["light", "dark"]) {
      await tab.setViewport({ width, height: 900 });
      await tab.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      await until(tab, () => document.documentElement.scrollWidth <= innerWidth).catch(() => assert.fail(`${name} is wider than ${width} px`));
      await tab.screenshot({ path: join(shots, `serve-${name}-${width}-${scheme}.png`) });
    }
  }
  await tab.setViewport({ width: 1280, height: 900 });
  await tab.emulateMediaFeatures([]);
}

async function assertSparklines(tab) {
  const lines = await tab.$$eval(".spark polyline", (all) => all.map((line) => ({ width: line.getBBox().width, height: line.getBBox().height, stroke: getComputedStyle(line).stroke })));
  assert.equal(lines.length, 3, "each run with steps has a sparkline");
  for (const { width, height, stroke } of lines) assert.ok(width > 80 && height > 1 && stroke !== "none", `sparkline of ${width} x ${height}, ${stroke}`);
}

async function testList() {
  const { tab, troubles } = await opened("");
  await untilRows(tab, 3);
  await assertSparklines(tab);
  await shoot(tab, "list");
  assert.match(await textOf(tab, ".runs tbody"), /ring · 3\sranks/);
  await tab.type("[type=search]", "RING loop");
  await untilRows(tab, 0);
  await tab.$eval("[type=search]", (input) => input.select());
  await tab.type("[type=search]", "THREE ring");
  await untilRows(tab, 1);
  assert.deepEqual(await rowNames(tab), ["ring of three"]);
  await tab.$eval("[type=search]", (input) => input.select());
  await tab.keyboard.press("Backspace");
  await untilRows(tab, 3);
  await clickText(tab, ".sort", "run");
  const up = await rowNames(tab);
  await clickText(tab, ".sort", "run");
  assert.deepEqual(await rowNames(tab), up.reverse(), "a second click on a column turns the order");
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testRunAndBack() {
  const { tab, troubles } = await opened("#/");
  await untilRows(tab, 3);
  await tab.type("[type=search]", "ring of");
  await untilRows(tab, 1);
  await clickText(tab, ".runs a", "ring of three");
  await untilHeading(tab, "ring of three");
  await assertDrawn(tab, "step-times", "phases-timeline");
  const route = await tab.evaluate(() => location.hash);
  assert.match(route, /^#\/run\//);
  // Sections are scrolled to; the route stays.
  await tab.$eval("html", (html) => (html.style.scrollBehavior = "auto"));
  await clickText(tab, "nav a", "Iterations");
  assert.equal(await tab.evaluate(() => location.hash), route);
  assert.ok(Math.abs(await tab.$eval("#iterations", (section) => section.getBoundingClientRect().top)) < 40, "the section is at the top");
  await tab.reload();
  await untilHeading(tab, "ring of three");
  await clickText(tab, ".bar a", "← all runs");
  await untilRows(tab, 3);
  await tab.goBack();
  await untilHeading(tab, "ring of three");
  await tab.goBack();
  await untilRows(tab, 3);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testCompare() {
  const { tab, troubles } = await opened("#/");
  await untilRows(tab, 3);
  assert.equal(await tab.$eval(".runs button.main", (button) => button.disabled), true);
  for (const name of ["ring of three", "capture"]) await tab.click(`[aria-label="compare ${name}"]`);
  await clickText(tab, "button", "compare 2 runs");
  await untilHeading(tab, "2 runs");
  await assertDrawn(tab, "compare-cdf");
  assert.match(await textOf(tab, "#side-by-side table"), /[+−][\d.,]+ %/);
  await shoot(tab, "compare");
  await tab.goBack();
  await untilRows(tab, 3);
  assert.equal((await tab.$$(".runs .chosen")).length, 2, "the choice is remembered");
  assert.deepEqual(troubles, []);
  await tab.close();
}

/** Two points, one of which failed: the list counts points, and the page leads to them. */
async function testSweep() {
  const run = join(folder, "sweep.run");
  const named = (name) => ({ name: { value: name, origin: "file" } });
  const point = (i, strategy, mean) => ({ folder: `point-00${i}`, settings: [`job.strategy="${strategy}"`], complete: true, checks_ok: i === 0, jobs: [{ name: "job0", strategy, ranks: 3, step: { mean_s: mean, median_s: mean, count: 2, times_s: [mean, mean] } }] });
  const points = [point(0, "ring", 0.1), point(1, "star", 0.23)];
  const file = (summary) => JSON.stringify({ schema: 1, program: "trainwire", command: "run", complete: true, provenance: { started: "2026-01-01T00:00:00Z" }, summary });
  for (const { folder: name, jobs } of points) {
    mkdirSync(join(run, name), { recursive: true });
    writeFileSync(join(run, name, "run.json"), file({ experiment: named("strategies"), jobs }));
  }
  writeFileSync(join(run, "run.json"), file({ experiment: named("strategies"), sweep: { points: 2 }, points }));
  writeFileSync(join(run, "points.csv"), "folder,settings,complete,checks_ok,step_mean_s\npoint-000,,1,1,0.1\npoint-001,,1,0,0.23\n");
  const { tab, troubles } = await opened("#/");
  await until(tab, () => /1 of 2 points failed/.test(document.querySelector(".runs tbody")?.innerText ?? ""));
  assert.match(await textOf(tab, ".runs tbody"), /100 ms to 230 ms/);
  await clickText(tab, ".runs a", "strategies");
  await untilHeading(tab, "strategies");
  await assertDrawn(tab, "sweep-points");
  await clickText(tab, "#sweep td a", "point-001");
  await until(tab, () => /^A step takes 230 ms/.test(document.querySelector("#answer")?.innerText ?? ""));
  await tab.goBack();
  await tab.waitForSelector("#sweep");
  assert.deepEqual(troubles, []);
  await tab.close();
}

const figure = (tab, name) => tab.$$eval(".figure", (all, wanted) => all.find((each) => each.innerText.startsWith(wanted))?.querySelector(".value").innerText, name);
const sizeOf = (text) => {
  const [number, unit] = text.split(" ");
  return Number(number.replace(/,/g, "")) * { B: 1, kB: 1e3, MB: 1e6, GB: 1e9 }[unit];
};

async function testLive() {
  writeExperiment("long.toml", "a long ring", 600);
  const run = started("run", "long.toml", "--on", "loopback", "-o", "long.run");
  const { tab, troubles } = await opened("#/");
  await until(tab, () => document.querySelector(".runs tbody tr .live"));
  assert.equal((await rowNames(tab))[0], "a long ring", "what runs is first");
  await clickText(tab, ".runs a", "a long ring");
  await untilHeading(tab, "a long ring");
  await until(tab, () => Number(document.querySelector(".step")?.innerText) > 5);
  const before = { step: Number(await textOf(tab, ".step")), moved: sizeOf(await figure(tab, "moved")) };
  await until(tab, (step) => Number(document.querySelector(".step").innerText) >= step + 50, before.step);
  assert.ok(sizeOf(await figure(tab, "moved")) > before.moved, "the matrix grows");
  assert.match(await textOf(tab, ".progress"), /of 601[\s\S]*steps\/s[\s\S]*left/);
  await assertDrawn(tab, "live-rates", "live-matrix");
  await shoot(tab, "live");
  // The end of the run leads to its page.
  await until(tab, () => location.hash.startsWith("#/run/"));
  await tab.waitForSelector("#step-times");
  assert.equal(await run.over, 0);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testUpload() {
  const { tab, troubles } = await opened("#/");
  await tab.waitForSelector(".runs");
  const input = await tab.$("input[type=file]");
  await input.uploadFile(capture);
  await tab.waitForSelector(".task a");
  await clickText(tab, ".task a", "open the run");
  await tab.waitForSelector("#throughput-plot");
  await assertDrawn(tab, "throughput-plot", "matrix-plot");
  await tab.goBack();
  await tab.waitForSelector(".runs");
  // Dropped: what is no capture, with a name that is no name; what is too large is not even sent.
  await tab.evaluate((name) => {
    const dropped = new DataTransfer();
    dropped.items.add(new File(["this is no capture"], name));
    dropped.items.add(new File([new Uint8Array(20_000_001)], "large.pcap"));
    for (const kind of ["dragover", "drop"]) dispatchEvent(new DragEvent(kind, { dataTransfer: dropped, cancelable: true }));
  }, `${HOSTILE}.pcap`);
  await until(tab, () => document.querySelectorAll(".task .problem").length === 2);
  const problems = await tab.$$eval(".task .problem", (all) => all.map((each) => each.innerText));
  assert.match(problems[0], /20 MB at most/);
  assert.match(problems[1], /no kind that is read/);
  await shoot(tab, "uploads");
  assert.equal(await tab.evaluate(() => window.broken), undefined);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testHostile() {
  const { tab, troubles } = await opened("#/");
  await tab.waitForSelector(".runs a");
  assert.ok((await rowNames(tab)).includes(HOSTILE));
  await clickText(tab, ".runs a", HOSTILE);
  await untilHeading(tab, HOSTILE);
  assert.equal(await tab.evaluate(() => window.broken), undefined);
  assert.equal((await tab.$$("main img, main script")).length, 0);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testTrouble() {
  const tab = await browser.newPage();
  await tab.goto(`${server.address}#/run/nothing.run`);
  await tab.waitForSelector(".banner.bad");
  await tab.goto(`${origin}/?token=wrong`).catch(() => null);
  assert.doesNotMatch(await tab.$eval("body", (body) => body.innerText), /ring of three/);
  // A server that is gone: the list and the live view say so.
  for (const [hash, there] of [["#/", ".runs"], ["#/live/long.run", ".banner.good"]]) {
    await tab.goto("about:blank");
    const { child, address } = await serve();
    await tab.goto(address + hash);
    await tab.waitForSelector(there);
    child.kill();
    assert.equal(await child.over, 0);
    await until(tab, () => /does not answer/.test(document.querySelector(".banner.bad")?.innerText ?? ""));
  }
  await tab.close();
}

try {
  await runTests(testList, testRunAndBack, testCompare, testSweep, testHostile, testLive, testUpload, testTrouble);
} finally {
  await browser.close();
  for (const child of children) child.kill();
  await Promise.all([...children].map((child) => child.over));
  rmSync(folder, { recursive: true, force: true });
}
