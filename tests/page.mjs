// SPDX-License-Identifier: Apache-2.0
// What everything that opens a page of trainwire in Chromium has in common.
import puppeteer from "puppeteer-core";

export const launch = () =>
  puppeteer.launch({ executablePath: "/usr/bin/chromium", headless: true, protocolTimeout: 600_000, args: ["--no-sandbox", "--disable-gpu"] });

/** Pixels with a colour, by plot; axes and texts are grey. */
export const drawnPixels = (tab) =>
  tab.$$eval("figure.plot:has(canvas)", (figures) =>
    figures.map((figure) => {
      const canvas = figure.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      let coloured = 0;
      for (let i = 0; i < data.length; i += 4) {
        const [r, g, b, a] = data.slice(i, i + 4);
        if (a > 40 && Math.max(r, g, b) - Math.min(r, g, b) > 30) coloured++;
      }
      return { id: figure.id, coloured };
    }),
  );

/** A tab of the usual size, and the list of errors that it meets. */
export async function watchedTab(browser) {
  const tab = await browser.newPage();
  tab.setDefaultTimeout(120_000);
  const troubles = [];
  tab.on("console", (message) => message.type() === "error" && troubles.push(message.text()));
  tab.on("pageerror", (error) => troubles.push(error.message));
  await tab.setViewport({ width: 1280, height: 900 });
  return { tab, troubles };
}

/** One after another; the first that fails ends it. */
export async function runTests(...tests) {
  for (const test of tests) {
    await test();
    console.log(`${test.name}: ok`);
  }
}
