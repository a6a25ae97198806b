#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Predicts real PyTorch jobs that were measured: real_training.py TRAINWIRE TABLE... [--level flow|packet].

A prediction is given the network, the model, the ranks and the compute-only time of a step; when gradients are ready comes from
the H200's profile. Jobs whose emulation fell behind are shown and not counted."""

import argparse
import csv
import json
import statistics
import subprocess
import tempfile

EXPERIMENT = """[network]
hosts = {ranks}
rate = "{rate}"
delay = "20us"
queue = "2MB"
[[job]]
framework = "pytorch"
transport = "tcp"
model = "{model}"
batch = {batch}
device = "h200"
compute_time = "{compute_ms}ms"
"""


def predicted(program, job, level):
    with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        file.write(EXPERIMENT.format(**job))
        file.flush()
        answer = subprocess.run([program, "predict", file.name, "--level", level, "--json"], check=True, text=True,
                                capture_output=True).stdout
    return json.loads(answer)["jobs"][0]["step"]


def rows_of(path):
    with open(path, encoding="utf-8") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def show(program, path, level):
    print(f"\n{path}\n{'':5} {'model':24} {'ranks':>5} {'by':4} {'rate':>8} {'compute':>8} {'measured ms':>24} {'predicted ms':>24} {'error':>7}")
    errors, covered = [], 0
    for job in rows_of(path):
        step = predicted(program, job, level)
        measured = float(job["step_ms"])
        error = 1e3 * step["median_s"] / measured - 1
        counts = job["kept_up"] == "yes"
        if counts:
            errors.append(abs(error))
            covered += 1e3 * step["ci_low_s"] <= measured <= 1e3 * step["ci_high_s"]
        print(f"{job['id']:5} {job['model']:24} {job['ranks']:>5} {job['backend']:4} {job['rate']:>8} {job['compute_ms']:>8} "
              f"{measured:9.1f} ({job['least_ms']:>6}, {job['most_ms']:>6}) "
              f"{1e3 * step['median_s']:8.1f} ({1e3 * step['ci_low_s']:.1f}, {1e3 * step['ci_high_s']:.1f}) {100 * error:+6.1f} %"
              f"{'' if counts else '  the emulation fell behind: not counted'}")
    print(f"{len(errors)} jobs: error {100 * statistics.median(errors):.1f} % (median), {100 * max(errors):.1f} % (most); "
          f"{sum(e <= 0.1 for e in errors)} within 10 %, {covered} inside their 90 % interval")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("program")
    parser.add_argument("tables", nargs="+")
    parser.add_argument("--level", default="flow", choices=["flow", "packet"])
    options = parser.parse_args()
    for path in options.tables:
        show(options.program, path, options.level)


if __name__ == "__main__":
    main()
