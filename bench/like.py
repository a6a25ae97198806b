#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/like runs and prints: like.py TRAINWIRE LIKE_STEP [--runs N] [--only PATTERN] [--keep DIR] [--flows] [--realtime].

Only the run of the file as it is gets fitted; all others are what its predictions are held against. A step is the median of
the runs' median counted steps. Captures are off, since they cost processor time. A run whose own checks fail is tried again."""

import argparse
import fnmatch
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib

EXPERIMENTS = pathlib.Path(__file__).parent / "like.d"
RATES = (0.4, 0.7, 1.5, 2.5)  # of the file's
DELAYS = (10,)
GOAL = 0.07
ATTEMPTS = 4
LONGEST_RUN_S, LONGEST_FIT_S = 120, 120


def megabits(text: str) -> float:
    return float(text.removesuffix("Mbit"))


def microseconds(text: str) -> float:
    return 1000 * float(text[:-2]) if text.endswith("ms") else float(text.removesuffix("us"))


def changes_of(network: dict) -> dict[str, str]:
    """What is changed, in words, and as settings."""
    rate, delay = megabits(network["rate"]), microseconds(network["delay"])
    changes = {f"rate {rate * factor:g} Mbit/s": f"network.rate={rate * factor:g}Mbit" for factor in RATES}
    changes |= {f"delay {delay * factor:g} us": f"network.delay={delay * factor:g}us" for factor in DELAYS}
    if "link" in network:
        changes["no slow link"] = f"network.link.0.rate={network['rate']}"
    return changes


class Experiment:
    """One file, its changes, and what was measured and foretold of each; the file as it is has the change ""."""

    def __init__(self, path: pathlib.Path, folder: pathlib.Path):
        self.name = path.stem
        self.file = path
        self.folder = folder / path.stem
        self.changes = {"as it is": ""} | changes_of(tomllib.loads(path.read_text(encoding="utf-8"))["network"])
        self.steps: dict[str, list[float]] = {words: [] for words in self.changes}
        self.disturbed: set[str] = set()
        self.foretold: dict[str, float] = {}
        self.without_factor: dict[str, float] = {}
        self.factor = 1.0
        self.problem = ""

    def run_folder(self, words: str, seed: int) -> pathlib.Path:
        return self.folder / f"{words.replace(' ', '-').replace('/', '-')}-{seed}"


def progress(text: str) -> None:
    print(f"\r{text:<78}", end="" if text else "\r", file=sys.stderr, flush=True)


def summary_of(folder: pathlib.Path) -> dict | None:
    """Of a run that ended and whose checks hold."""
    document = folder / "run.json"
    run = json.loads(document.read_text(encoding="utf-8")).get("summary") if document.exists() else None
    return run if run and all(check["ok"] for check in run["checks"]) else None


class Bench:
    def __init__(self, options: argparse.Namespace):
        self.trainwire = options.trainwire.absolute()
        self.like_step = options.like_step.absolute()
        self.fit_with = () if options.flows else ("--packets",)
        self.run_under = ("chrt", "--rr", "5") if options.realtime else ()

    def run(self, experiment: Experiment, words: str, seed: int) -> None:
        folder, change = experiment.run_folder(words, seed), experiment.changes[words]
        for _ in range(ATTEMPTS):
            if (run := summary_of(folder)) is not None:
                experiment.steps[words].append(run["jobs"][0]["step"]["median_s"])
                if run["machine"]["level"] != "fine":
                    experiment.disturbed.add(words)
                return
            shutil.rmtree(folder, ignore_errors=True)
            folder.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run([*self.run_under, self.trainwire, "run", experiment.file, "-o", folder, "--no-page", "--quiet", "--set",
                            f"run.seed={seed}", "--set", "capture.enabled=false", *(["--set", change, "--no-check"] if change else [])],
                           stdin=subprocess.DEVNULL, capture_output=True, timeout=LONGEST_RUN_S)
        experiment.problem = f"{words}: no run whose checks hold in {ATTEMPTS} attempts"

    def fit(self, experiment: Experiment) -> None:
        words = [str(self.like_step), *self.fit_with, str(experiment.run_folder("as it is", 1))]
        for change in experiment.changes.values():
            words += ["--change", change]
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST_FIT_S)
        if done.returncode != 0:
            experiment.problem = done.stderr.strip()
            return
        document = json.loads(done.stdout)
        experiment.factor = next(c["value"] for c in document["constants"] if c["name"].startswith("model factor"))
        for change, prediction in zip(experiment.changes, document["predictions"]):
            experiment.foretold[change] = prediction["jobs"][0]["step_s"]
            experiment.without_factor[change] = prediction["jobs"][0]["simulated_s"]


def milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.1f}"


def percent(share: float) -> str:
    return f"{100 * share:+.1f} %"


def print_table(experiments: list[Experiment]) -> list[float]:
    print("| experiment | change | run: step in ms | foretold | error | without factor |")
    print("|---|---|--:|--:|--:|--:|")
    errors = []
    for experiment in experiments:
        for words, steps in experiment.steps.items():
            if not steps or words not in experiment.foretold:
                continue
            step = statistics.median(steps)
            error = experiment.foretold[words] / step - 1
            if words != "as it is":
                errors.append(error)
            print(f"| {experiment.name} | {words}{' !' if words in experiment.disturbed else ''} | {milliseconds(step)} | "
                  f"{milliseconds(experiment.foretold[words])} | {percent(error)} | "
                  f"{percent(experiment.without_factor[words] / step - 1)} |")
    print("\n!: a run was short of processor time, so that its steps are too long. \"as it is\" is what was fitted.\n")
    return errors


def compare(options: argparse.Namespace, folder: pathlib.Path) -> int:
    bench = Bench(options)
    paths = [path for path in sorted(EXPERIMENTS.glob("*.toml")) if fnmatch.fnmatch(path.stem, options.only)]
    if not paths:
        sys.exit(f'like: no experiment is named "{options.only}"')
    experiments = [Experiment(path, folder) for path in paths]
    for seed in range(1, options.runs + 1):
        for experiment in experiments:
            for words in experiment.changes:
                progress(f"run {seed} of {options.runs}: {experiment.name}, {words}")
                bench.run(experiment, words, seed)
    progress("")
    for experiment in experiments:
        bench.fit(experiment)
    errors = print_table(experiments)
    for experiment in experiments:
        print(f"{experiment.name}: {experiment.problem or f'model factor {experiment.factor:.3f}'}")
    if not errors:
        return 1
    within = sum(abs(error) <= GOAL for error in errors)
    print(f"\n{within} of {len(errors)} predictions within {100 * GOAL:.0f} %; error {100 * statistics.median(map(abs, errors)):.1f} % "
          f"at the median, {100 * max(map(abs, errors)):.1f} % at most")
    return 0 if within == len(errors) and not any(experiment.problem for experiment in experiments) else 1


def main() -> None:
    arguments = argparse.ArgumentParser(prog="bench/like", description="holds predictions from one run against others")
    arguments.add_argument("trainwire", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments.add_argument("like_step", type=pathlib.Path, help=argparse.SUPPRESS)
    arguments.add_argument("--runs", type=int, default=1, metavar="N", help="of each change, in turn (1); the first is fitted")
    arguments.add_argument("--only", default="*", metavar="PATTERN", help="experiments by name: 'ring*'")
    arguments.add_argument("--keep", type=pathlib.Path, metavar="DIR", help="where runs are kept, and taken from")
    arguments.add_argument("--flows", action="store_true", help="fit and foretell flow by flow, as `predict` does where packets are many")
    arguments.add_argument("--realtime", action="store_true", help="runs come before all other processes of a busy machine (root)")
    options = arguments.parse_args()
    if options.runs < 1:
        arguments.error("--runs: at least one is needed")
    if options.keep is not None:
        sys.exit(compare(options, options.keep.absolute()))
    with tempfile.TemporaryDirectory() as folder:
        sys.exit(compare(options, pathlib.Path(folder)))


if __name__ == "__main__":
    main()
