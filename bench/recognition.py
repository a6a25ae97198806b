#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""recognition.py TRAINWIRE [--count N] [--seed N] [--test] [--only REGEX] [--wrong] [--keep FOLDER] [--jobs N] [--json FILE]: see bench/recognition."""
import argparse
import collections
import concurrent.futures
import json
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import recognition_cases

TEST_SEEDS = 1_000_000
BINS = [0, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0001]


def analysed(program, captures):
    done = subprocess.run([program, "analyze", "--json", "--no-folder", *map(str, captures)], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return json.loads(done.stdout)


def jobs_of(found):
    """What was found of each job, that which explains most bytes first."""
    iterations = found["iterations"]
    if not iterations["count"]:
        return []
    named = collections.defaultdict(list)
    for collective in found["collectives"]:
        if collective["operation"] != "broadcast":
            named[collective.get("job")].append(collective)
    nothing = {"strategy": None, "order": [], "operation": None, "bytes_per_iteration": 0, "confidence": iterations["confidence"], "count": 0}
    jobs = []
    for name in named or [None]:
        own = named.get(name) or [nothing]
        jobs.append({**own[0], "model_bytes": own[0]["bytes_per_iteration"], "steps": own[0]["count"], "steps_confidence": own[0]["confidence"], "operations": {one["operation"] for one in own}})
    jobs[0].update(model_bytes=found["model_bytes"] or jobs[0]["model_bytes"], steps=iterations["count"], median_s=iterations["median_s"], mean_s=iterations["mean_s"], steps_confidence=iterations["confidence"])
    return jobs


def numbers(order):
    return [int(address.rpartition(".")[2]) - 1 for address in order]


def is_around(found, order, both_ways):
    if sorted(found) != sorted(order):
        return False
    turns = [order[i:] + order[:i] for i in range(len(order))]
    return found in turns or both_ways and found[::-1] in turns


def answers(truth, job):
    """(question, right, confidence) of one job, of a job beside the first without its period."""
    yield "steps", abs(job["steps"] - truth["steps"]) <= max(1, 0.02 * truth["steps"]), job["steps_confidence"]
    ends = truth["ends"]
    if len(ends) > 4 and "median_s" in job:
        times = [b - a for a, b in zip(ends, ends[1:])]
        mean = (ends[-1] - ends[0]) / (len(ends) - 1)
        near = abs(job["median_s"] / statistics.median(times) - 1) <= 0.02 or abs((job.get("mean_s") or 0) / mean - 1) <= 0.02
        yield "period", near or max(times) > 1.1 * min(times) and abs(job["median_s"] / mean - 1) <= 0.1, job["steps_confidence"]
    if truth["strategy"]:
        yield "strategy", is_same(job["strategy"], truth), job["confidence"]
    if truth["order"] and job["strategy"] == "ring":
        yield "order", is_around(numbers(job["order"]), truth["order"], True), job["confidence"]
    yield "bytes", abs((job["model_bytes"] or 0) / truth["bytes"] - 1) <= 0.01, job.get("bytes_confidence", job["confidence"])
    sharded = bool({"all_gather", "reduce_scatter"} & job["operations"])
    # Around a ring, gathering once and scattering once is an all-reduce to the byte.
    yield "operation", truth["operation"] == "either" or sharded == (truth["operation"] == "sharded"), job["confidence"]


def is_same(found, truth):
    """Whether packets of the true strategy can look like no other than what was found, or like both: a server and the root of a star send the same,
    and of three hosts halving-doubling is a star, two opposite rings a clique."""
    alike = [{"ps", "star"}]
    if len(truth["hosts"]) == 3:
        alike += [{"halving_doubling", "star", "ps", "tree"}, {"ring", "clique"}]
    return found == truth["strategy"] or any({found, truth["strategy"]} <= names for names in alike)


def missing(truth):
    for question in ("steps", "period", "strategy", "bytes", "operation"):
        if question == "strategy" and not truth["strategy"] or question == "period" and len(truth["ends"]) <= 4:
            continue
        yield question, False, None


def judged(truth, found):
    """(question, right, confidence, what was found)."""
    jobs = jobs_of(found)
    if "none" in truth["asks"]:
        is_training = bool(jobs) and jobs[0]["operation"] is not None
        yield "none", not is_training, 1 - jobs[0]["confidence"] if is_training else None, jobs and (jobs[0]["strategy"], jobs[0]["confidence"])
        return
    if "jobs" in truth["asks"]:
        right = 0
        for one in truth["jobs"]:
            right += any(all(ok for question, ok, _ in answers(one, job) if question in ("steps", "bytes", "strategy")) and
                         set(numbers(job["order"])) <= set(one["hosts"]) for job in jobs)
        yield "jobs", right == len(truth["jobs"]) == len(jobs), min((job["confidence"] for job in jobs), default=None), [
            (job["strategy"], job["steps"], job["bytes_per_iteration"], job["order"]) for job in jobs]
        yield "a job", right > 0, None, ""
        return
    one = truth["jobs"][0]
    for question, ok, confidence in answers(one, jobs[0]) if jobs else missing(one):
        if question in truth["asks"]:
            yield question, ok, confidence, jobs and (jobs[0]["strategy"], jobs[0]["steps"], jobs[0]["median_s"], jobs[0]["bytes_per_iteration"], numbers(jobs[0]["order"]))
    yield from judged_trouble(truth, found)


def judged_trouble(truth, found):
    link, late = found["bottleneck"], found["straggler"]
    if "slow" in truth["asks"]:
        said = link and (link["from"], link["to"], round(link["rate_bps"] / 1e6, 1))
        if truth["slow"]:
            host, direction, rate = truth["slow"]
            same = bool(link) and numbers([link["from" if direction == "from_host" else "to"]])[0] == host
            yield "slow link", same, link and link["confidence"], said
            if same:
                yield "its rate", abs(link["rate_bps"] / rate - 1) <= 0.1, link["confidence"], said
        else:
            yield "no slow link", link is None, link and 1 - link["confidence"], said
    if "straggler" in truth["asks"]:
        said = late and late["host"]
        if truth["straggler"] is not None:
            yield "straggler", bool(late) and numbers([said])[0] == truth["straggler"], late and late["confidence"], said
        else:
            yield "no straggler", late is None, late and 1 - late["confidence"], said


def case(program, family, seed, keep):
    folder = pathlib.Path(keep) / f"{family}-{seed}" if keep else pathlib.Path(tempfile.mkdtemp(prefix="recognition"))
    folder.mkdir(parents=True, exist_ok=True)
    try:
        known = folder / "truth.json"
        if known.exists():
            truth = json.loads(known.read_text())
        else:
            captures, truth = recognition_cases.make(program, folder, family, seed)
            truth = {**truth, "asks": sorted(truth["asks"]), "captures": [str(path.relative_to(folder)) for path in captures]}
            known.write_text(json.dumps(truth))
        found = analysed(program, [folder / path for path in truth["captures"]])
        return [(family, seed, *row) for row in judged(truth, found)], truth
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def table(rows):
    groups = collections.defaultdict(lambda: [0, 0])
    for family, _, question, ok, _, _ in rows:
        for key in ((family, question), ("all", question)):
            groups[key][0] += bool(ok)
            groups[key][1] += 1
    families = sorted({key[0] for key in groups} - {"all"}) + ["all"]
    questions = sorted({key[1] for key in groups})
    width = 2 + max(map(len, families))
    print(" " * width + "".join(f"{question:>13}" for question in questions))
    for family in families:
        cells = [groups.get((family, question)) for question in questions]
        print(f"{family:{width}}" + "".join(f"{f'{cell[0]}/{cell[1]}' if cell else '':>13}" for cell in cells))


def calibration(rows):
    print("\nright of all answers by confidence")
    print(" " * 14 + "".join(f"{f'{low:.1f}-{min(high, 1):.1f}':>12}" for low, high in zip(BINS, BINS[1:])) + f"{'claimed':>10}{'right':>8}")
    for question in ("steps", "period", "strategy", "bytes", "operation", "slow link", "straggler"):
        told = [(confidence, bool(ok)) for _, _, asked, ok, confidence, _ in rows if asked == question and confidence is not None]
        if not told:
            continue
        cells = []
        for low, high in zip(BINS, BINS[1:]):
            inside = [ok for confidence, ok in told if low <= confidence < high]
            cells.append(f"{sum(inside)}/{len(inside)}" if inside else "")
        print(f"{question:14}" + "".join(f"{cell:>12}" for cell in cells) + f"{statistics.mean(c for c, _ in told):10.2f}{statistics.mean(ok for _, ok in told):8.2f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--count", type=int, default=130)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--test", action="store_true")
    parser.add_argument("--only", default=".")
    parser.add_argument("--wrong", action="store_true")
    parser.add_argument("--keep")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--json")
    options = parser.parse_args()
    kinds = recognition_cases.NAMES + (recognition_cases.BY_NAME if options.only != "." else [])
    names = [name for name in kinds if re.search(options.only, name)]
    first = options.seed + (TEST_SEEDS if options.test else 0)
    work = [(names[number % len(names)], first + number // len(names)) for number in range(options.count)]
    work = [(name, seed + 100_000 * (names[: number % len(names)].count(name))) for number, (name, seed) in enumerate(work)]
    program, rows = str(pathlib.Path(options.program).resolve()), []
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for (found, truth), (family, seed) in zip(pool.map(lambda one: case(program, *one, options.keep), work), work):
            rows += found
            for _, _, question, ok, confidence, said in found:
                if options.wrong and not ok:
                    is_of = {key: value for key, value in truth["jobs"][0].items() if key != "ends"} if truth["jobs"] else truth.get("kind")
                    print(f"{family} {seed}: {question}: {said} ({confidence}), is {is_of} slow {truth['slow']} late {truth['straggler']}")
    table(rows)
    calibration(rows)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows))
    return 0


if __name__ == "__main__":
    sys.exit(main())
