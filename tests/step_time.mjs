// SPDX-License-Identifier: Apache-2.0
// What sliders of the page compute is what `trainwire predict --level formula` says, numbers and reasons for none: step_time.mjs
// PROGRAM FOLDER, beside settings.mjs, predicted.mjs, limits.mjs and formula.mjs (tests/step_time.sh makes them). Settings come from a record, as
// on the page.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { lossRate, STRATEGIES } from "./formula.mjs";
import { NO_WORKER } from "./limits.mjs";
import { holds, predicted } from "./predicted.mjs";
import { ownSettings } from "./settings.mjs";

const [program, folder] = process.argv.slice(2);
const json = (...args) => JSON.parse(execFileSync(program, [...args, "--json"], { encoding: "utf8", maxBuffer: 1 << 28 }));

const experiment = (job, network = "") => `[network]
topology = "star"
hosts = 4
rate = "1Gbit"
delay = "50us"
allow_shallow_queue = true
${network}
[[job]]
${job}
`;
const JOBS = {
  overlapping: 'framework = "pytorch"\nmodel = "resnet50-torchvision"\nbatch = 64\ndevice = "a100"\nsteps = 1',
  // More than a timeout of compute: windows are closed when the exchange begins.
  waiting: 'model = "vgg16"\nstrategy = "ring"\ncompute_time = "700ms"\noverlap = false\nsteps = 1',
  // Chunks of less than two frames are passed on whole.
  tiny: 'parameters = "20kB"\nstrategy = "ring"\ncompute_time = "5ms"\noverlap = false\nsteps = 1',
  // All of it is in any window, so that no pause matters.
  paused: 'parameters = "4kB"\nstrategy = "ring"\ncompute_time = "1s"\noverlap = false\nsteps = 1',
  // A bucket of them is in a queue where all are not.
  buckets: 'parameters = "2MB"\nstrategy = "ring"\nbucket = "200kB"\ncompute_time = "20ms"\noverlap = false\nsteps = 1',
  // With compute, what a round of others takes is more than a timeout.
  sharded: 'parameters = "4MB"\nstrategy = "ring"\nservers = 2\ncompute_time = "190ms"\noverlap = false\nsteps = 1',
  // A tree that is cut is not as long as two rounds.
  pieces: 'parameters = "1MB"\nstrategy = "ring"\npieces = 4\ncompute_time = "10ms"\noverlap = false\nsteps = 1',
  // Streams have more under way than is let wait, or less, and BBR does not mind.
  marked: 'parameters = "2MB"\nstrategy = "ring"\ncompute_time = "10ms"\noverlap = false\nsteps = 1',
};
const NETWORKS = { marked: 'ecn = "300kB"' };
const AXES = {
  "network.rate": ["100Mbit", "1Gbit", "25Gbit"],
  "network.delay": ["5us", "1ms", "20ms"],
  // 40 ranks have fewer messages than 4,000 in a clique, and more in two rings; 48 and 80 have more in both.
  "network.hosts": [2, 5, 40, 48, 80],
  "network.congestion_control": ["cubic", "bbr"],
  "job.strategy": STRATEGIES,
};
/** In another call, so that what the record has is asked about too. */
const QUEUES = { "2.8bdp": { bytes: null, bdp: 2.8 }, "95kB": { bytes: 95e3, bdp: null }, "300kB": { bytes: 300e3, bdp: null } };
const bits = (text) => Number.parseFloat(text) * (text.endsWith("Gbit") ? 1e9 : 1e6);
const seconds = (text) => Number.parseFloat(text) * (text.endsWith("us") ? 1e-6 : 1e-3);

/** What the page says where the program was asked about these. */
function foundByPage(settings, work) {
  const setting = {
    rate_bps: bits(settings["network.rate"]),
    delay_s: seconds(settings["network.delay"]),
    loss: 0,
    ranks: Number(settings["network.hosts"]),
    strategy: settings["job.strategy"],
  };
  return predicted(setting, { ...work, queue: QUEUES[settings["network.queue"]] ?? work.queue, congestionControl: settings["network.congestion_control"] });
}

/** Why the program has no formula, in the page's words; other problems as they are. */
const reasonOf = (problem) => (problem.includes("so that no worker is left") ? NO_WORKER : (/^the formula does not hold: (.*); --level flow simulates$/.exec(problem)?.[1] ?? problem));

const refused = new Map();
let compared = 0;
let worst = 0;

function compare(where, { settings, step, problem }, work) {
  const found = foundByPage(settings, work);
  if (problem !== undefined) {
    assert.equal(found.because, reasonOf(problem), where);
    refused.set(found.because, (refused.get(found.because) ?? 0) + 1);
    return;
  }
  assert.ok(holds(found), `${where}: the page says "${found.because}", the program ${step?.median_s}`);
  for (const [page, told] of [[found.step_s, step.median_s], [found.low_s, step.ci_low_s], [found.high_s, step.ci_high_s]]) {
    const off = Math.abs(page / told - 1);
    assert.ok(off <= 1e-6, `${where}: the page says ${page}, the program ${told}`);
    worst = Math.max(worst, off);
  }
  compared++;
}

for (const [name, job] of Object.entries(JOBS)) {
  const file = `${folder}/${name}.toml`;
  writeFileSync(file, experiment(job, NETWORKS[name]));
  const own = ownSettings(json("sim", file, "--level", "flow", "--force", "-o", `${folder}/${name}.run`));
  assert.ok(own, `${name}: the record has what sliders need`);
  assert.deepEqual(own.leftOut, [], name);
  for (const axes of [AXES, { ...AXES, "network.queue": Object.keys(QUEUES) }]) {
    const asked = Object.entries(axes).flatMap(([key, values]) => ["--what-if", `${key}=${values}`]);
    const answers = json("predict", file, "--level", "formula", "--force", ...asked).what_if;
    assert.equal(answers.length, Object.values(axes).reduce((product, values) => product * values.length, 1));
    for (const answer of answers) compare(`${name} ${JSON.stringify(answer.settings)}`, answer, own.work);
  }
}
assert.ok(compared >= 3000, `only ${compared} settings have a formula`);
const REASONS = [
  "queues are shallow",
  "the strategy loads links unevenly",
  "switches mark packets before streams find their rate",
  "windows close while ranks compute",
  "streams meet in queues that may overflow",
  "messages are too short for BBR to reach the line's rate",
  NO_WORKER,
];
for (const reason of REASONS) assert.ok((refused.get(reason) ?? 0) >= 20, `only ${refused.get(reason) ?? 0} settings: ${reason}`);
// RFC 8312's tables: CUBIC is Reno at 10 ms and 1e-4 (window 122), and 1.054 (R/p)^0.75 at 100 ms and 1e-6.
assert.ok(Math.abs(lossRate("cubic", 1e-4, 0.01) * 0.01 - 122) < 1);
assert.ok(Math.abs((lossRate("cubic", 1e-6, 0.1) * 0.1) / 5926 - 1) < 0.01);
assert.equal(lossRate("bbr", 0.1, 0.01), Infinity);
const without = [...refused.values()].reduce((sum, count) => sum + count, 0);
console.log(`step_time: ${compared} settings, at most ${worst.toExponential(1)} apart, and ${without} for which neither has a number: ok`);
