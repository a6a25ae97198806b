#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Confidence is worth its name: calibration.py TRAINWIRE. The short form of bench/recognition, on 10 captures drawn by fixed seeds.

Most claims are right, and those of high confidence more often than those of low; what is no training is not called so. The limits leave room for what
docs/recognition.md lists as known.
"""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
import recognition  # noqa: E402
import recognition_wire  # noqa: E402

program = str(pathlib.Path(sys.argv[1]).resolve())
FAMILIES = ["plain", "straggler", "packed", "two", "nothing"]
SEEDS = range(700, 702)
recognition_wire.FRAME = 10 * 1448  # as segmentation offload shows them: fewer packets, and as many bytes
rows = []
for family in FAMILIES:
    for seed in SEEDS:
        rows += recognition.case(program, family, seed, None)[0]

recognition.table(rows)
nulls = [ok for _, _, question, ok, _, _ in rows if question == "none"]
assert sum(nulls) >= len(nulls) - 1, nulls
told = [(confidence, bool(ok)) for _, _, question, ok, confidence, _ in rows
        if question in ("steps", "strategy", "bytes", "period", "order") and confidence is not None]
sure = [ok for confidence, ok in told if confidence >= 0.8]
right = sum(ok for _, ok in told) / len(told)
print(f"{len(told)} claims, {right:.2f} right; {len(sure)} of confidence 0.8 and more, {sum(sure) / len(sure):.2f} right")
assert right >= 0.8, right
assert sum(sure) / len(sure) >= 0.85, sum(sure) / len(sure)
