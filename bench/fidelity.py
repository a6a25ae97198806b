#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/fidelity runs and prints: fidelity.py TRAINWIRE [--runs N] [--only PATTERN] [--held-out SEED] [--keep DIR] [--resim]
[--no-sim] [--minutes M] [--realtime].

Run number N has the seed N, in emulation and in simulation: cross traffic and computing times are drawn alike. Five seeds at
least are simulated. A job's step is the median of its runs' median counted steps; an error is what the simulation has more or less of it. Captures are off,
since they cost processor time. A run whose own checks fail does not count and is tried again."""

import argparse
import concurrent.futures
import fnmatch
import json
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib

import fidelity_draw

EXPERIMENTS = pathlib.Path(__file__).parent / "fidelity.d"
LEVELS = ("flow", "packet")
GOAL_MEDIAN, GOAL_P90 = 0.05, 0.12
ATTEMPTS = 3
LEAST_SIMS = 5
LONGEST_RUN_S, LONGEST_SIM_S = 120, 300


class Experiment:
    """One file, what was measured of it and what was simulated, by seed; or the sentence that says why not."""

    def __init__(self, name: str, text: str, folder: pathlib.Path):
        self.name = name
        self.text = text
        self.folder = folder
        self.file = folder / "experiment.toml"
        self.runs: dict[int, dict] = {}
        self.not_run = ""
        self.sims: dict[str, dict[int, dict]] = {level: {} for level in LEVELS}
        self.not_simulated: dict[str, str] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self.file.write_text(text, encoding="utf-8")

    def run_folder(self, seed: int) -> pathlib.Path:
        return self.folder / f"run-{seed}"

    def text_when_run(self, seed: int) -> pathlib.Path:
        """The file as it was then: a run of another text is of another experiment."""
        return self.folder / f"run-{seed}.toml"

    def seeds(self) -> list[int]:
        """Those to simulate: of the runs, and more, since a simulation costs little and one alone is chance."""
        return sorted({*self.runs, *range(1, LEAST_SIMS + 1)}) if self.runs else []

    def settings(self) -> str:
        """The file in one line."""
        words = []
        for section, value in tomllib.loads(self.text).items():
            for table in value if isinstance(value, list) else [value]:
                if isinstance(table, dict):
                    words.append(f"{section}: " + ", ".join(f"{key} {text_of(entry)}" for key, entry in table.items()))
        return "; ".join(words)


def text_of(entry) -> str:
    if isinstance(entry, list):
        return "+".join(text_of(part) for part in entry)
    if isinstance(entry, dict):
        return "(" + ", ".join(f"{key} {text_of(value)}" for key, value in entry.items()) + ")"
    return str(entry)


class Bench:
    """Knows how a run and a simulation are started."""

    def __init__(self, trainwire: pathlib.Path, realtime: bool):
        self.trainwire = trainwire
        self.run_under = ("chrt", "--rr", "5") if realtime else ()
        help_text = subprocess.run([trainwire, "sim", "--help"], capture_output=True, text=True, check=True).stdout
        self.has_levels = "--level" in help_text

    def run(self, experiment: Experiment, seed: int, check_network: bool) -> None:
        folder = experiment.run_folder(seed)
        for _ in range(ATTEMPTS):
            shutil.rmtree(folder, ignore_errors=True)
            experiment.text_when_run(seed).write_text(experiment.text, encoding="utf-8")
            _, experiment.not_run = self.sentence_of(
                [*self.run_under, self.trainwire, "run", experiment.file, "-o", folder, "--no-page", "--quiet", "--set",
                 f"run.seed={seed}", "--set", "capture.enabled=false", *([] if check_network else ["--no-check"])], LONGEST_RUN_S)
            if not experiment.not_run:
                self.load(experiment, seed)
                return

    def load(self, experiment: Experiment, seed: int) -> bool:
        document, text = experiment.run_folder(seed) / "run.json", experiment.text_when_run(seed)
        if document.exists() and text.exists() and text.read_text(encoding="utf-8") == experiment.text:
            run = json.loads(document.read_text(encoding="utf-8")).get("summary")  # none when it was interrupted
            if run and all(check["ok"] for check in run["checks"]):
                experiment.runs[seed] = run
        return seed in experiment.runs

    def simulate(self, experiment: Experiment, level: str, seed: int) -> None:
        if level == "packet" and not self.has_levels:
            experiment.not_simulated[level] = "this program has no --level"
            return
        with tempfile.TemporaryDirectory() as folder:
            out, sentence = self.sentence_of(
                [self.trainwire, "sim", experiment.file, *(["--level", level] if self.has_levels else []), "--json", "-o", f"{folder}/sim",
                 "--no-page", "--set", f"run.seed={seed}"], LONGEST_SIM_S)
        # A simulation whose own checks fail is compared all the same, and named below the table.
        if out.startswith("{"):
            experiment.sims[level][seed] = json.loads(out)
        if sentence:
            experiment.not_simulated[level] = sentence

    def sentence_of(self, words: list, limit_s: int) -> tuple[str, str]:
        """What was printed, and what went wrong if something did."""
        try:
            done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=limit_s)
        except subprocess.TimeoutExpired:
            return "", f"not done after {limit_s} s"
        return done.stdout, "" if done.returncode == 0 else reason_of(done)


def reason_of(done: subprocess.CompletedProcess) -> str:
    """Why a command failed: its own sentence, the signal that ended it, or the checks of its document that did not hold."""
    if done.returncode < 0:
        return f"ended by signal {-done.returncode}"
    said = [line for line in done.stderr.splitlines() if line.startswith("trainwire:")]
    if done.stdout.startswith("{"):
        failed = [check for check in json.loads(done.stdout)["checks"] if not check["ok"]]
        said = [f"{check['text']}: {check['found']}" for check in failed] or said
    return said[0] if said else f"exit code {done.returncode}"


def progress(text: str) -> None:
    print(f"\r{text:<78}", end="" if text else "\r", file=sys.stderr, flush=True)


def measure(bench: Bench, experiments: list[Experiment], runs: int, minutes: float) -> None:
    """Runs take turns: what changes on the machine meanwhile changes all experiments alike. After so many minutes none begins."""
    until = time.monotonic() + 60 * minutes
    for seed in range(1, runs + 1):
        for number, experiment in enumerate(experiments):
            if not bench.load(experiment, seed):
                if time.monotonic() > until:
                    continue
                progress(f"run {seed} of {runs}, experiment {number + 1} of {len(experiments)}: {experiment.name}")
                bench.run(experiment, seed, check_network=not experiment.runs)
    progress("")


def simulate(bench: Bench, experiments: list[Experiment]) -> None:
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = [pool.submit(bench.simulate, experiment, level, seed)
                 for experiment in experiments for level in LEVELS for seed in experiment.seeds()]
        for done, task in enumerate(concurrent.futures.as_completed(tasks)):
            task.result()
            progress(f"simulation {done + 1} of {len(tasks)}")
    progress("")


class Row:
    """One job of one experiment: times in seconds, of each run and each simulation."""

    def __init__(self, experiment: Experiment, job: int):
        self.experiment = experiment
        jobs = [run["jobs"] for run in experiment.runs.values()]
        self.name = experiment.name + (f" ({jobs[0][job]['name']})" if len(jobs[0]) > 1 else "")
        self.measured = {key: [of_run[job][key]["median_s"] for of_run in jobs] for key in ("step", "exchange")}
        self.simulated = {level: {key: [sim["jobs"][job][key]["median_s"] for sim in sims.values()] for key in ("step", "exchange")}
                          for level, sims in experiment.sims.items() if len(sims) == len(experiment.seeds())}
        self.disturbed = any(run["cpu_bound"] or run["machine"]["level"] != "fine" for run in experiment.runs.values())

    def error(self, level: str, key: str = "step") -> float | None:
        if level not in self.simulated:
            return None
        return statistics.median(self.simulated[level][key]) / statistics.median(self.measured[key]) - 1

    def cells(self) -> list[str]:
        steps = self.measured["step"]
        cells = [self.name + (" !" if self.disturbed else ""), milliseconds(statistics.median(steps)),
                 f"{milliseconds(min(steps))} to {milliseconds(max(steps))}"]
        for level in LEVELS:
            if self.error(level) is None:
                cells += ["", "", ""]
                continue
            simulated = statistics.median(self.simulated[level]["step"])
            within = min(steps) <= simulated <= max(steps)
            cells += [milliseconds(simulated), percent(self.error(level)) + (" ~" if within else ""),
                      percent(self.error(level, "exchange"))]
        return cells


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.1f}" if seconds < 0.1 else f"{1e3 * seconds:.0f}"


def percent(share: float) -> str:
    return f"{100 * share:+.1f} %"


def percentile90(values: list[float]) -> float:
    return sorted(values)[math.ceil(0.9 * len(values)) - 1]


def print_table(rows: list[Row]) -> None:
    print("| experiment | run: step in ms | least to most | flow | error | of exchange | packet | error | of exchange |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    for row in rows:
        print("| " + " | ".join(row.cells()) + " |")
    print("\n~: within what the runs differ among themselves. !: a run was short of processor time, so that its steps are too long.\n")


def print_summary(rows: list[Row], level: str) -> None:
    for key in ("step", "exchange"):
        errors = [abs(row.error(level, key)) for row in rows if row.error(level, key) is not None]
        if not errors:
            print(f"{level} level, {key}: nothing was simulated")
            continue
        middle, tail = statistics.median(errors), percentile90(errors)
        goals = f" (goal {100 * GOAL_MEDIAN:.0f} %)", f" (goal {100 * GOAL_P90:.0f} %)"
        print(f"{level} level, {key}: error {100 * middle:.1f} % at the median{goals[0] if key == 'step' else ''}, "
              f"{100 * tail:.1f} % at the 90th percentile{goals[1] if key == 'step' else ''}; {len(errors)} of {len(rows)} jobs")


def print_worst(rows: list[Row], level: str) -> None:
    compared = sorted((row for row in rows if row.error(level) is not None), key=lambda row: -abs(row.error(level)))
    if compared:
        print(f"\nworst at {level} level:")
    for row in compared[:5]:
        print(f"  {percent(row.error(level)):>9}  {row.name}: {row.experiment.settings()}")


def print_missing(experiments: list[Experiment]) -> None:
    reasons: dict[str, list[str]] = {}
    for experiment in experiments:
        if not experiment.runs:
            reasons.setdefault(f"not measured: {experiment.not_run or 'no run was kept'}", []).append(experiment.name)
        for level, sentence in experiment.not_simulated.items():
            what = "a check failed" if experiment.sims[level] else "not simulated"
            reasons.setdefault(f"{what} at {level} level: {sentence}", []).append(experiment.name)
    for reason, names in reasons.items():
        print(f"\n{reason}\n  " + ", ".join(names))


def experiments_of(options: argparse.Namespace, folder: pathlib.Path) -> list[Experiment]:
    if options.held_out is None:
        texts = {path.stem: path.read_text(encoding="utf-8") for path in sorted(EXPERIMENTS.glob("*.toml"))}
    else:
        texts = fidelity_draw.draw(options.held_out, *options.hosts)
    chosen = [name for name in texts if fnmatch.fnmatch(name, options.only)]
    if not chosen:
        sys.exit(f'fidelity: no experiment is named "{options.only}"; there are {", ".join(texts)}')
    return [Experiment(name, texts[name], folder / name) for name in chosen]


def compare(bench: Bench, options: argparse.Namespace, folder: pathlib.Path) -> None:
    experiments = experiments_of(options, folder)
    before = os.getloadavg()[0]
    if options.resim:
        for experiment in experiments:
            for seed in range(1, options.runs + 1):
                bench.load(experiment, seed)
    else:
        measure(bench, experiments, options.runs, options.minutes)
    after = os.getloadavg()[0]
    if options.no_sim:
        print(f"{sum(len(each.runs) for each in experiments)} of {options.runs * len(experiments)} runs are kept")
        return
    simulate(bench, experiments)
    rows = [Row(experiment, job) for experiment in experiments if experiment.runs
            for job in range(len(next(iter(experiment.runs.values()))["jobs"]))]
    drawn = "" if options.held_out is None else f" drawn by seed {options.held_out}"
    print(f"{len(experiments)} experiments{drawn}, up to {options.runs} runs each, {os.cpu_count()} processors, "
          f"load {before:.1f} before and {after:.1f} after the runs\n")
    print_table(rows)
    for level in LEVELS:
        print_summary(rows, level)
    for level in LEVELS:
        print_worst(rows, level)
    print_missing(experiments)


def main() -> None:
    arguments = argparse.ArgumentParser(prog="bench/fidelity", description="compares simulated steps with measured ones")
    arguments.add_argument("trainwire", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments.add_argument("--runs", type=int, default=3, metavar="N", help="of each experiment, in turn (3)")
    arguments.add_argument("--only", default="*", metavar="PATTERN", help="experiments by name: 'ring-*'")
    arguments.add_argument("--held-out", type=int, metavar="SEED", help="40 other experiments, drawn by this seed")
    arguments.add_argument("--hosts", type=lambda text: tuple(map(int, text.split(".."))), default=(2, 6), metavar="A..B", help="of drawn experiments (2..6)")
    arguments.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="where runs are kept, and taken from")
    arguments.add_argument("--resim", action="store_true", help="only simulate, against runs that --keep has")
    arguments.add_argument("--no-sim", action="store_true", help="only run, into --keep: nobody looks at errors yet")
    arguments.add_argument("--minutes", type=float, default=math.inf, metavar="M", help="no run begins later than that; the next time goes on")
    arguments.add_argument("--realtime", action="store_true", help="runs come before all other processes of a busy machine (root)")
    options = arguments.parse_args()
    if options.runs < 1:
        arguments.error("--runs: at least one is needed")
    if options.resim and options.keep is None:
        arguments.error("--resim: name the folder of the runs with --keep")
    if options.no_sim and (options.keep is None or options.resim):
        arguments.error("--no-sim: name a folder for the runs with --keep, and leave --resim out")
    bench = Bench(options.trainwire.absolute(), options.realtime)
    if options.keep is not None:
        return compare(bench, options, options.keep.absolute())
    with tempfile.TemporaryDirectory() as folder:
        compare(bench, options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
