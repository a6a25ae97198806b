// SPDX-License-Identifier: Apache-2.0
// Reports of real runs in Chromium, opened from file:// without network: report_page.mjs PROGRAM TREE.
// Looks at pixels and texts, for a page can be blank without an error. Leaves screenshots beside itself.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import puppeteer from "puppeteer-core";

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
  writeFileSync(join(run, "windows.csv"), `scope,from,to,flow,start_ns,width_ns,wire_bytes\ntotal,,,,0,1000,100\ntotal,,,,5000,1000,9\npair,${name},b,,0,1000,100\n`);
  return "hostile.run";
}

const browser = await puppeteer.launch({
  executablePath: "/usr/bin/chromium",
  headless: true,
  protocolTimeout: 300_000,
  args: ["--no-sandbox", "--disable-gpu"],
});

/** The report of `sources`, opened; fails on any request but for the page itself, and on any error. */
async function opened(name, ...sources) {
  const path = join(folder, `${name}.html`);
  trainwire("report", ...sources, "-o", path);
  const tab = await browser.newPage();
  tab.setDefaultTimeout(120_000);
  const troubles = [];
  tab.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
  tab.on("pageerror", (error) => troubles.push(error.message));
  tab.on("request", (request) => !request.url().startsWith("blob:") && request.url() !== `file://${path}` && troubles.push(`request for ${request.url().slice(0, 80)}`));
  await tab.setOfflineMode(true);
  await tab.setViewport({ width: 1280, height: 900 });
  await tab.goto(`file://${path}`, { waitUntil: "load" });
  await tab.waitForSelector("main h1");
  await tab.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
  return { tab, troubles, bytes: statSync(path).size };
}

/** Canvases by the plot they belong to, with the number of pixels that were drawn on. */
const drawnPixels = (tab) =>
  tab.evaluate(() =>
    [...document.querySelectorAll("figure.plot")].map((figure) => {
      const canvas = figure.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let coloured = 0;
      for (let i = 0; i < data.length; i += 4) {
        const [r, g, b, a] = data.slice(i, i + 4);
        // Axes and texts are grey; what has a colour is data.
        if (a > 40 && Math.max(r, g, b) - Math.min(r, g, b) > 30) coloured++;
      }
      return { id: figure.id, coloured };
    }),
  );

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

/** What the buttons of a plot save: type and size of each file. */
async function savedBy(tab, id) {
  return tab.evaluate(async (plot) => {
    const blobs = [];
    const create = URL.createObjectURL;
    URL.createObjectURL = (blob) => (blobs.push(blob), create(blob));
    for (const button of document.querySelectorAll(`#${plot} .tools button`)) button.click();
    for (let i = 0; i < 50 && blobs.length < 2; i++) await new Promise((done) => setTimeout(done, 100));
    URL.createObjectURL = create;
    return blobs.map((blob) => ({ type: blob.type, size: blob.size }));
  }, id);
}

async function assertSaves(tab, id) {
  const [table, image] = await savedBy(tab, id);
  assert.equal(table.type, "text/csv");
  assert.equal(image.type, "image/png");
  assert.ok(table.size > 100 && image.size > 1000, `saved ${table.size} and ${image.size} bytes`);
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

async function testRun() {
  const { tab, troubles, bytes } = await opened("run", measuredRun());
  const ids = await assertDrawn(tab, "run");
  for (const id of ["step-times", "step-cdf", "phases-timeline", "phases-median"]) assert.ok(ids.includes(id), `no plot ${id}`);
  assert.match(await readoutAt(tab, "phases-timeline", 0.5), /rank \d/);
  // One of several plots over time: all of them zoom once.
  await assertZooms(tab, "rtt");
  assert.ok(bytes < 1_000_000);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testCapture() {
  const { tab, troubles } = await opened("capture", analysedCapture());
  const ids = await assertDrawn(tab, "capture");
  for (const id of ["throughput-plot", "matrix-plot", "flow-sizes"]) assert.ok(ids.includes(id), `no plot ${id}`);
  assert.match(await readoutAt(tab, "throughput-plot", 0.5), /s$/);
  const value = await tab.$eval("#throughput-plot .entry b", (element) => element.textContent);
  assert.match(value, /bit\/s/);
  await assertZooms(tab, "throughput-plot");
  await assertSaves(tab, "throughput-plot");
  await assertFits(tab, "capture");
  await assertDark(tab);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testSeveral() {
  const { tab, troubles } = await opened("several", "ring.run", "capture.run");
  const ids = await assertDrawn(tab, "several");
  assert.ok(ids.includes("compare-cdf"));
  assert.match(await tab.$eval("#side-by-side table", (table) => table.innerText), /[+−][\d.,]+ %/);
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testLoad() {
  trainwire("traffic", "make", "--kind", "burst", "--rate", "1Gbit", "--duration", "1s", "-o", "load.csv");
  const { tab, troubles } = await opened("load", "load.csv");
  const ids = await assertDrawn(tab, "load");
  assert.deepEqual(ids, ["load-rate", "load-sizes", "load-rates"]);
  await assertZooms(tab, "load-rate");
  assert.deepEqual(troubles, []);
  await tab.close();
}

async function testHostile() {
  const { tab, troubles } = await opened("hostile", hostileRun());
  assert.equal(await tab.evaluate(() => window.broken), undefined);
  assert.equal(await tab.$eval("h1", (element) => element.textContent), HOSTILE);
  assert.equal((await tab.$$("main img, main script")).length, 0);
  assert.match(await tab.$eval(".banner.bad", (element) => element.innerText), /not whole/);
  for (const summary of await tab.$$("summary")) await summary.evaluate((element) => element.click());
  assert.equal(await tab.evaluate(() => window.broken), undefined);
  assert.deepEqual(troubles, []);
  await tab.close();
}

try {
  for (const test of [testRun, testCapture, testSeveral, testLoad, testHostile]) {
    await test();
    console.log(`${test.name}: ok`);
  }
} finally {
  await browser.close();
  rmSync(folder, { recursive: true, force: true });
}
