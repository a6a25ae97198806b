// SPDX-License-Identifier: Apache-2.0
// How long a page takes in headless Chromium until everything is painted, and how long zooming takes:
// report.mjs PAGE ROUNDS. Times are from the act to the end of the frame that shows it, in milliseconds.
import { launch } from "./page.mjs";

const [page, rounds] = process.argv.slice(2);
const ACTS = { "zoom to a half": "+", "zoom to an eighth": "+++", "back to all": "0" };

const browser = await launch();

/** A fresh tab each time: nothing is compiled or cached beforehand. */
async function measured() {
  const tab = await browser.newPage();
  await tab.setViewport({ width: 1280, height: 900 });
  await tab.goto(`file://${page}`, { waitUntil: "load" });
  await tab.waitForSelector("#throughput-plot canvas");
  const times = await tab.evaluate(async (acts) => {
    // The frame after next begins when the next one is painted.
    const painted = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(performance.now()))));
    const list = { "first paint": performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? NaN, "everything painted": await painted() };
    const plot = document.querySelector("#throughput-plot .drawing");
    plot.scrollIntoView();
    await painted();
    const press = (key) => plot.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
    for (const [name, keys] of Object.entries(acts)) {
      for (const key of keys.slice(1)) press(key);
      await painted();
      const start = performance.now();
      press(keys[0]);
      list[name] = (await painted()) - start;
    }
    list["points"] = JSON.parse(document.getElementById("data").textContent).runs[0].throughput[0].mean.n;
    return list;
  }, ACTS);
  await tab.close();
  return times;
}

const all = [];
for (let i = 0; i < Number(rounds); i++) all.push(await measured());
await browser.close();
console.log(`${all[0].points.toLocaleString("en-US")} points`);
for (const name of Object.keys(all[0]).filter((each) => each !== "points")) {
  const times = all.map((each) => each[name]).sort((a, b) => a - b);
  const text = (value) => value.toFixed(0).padStart(6);
  console.log(`${name.padEnd(20)} ${text(times[Math.floor(times.length / 2)])} ms   (${text(times[0]).trim()} to ${text(times[times.length - 1]).trim()})`);
}
