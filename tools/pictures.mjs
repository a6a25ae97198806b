// SPDX-License-Identifier: Apache-2.0
// Screenshots of the pages beside it: pictures.mjs FOLDER. From the top of a page to the end of an element.
import { launch } from "./page.mjs";

const folder = process.argv[2];
const PICTURES = [
  { page: "demo", until: "#checks", width: 1280 },
  { page: "demo", name: "demo-flows", from: "#throughput", until: "#flows", width: 1280 },
  { page: "demo", name: "demo-narrow", until: "#checks", width: 800 },
  { page: "sweep", until: "#sweep", width: 1280 },
  { page: "sweep", name: "sweep-narrow", until: "#sweep", width: 800 },
  { page: "compare", until: "#side-by-side", width: 1280 },
  { page: "compare", name: "compare-narrow", until: "#side-by-side", width: 800 },
  { page: "verdict", until: "#what-if-answer", width: 1280 },
  { page: "what-if", from: "#what-if", until: "#what-if", width: 1280, slide: { rate_bps: 4, ranks: 3 } },
];

const browser = await launch();
for (const { page, name = page, from, until, width, slide = {} } of PICTURES) {
  const tab = await browser.newPage();
  await tab.setViewport({ width, height: 900 });
  await tab.goto(`file://${process.cwd()}/${page}.html`);
  await tab.waitForSelector(until);
  for (const [key, stops] of Object.entries(slide)) {
    await tab.focus(`#what-if-${key}`);
    for (let stop = 0; stop < stops; stop++) await tab.keyboard.press("ArrowRight");
  }
  await new Promise((done) => setTimeout(done, 1000));
  const [y, end] = await tab.evaluate(
    (first, last) => {
      const edge = (selector, side) => document.querySelector(selector).getBoundingClientRect()[side] + scrollY;
      return [first ? edge(first, "top") - 16 : 0, edge(last, "bottom") + 16];
    },
    from ?? null,
    until,
  );
  await tab.screenshot({ path: `${folder}/${name}.png`, clip: { x: 0, y, width, height: end - y }, captureBeyondViewport: true });
  await tab.close();
}
await browser.close();
