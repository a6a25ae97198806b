#!/usr/bin/env python3
"""analyze, without any log, against what is known of the real captures in tests/captures.

Strategy, ring order and direction, bytes of the model (1 %), number of iterations (+-1), their period (2 %, see period_agrees), the shaped link (rate
within 10 %), the straggler and the absence of all of these where there are none. A capture of one host does not show the strategy: there the truth is none. KNOWN lists where packets cannot tell, or do not yet.
"""
import glob
import json
import os
import statistics
import subprocess
import sys

KNOWN = {
    "mpi4_alltoall": {"strategy", "model"},  # all-to-all is told as the operation; how it is done is not
}
NAMES = {"parameter server": "ps", "none": None}
FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "captures")


def analyse(name, truth):
    files = sorted(glob.glob(f"{FOLDER}/{name}.pcap.zst") + glob.glob(f"{FOLDER}/{name}.host*.pcap.zst"))
    done = subprocess.run([sys.argv[1], "analyze", "--json", "--no-folder", *(["--one-clock"] if truth.get("one_clock") else []), *files], capture_output=True)
    assert done.returncode == 0, f"{name}: {done.stderr.decode()}"
    return json.loads(done.stdout)


def rotations(order):
    return [order[i:] + order[:i] for i in range(len(order))]


def differences(truth, found):
    exchanges = [c for c in found["collectives"] if c["operation"] != "broadcast"]
    strategy = exchanges[0]["strategy"] if exchanges else None
    expected = NAMES.get(truth["strategy"], truth["strategy"].replace("-", "_").replace(" ", "_"))
    if "ring" in truth["strategy"]:
        if strategy != "ring" or truth["ring"] not in rotations(exchanges[0]["order"]):
            yield "strategy", exchanges and exchanges[0]["order"], truth["ring"]
    elif strategy != expected:
        yield "strategy", strategy, expected
    model = truth.get("model_bytes")
    if model and abs((found["model_bytes"] or 0) / model - 1) > 0.01:
        yield "model", found["model_bytes"], model
    if not model and found["model_bytes"]:
        yield "model", found["model_bytes"], None
    iterations = truth.get("iterations") or 0
    if abs(found["iterations"]["count"] - iterations) > 1:
        yield "iterations", found["iterations"]["count"], iterations
    ends = truth.get("ends") or []
    if len(ends) > 1 and not (found["iterations"]["median_s"] and period_agrees(found["iterations"], ends)):
        yield "period", found["iterations"]["median_s"], statistics.median(b - a for a, b in zip(ends, ends[1:]))
    yield from slow_differences(truth, found)


def period_agrees(iterations, ends):
    """The median within 2 %. Where steps differ by more than 10 %, the median of a handful is an accident of which is in the middle:
    then their mean must be within 2 %, or 4 % of fewer than five steps."""
    median = statistics.median(b - a for a, b in zip(ends, ends[1:]))
    mean = (ends[-1] - ends[0]) / (len(ends) - 1)
    times = [b - a for a, b in zip(ends, ends[1:])]
    uneven = max(times) - min(times) > 0.1 * median
    tolerance = 0.02 if len(ends) > 4 else 0.04
    return abs(iterations["median_s"] / median - 1) <= 0.02 or uneven and abs(iterations["mean_s"] / mean - 1) <= tolerance


def slow_differences(truth, found):
    shaped = truth.get("shaped") or []
    link = found["bottleneck"]
    if len(shaped) == 1:
        same = link and link["from"] == shaped[0]["src"] and shaped[0].get("dst") in (None, link["to"])
        if not same or abs(link["rate_bps"] / shaped[0]["rate_bps"] - 1) > 0.1:
            yield "bottleneck", link, shaped
    elif link:
        yield "bottleneck", link, None
    late = truth.get("straggler") or {}
    if (found["straggler"] or {}).get("host") != (late.get("address") or late.get("host")):
        yield "straggler", found["straggler"], late


def main():
    failed = 0
    truths = sorted(glob.glob(f"{FOLDER}/*.json"))
    for path in truths:
        name = os.path.basename(path)[: -len(".json")]
        with open(path) as file:
            truth = json.load(file)
        for what, found, expected in differences(truth, analyse(name, truth)):
            known = what in KNOWN.get(name, ())
            print(f"{'known' if known else 'WRONG'}: {name}: {what}: found {found}, is {expected}")
            failed += not known
    print(f"{len(truths)} captures, {failed} differences")
    assert truths and failed == 0


main()
