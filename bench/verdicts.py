#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/verdicts runs and prints: verdicts.py BUILD [--only PATTERN] [--keep DIR] [--again] [--sim] [--attempts N] [--realtime] [--trust] [--texts].

A verdict is right when it names the known cause, and its place where one is known; of two jobs the first counts. It is
confidently wrong when it names another with a confidence of 0.5 or more. The truth of a part is the step with the cause less
the step without it, both run; of computing it is what the experiment says. Captures are off, since they cost processor time."""

import argparse
import dataclasses
import fnmatch
import json
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import tomllib

import verdicts_known

LONGEST_RUN_S = 180
SURE = 0.5
GOAL_RIGHT, GOAL_PART = 27, 0.15


@dataclasses.dataclass
class Judged:
    """One engine's record of an experiment; or the sentence that says why there is none."""
    record: dict = dataclasses.field(default_factory=dict)
    sentence: str = ""

    def job(self) -> dict:
        return self.record["jobs"][0]

    def verdict(self) -> dict:
        return self.job().get("verdict") or {"cause": "none", "where": "", "confidence": 0, "text": "no verdict"}

    def part(self, name: str) -> float:
        return sum(part["seconds"] for part in self.job()["accounting"]["parts"] if part["name"] == name)


class Bench:
    """Knows how an experiment is run, simulated and judged again."""

    def __init__(self, build: pathlib.Path, folder: pathlib.Path, options: argparse.Namespace):
        self.trainwire, self.judge_run = build / "trainwire", build / "judge_run"
        self.folder = folder
        self.options = options
        self.run_under = ["chrt", "--rr", "5"] if options.realtime else []

    def place(self, name: str, text: str) -> tuple[pathlib.Path, pathlib.Path]:
        """Its file, which is written, and its run's folder."""
        folder = self.folder / name
        folder.mkdir(parents=True, exist_ok=True)
        file = folder / "experiment.toml"
        if file.exists() and file.read_text(encoding="utf-8") != text:
            shutil.rmtree(folder / "run", ignore_errors=True)  # of another experiment
        file.write_text(text, encoding="utf-8")
        return file, folder / "run"

    def words(self, words: list) -> tuple[str, str]:
        try:
            done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                  timeout=LONGEST_RUN_S)
        except subprocess.TimeoutExpired:
            return "", f"not done after {LONGEST_RUN_S} s"
        said = [line for line in done.stderr.splitlines() if line.startswith(("trainwire:", "judge_run:"))]
        return done.stdout, "" if done.returncode == 0 else (said or [f"exit code {done.returncode}"])[0]

    def run(self, name: str, text: str) -> Judged:
        file, folder = self.place(name, text)
        for _ in range(0 if self.options.again else self.options.attempts):
            if (folder / "run.json").exists() and self.is_good(folder):
                break
            shutil.rmtree(folder, ignore_errors=True)
            self.words([*self.run_under, self.trainwire, "run", file, "-o", folder, "--no-page", "--quiet", "--set",
                        "capture.enabled=false"])
        if not (folder / "run.json").exists():
            return Judged(sentence="was not run")
        out, sentence = self.words([self.judge_run, file, folder, *(["--trust"] if self.options.trust else [])])
        return judged(out, sentence)

    def is_good(self, folder: pathlib.Path) -> bool:
        summary = json.loads((folder / "run.json").read_text(encoding="utf-8")).get("summary") or {}
        return bool(summary.get("jobs")) and (self.options.trust or all(check["ok"] for check in summary["checks"]))

    def simulate(self, name: str, text: str) -> Judged:
        file, _ = self.place(name, text)
        with tempfile.TemporaryDirectory() as folder:
            out, sentence = self.words([self.trainwire, "sim", file, "--json", "--no-page", "-o", f"{folder}/sim"])
        return judged(out, sentence)


def judged(out: str, sentence: str) -> Judged:
    record = json.loads(out) if out.startswith("{") else {}
    if record.get("jobs") and record["jobs"][0].get("step"):
        return Judged(record)
    return Judged(sentence=sentence or "there are no steps")


class Row:
    """One experiment by one engine."""

    def __init__(self, known: verdicts_known.Known, found: Judged, without: Judged | None):
        self.known, self.found, self.without = known, found, without

    def is_right(self) -> bool:
        if self.found.sentence:
            return False
        verdict = self.found.verdict()
        return verdict["cause"] == self.known.cause and (not self.known.where or verdict["where"] in self.known.where)

    def is_confidently_wrong(self) -> bool:
        if self.found.sentence or self.is_right():
            return False
        verdict = self.found.verdict()
        return verdict["cause"] not in ("unknown", "none") and verdict["confidence"] >= SURE

    def truth(self) -> float | None:
        """What the cause costs."""
        if self.known.cause == "compute":
            return seconds_of(tomllib.loads(self.known.text)["job"][0]["compute_time"])
        if self.without is None or self.without.sentence or self.found.sentence:
            return None
        return self.found.job()["step"]["median_s"] - self.without.job()["step"]["median_s"]

    def part_error(self) -> float | None:
        truth = self.truth()
        if truth is None or self.found.sentence or truth <= 0:
            return None
        return self.found.part(self.known.cause) / truth - 1

    def cells(self) -> list[str]:
        known = self.known.cause + (f" {self.known.where[0]}" if self.known.where else "")
        if self.found.sentence:
            return [self.known.name, known, self.found.sentence, "", "", "", ""]
        verdict = self.found.verdict()
        named = verdict["cause"] + (f" {verdict['where']}" if verdict["where"] else "")
        mark = "yes" if self.is_right() else "WRONG" if self.is_confidently_wrong() else "no"
        truth, error = self.truth(), self.part_error()
        return [self.known.name, known, named, f"{verdict['confidence']:.2f}", mark,
                "" if truth is None else f"{1e3 * self.found.part(self.known.cause):.0f} / {1e3 * truth:.0f}",
                "" if error is None else f"{100 * error:+.0f} %"]


def seconds_of(text: str) -> float:
    return float(text[:-2]) / 1e3 if text.endswith("ms") else float(text[:-1])


def print_table(title: str, rows: list[Row], texts: bool) -> None:
    print(f"\n{title}\n\n| experiment | known | named | confidence | right | part / truth, ms | off |\n|---|---|---|--:|---|--:|--:|")
    for row in rows:
        print("| " + " | ".join(row.cells()) + " |")
        if texts and not row.found.sentence:
            print(f"|  | {row.found.verdict()['text']} |")
    errors = [abs(row.part_error()) for row in rows if row.part_error() is not None]
    print(f"\nright: {sum(row.is_right() for row in rows)} of {len(rows)} (goal {GOAL_RIGHT} of 30); confidently wrong: "
          f"{sum(row.is_confidently_wrong() for row in rows)} (goal 0)")
    if errors:
        within = sum(error <= GOAL_PART for error in errors)
        print(f"the cause's part: {100 * statistics.median(errors):.1f} % off at the median, {within} of {len(errors)} within "
              f"{100 * GOAL_PART:.0f} % of the truth")


def rows_of(chosen: list, answer) -> list[Row]:
    rows = []
    for number, known in enumerate(chosen):
        print(f"\r{number + 1} of {len(chosen)}: {known.name:<40}", end="", file=sys.stderr, flush=True)
        found = answer(known.name, known.text)
        rows.append(Row(known, found, answer(f"{known.name}-without", known.without) if known.without else None))
    print("\r" + " " * 60 + "\r", end="", file=sys.stderr)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="verdicts")
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--only", default="*", help="names, with wildcards")
    parser.add_argument("--keep", type=pathlib.Path, help="folder for runs")
    parser.add_argument("--again", action="store_true", help="judge what was kept, run nothing")
    parser.add_argument("--sim", action="store_true", help="only simulate")
    parser.add_argument("--attempts", type=int, default=3, help="at a run whose checks fail, as they do on a busy machine")
    parser.add_argument("--realtime", action="store_true", help="run under chrt --rr 5")
    parser.add_argument("--trust", action="store_true", help="judge also where the machine was short of processor time")
    parser.add_argument("--texts", action="store_true", help="print the sentences too")
    options = parser.parse_args()
    if options.again and not options.keep:
        sys.exit("verdicts: --again judges what is in --keep DIR")
    chosen = [known for known in verdicts_known.KNOWN if fnmatch.fnmatch(known.name, options.only)]
    if not chosen:
        sys.exit(f'verdicts: no experiment is named "{options.only}"')
    with tempfile.TemporaryDirectory() as made:
        bench = Bench(options.build, options.keep or pathlib.Path(made), options)
        if not options.sim:
            print_table("run", rows_of(chosen, bench.run), options.texts)
        print_table("sim", rows_of(chosen, bench.simulate), options.texts)


if __name__ == "__main__":
    main()
