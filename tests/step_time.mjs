// SPDX-License-Identifier: Apache-2.0
// What sliders of the page compute is what `trainwire predict` says: step_time.mjs PROGRAM FOLDER, beside settings.mjs and
// formula.mjs (tests/step_time.sh makes them). Settings come from a record, as on the page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { predicted, lossRate, STRATEGIES } from "./formula.mjs";
import { ownSettings } from "./settings.mjs";

const [program, folder] = process.argv.slice(2);
const json = (...args) => JSON.parse(execFileSync(program, [...args, "--json"], { encoding: "utf8", maxBuffer: 1 << 28 }));

const experiment = (job) => `[network]
topology = "star"
hosts = 4
rate = "1Gbit"
delay = "50us"
[[job]]
${job}
`;
const JOBS = {
  overlapping: 'framework = "pytorch"\nmodel = "resnet50-torchvision"\nbatch = 64\ndevice = "a100"\nsteps = 1',
  // More than a timeout of compute: windows are closed when the exchange begins.
  waiting: 'model = "vgg16"\nstrategy = "ring"\ncompute_time = "700ms"\noverlap = false\nsteps = 1',
  // Chunks of less than two frames are passed on whole.
  tiny: 'parameters = "20kB"\nstrategy = "ring"\ncompute_time = "5ms"\noverlap = false\nsteps = 1',
};
const RATES = ["100Mbit", "1Gbit", "25Gbit"];
const DELAYS = ["5us", "1ms"];
const HOSTS = [2, 5, 32];
const bits = (text) => Number.parseFloat(text) * (text.endsWith("Gbit") ? 1e9 : 1e6);
const seconds = (text) => Number.parseFloat(text) * (text.endsWith("us") ? 1e-6 : 1e-3);

let compared = 0;
let worst = 0;
for (const [name, job] of Object.entries(JOBS)) {
  const file = `${folder}/${name}.toml`;
  writeFileSync(file, experiment(job));
  const own = ownSettings(json("sim", file, "--level", "flow", "--force", "-o", `${folder}/${name}.run`));
  assert.ok(own, `${name}: the record has what sliders need`);
  assert.deepEqual(own.leftOut, [], name);
  const grid = [`network.rate=${RATES}`, `network.delay=${DELAYS}`, `network.hosts=${HOSTS}`, `job.strategy=${STRATEGIES}`];
  const answers = json("predict", file, "--force", ...grid.flatMap((each) => ["--what-if", each])).what_if;
  assert.equal(answers.length, RATES.length * DELAYS.length * HOSTS.length * STRATEGIES.length);
  for (const { settings, step, method } of answers) {
    if (method !== "formula") continue;
    const found = predicted(
      { rate_bps: bits(settings["network.rate"]), delay_s: seconds(settings["network.delay"]), loss: 0, ranks: Number(settings["network.hosts"]), strategy: settings["job.strategy"] },
      own.work,
    );
    for (const [page, told] of [[found.step_s, step.median_s], [found.low_s, step.ci_low_s], [found.high_s, step.ci_high_s]]) {
      const off = Math.abs(page / told - 1);
      assert.ok(off <= 1e-6, `${name} ${JSON.stringify(settings)}: the page says ${page}, the program ${told}`);
      worst = Math.max(worst, off);
    }
    compared++;
  }
}
assert.ok(compared >= 150, `only ${compared} settings have a formula`);
// RFC 8312's tables: CUBIC is Reno at 10 ms and 1e-4 (window 122), and 1.054 (R/p)^0.75 at 100 ms and 1e-6.
assert.ok(Math.abs(lossRate("cubic", 1e-4, 0.01) * 0.01 - 122) < 1);
assert.ok(Math.abs((lossRate("cubic", 1e-6, 0.1) * 0.1) / 5926 - 1) < 0.01);
assert.equal(lossRate("bbr", 0.1, 0.01), Infinity);
console.log(`step_time: ${compared} settings, at most ${worst.toExponential(1)} apart: ok`);
