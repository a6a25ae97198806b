#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/calibrate does: calibrate.py TRAINWIRE [--kept DIR]... [--held DIR]... [--dry].

An error is the logarithm of measured over predicted, in parts of what the network takes of a step, less what seeds differ by
(src/forecast/errors.h says how intervals are made of it). A regime's error is the conformal 90 % quantile of its runs; where they are too few to
have one, the largest of them, and at least that quantile of all regimes in which more than the line counts.

Every run counts by itself, as an interval is to hold for the next run. Of the table's three runs these are the least, the median and the
most."""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).parent.parent
TABLE = ROOT / "src/forecast/data/errors.csv"
PAGE = ROOT / "web/src/errors.ts"
BENCHMARKS = ROOT / "docs/benchmarks.md"
REGIMES = ("loss", "shared", "asynchronous", "queue", "servers", "late", "latency", "bandwidth")
NORMAL_90 = 1.645
PLAIN = ("latency", "bandwidth")
FEWEST = 9  # jobs of a regime that say something of its 90 % quantile


class Run:
    """One job: what was measured and what is predicted."""

    def __init__(self, name: str, measured: float, job: dict):
        self.name = name
        self.measured = measured
        self.predicted = job["step"]["median_s"]
        self.scale = job["error_scale_s"]
        self.regime = job["regime"]
        self.level = "packet" if job["method"] == "packet simulation" else "flow"
        sources = job["interval_sources"]  # what is next to nothing is left out
        self.noise, self.beyond = sources.get("noise", 0.0), sources.get("extrapolation", 0.0)

    def error(self) -> float:
        return abs(self.measured / self.predicted - 1)

    def score(self) -> float:
        """How wide an interval has to be beside its noise."""
        off = (self.measured - self.predicted) / self.scale
        width = math.log(1 + off) if off >= 0 else (-math.log(1 + off) if off > -0.99 else 5.0)
        return max(0.0, width - self.noise - self.beyond)

    def covered(self, form: float) -> bool:
        width = form + self.noise + self.beyond
        low = self.predicted - self.scale * (1 - math.exp(-width))
        high = self.predicted + self.scale * (math.exp(width) - 1)
        return low <= self.measured <= high


Steps = dict[str, dict[str, list[float]]]


def measured_in_table() -> Steps:
    """Of every run, by experiment and job, in seconds, from the table that bench/fidelity printed."""
    found: Steps = {}
    for line in BENCHMARKS.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 7 or not re.fullmatch(r"[0-9.]+", cells[1]):
            continue
        name, _, job = cells[0].removesuffix(" !").partition(" (")
        least, _, most = cells[2].partition(" to ")
        found.setdefault(name, {})[job.removesuffix(")")] = [float(ms) / 1e3 for ms in (least, cells[1], most)]
    return found


def measured_in(folder: pathlib.Path) -> Steps:
    """The same of kept runs whose checks hold, on a machine that kept up."""
    found: Steps = {}
    for kept in sorted(folder.iterdir()):
        steps: dict[str, list[float]] = {}
        for document in sorted(kept.glob("run-*/run.json")):
            run = json.loads(document.read_text(encoding="utf-8")).get("summary")
            if not run or not all(check["ok"] for check in run["checks"]) or run.get("cpu_bound"):
                continue
            for job in run["jobs"]:
                steps.setdefault(job["name"], []).append(job["step"]["median_s"])
        if steps:
            found[kept.name] = steps
    return found


def predict(trainwire: str, file: pathlib.Path, level: str) -> list[dict]:
    """By `level`: "flow" is the formula where it holds, as `predict` has it, "auto" what it comes to."""
    if level == "flow":
        jobs = predict(trainwire, file, "auto")
        if not any(job["method"] == "packet simulation" for job in jobs):
            return jobs
    done = subprocess.run([trainwire, "predict", str(file), "--json", "--brief", "--level", level], capture_output=True, text=True, timeout=600)
    if not done.stdout.startswith("{"):
        print(f"{file}: {done.stderr.strip()}", file=sys.stderr)
        return []
    return json.loads(done.stdout)["jobs"]


def runs_of(trainwire: str, files: dict[str, pathlib.Path], measured: Steps, level: str) -> list[Run]:
    names = [name for name in files if name in measured]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        predicted = list(pool.map(lambda name: predict(trainwire, files[name], level), names))
    runs = []
    for name, jobs in zip(names, predicted):
        of_jobs = measured[name]
        for job in jobs:
            steps = of_jobs.get(job["name"], next(iter(of_jobs.values())) if len(jobs) == 1 else [])
            runs += [Run(f"{name} ({job['name']})" if len(jobs) > 1 else name, step, job) for step in steps]
    return runs


def quantile(scores: list[float]) -> float:
    """The k-th smallest, k = ceil(0.9 (n + 1)); the largest where there are too few."""
    return sorted(scores)[min(len(scores), math.ceil(0.9 * (len(scores) + 1))) - 1]


def errors_of(runs: list[Run]) -> dict[str, tuple[int, float]]:
    """By regime: how many jobs, and their error."""
    of_others = quantile([run.score() for run in runs if run.regime not in PLAIN])
    of_plain = quantile([run.score() for run in runs if run.regime in PLAIN])
    errors = {}
    for regime in REGIMES:
        scores = [run.score() for run in runs if run.regime == regime]
        jobs = len({run.name for run in runs if run.regime == regime})
        enough = jobs >= FEWEST
        errors[regime] = (jobs, quantile(scores) if enough else max([of_plain if regime in PLAIN else of_others, *scores]))
    return errors


def spread(runs: list[Run]) -> str:
    errors = sorted(run.error() for run in runs)
    return (f"{100 * statistics.median(errors):.1f} % at the median, {100 * errors[math.ceil(0.9 * len(errors)) - 1]:.1f} % at the "
            f"90th percentile, of {len(runs)} runs of {len({run.name for run in runs})} jobs")


def print_level(level: str, used: list[Run], held: list[Run], errors: dict[str, tuple[int, float]]) -> tuple[int, int]:
    print(f"{level}: error of the step, used: {spread(used)}")
    print("\n| regime | used | error | not used | covered | error at the median |\n|---|--:|--:|--:|--:|--:|")
    for regime in REGIMES:
        others = [run for run in held if run.regime == regime]
        covered = sum(run.covered(errors[regime][1]) for run in others)
        middle = f"{100 * statistics.median(run.error() for run in others):.1f} %" if others else ""
        print(f"| {regime} | {errors[regime][0]} | {100 * (math.exp(errors[regime][1]) - 1):.1f} % | {len(others)} | {covered} | {middle} |")
    covered = sum(run.covered(errors[run.regime][1]) for run in held)
    if held:
        print(f"\n{level}: not used: {spread(held)}; 90 % intervals cover {covered} of {len(held)} ({100 * covered / len(held):.0f} %)")
        print("outside: " + ", ".join(f"{run.name} {100 * (run.predicted / run.measured - 1):+.0f} %" for run in held
                                      if not run.covered(errors[run.regime][1])))
    return covered, len(held)


def print_default(held: list[Run], by_level: dict[str, dict[str, tuple[int, float]]]) -> None:
    """As `predict` answers without --level: by formula, flows or packets."""
    covered = sum(run.covered(by_level[run.level][run.regime][1]) for run in held)
    packets = sum(run.level == "packet" for run in held)
    print(f"as it comes: not used: {spread(held)}; {packets} by packets; 90 % intervals cover {covered} of {len(held)} "
          f"({100 * covered / len(held):.0f} %)")
    jobs: dict[str, list[Run]] = {}
    for run in held:
        jobs.setdefault(run.name, []).append(run)
    errors = sorted(abs(statistics.median(run.measured for run in runs) / runs[0].predicted - 1) for runs in jobs.values())
    print(f"as it comes, by jobs, whose step is the median of their runs: {100 * statistics.median(errors):.1f} % at the median, "
          f"{100 * errors[math.ceil(0.9 * len(errors)) - 1]:.1f} % at the 90th percentile, of {len(errors)}\n")


def write_page(lines: list[str]) -> None:
    """Errors at flow level into what the page knows of them."""
    text = PAGE.read_text(encoding="utf-8")
    for level, regime, _, error in (line.split(",") for line in lines):
        if level == "flow":
            text = re.sub(rf"(  {regime}: )[0-9.]+", rf"\g<1>{float(error)}", text)
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("trainwire")
    parser.add_argument("--kept", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--held", type=pathlib.Path, action="append", default=[])
    parser.add_argument("--dry", action="store_true")
    options = parser.parse_args()
    used = measured_in_table()
    for folder in options.kept:
        for name, jobs in measured_in(folder).items():
            for job, steps in jobs.items():
                of_name = used.setdefault(name, {})
                of_name.setdefault("" if "" in of_name else job, []).extend(steps)
    files = {path.stem: path for path in sorted((ROOT / "bench/fidelity.d").glob("*.toml"))}
    for folder in options.kept:
        files |= {path.parent.name: path for path in sorted(folder.glob("*/experiment.toml"))}
    held_files, held = {}, {}
    for folder in options.held:
        held |= measured_in(folder)
        held_files |= {path.parent.name: path for path in sorted(folder.glob("*/experiment.toml"))}
    lines = ["level,regime,runs,error"]
    by_level = {}
    for level in ("flow", "packet"):
        learned = runs_of(options.trainwire, files, used, level)
        others = runs_of(options.trainwire, held_files, held, level)
        errors = by_level[level] = errors_of(learned)
        covered, count = print_level(level, learned, others, errors)
        lines += [f"{level},{regime},{runs},{error:.4f}" for regime, (runs, error) in errors.items()]
        lines.append(f"{level},covered,{count},{covered}")
        print()
    if held:
        print_default(runs_of(options.trainwire, held_files, held, "auto"), by_level)
    if not options.dry:
        TABLE.write_text("\n".join(lines) + "\n", encoding="utf-8")
        write_page(lines)
        print(f"written: {TABLE.relative_to(ROOT)}, {PAGE.relative_to(ROOT)}; the page is built with the latter: (cd web && npm run build)")


main()
