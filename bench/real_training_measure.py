#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures real PyTorch jobs on one GPU that emulated hosts share: real_training_measure.py TRAINWIRE SEED COUNT SECONDS > table.csv.

Draws jobs by the seed; of each, the step of all ranks at once without an exchange, and with it over the emulated network. No job
begins after so many seconds. The table is what real_training.py reads. Needs a GPU, MPS, PyTorch with torchvision and transformers, root."""

import csv
import json
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

BYTES = {"resnet50-torchvision": 102e6, "resnet101-torchvision": 178e6, "vgg16-torchvision": 553e6, "mobilenetv2-torchvision": 14e6,
         "densenet201-torchvision": 80e6, "gpt2": 498e6}
TURNS = ("resnet50-torchvision", "mobilenetv2-torchvision", "gpt2", "vgg16-torchvision", "resnet50-torchvision", "densenet201-torchvision",
         "mobilenetv2-torchvision", "resnet50-torchvision", "gpt2", "resnet101-torchvision", "vgg16-torchvision")
RATES_GBIT = (1, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)
MOST_GBIT_OF_ALL_HOSTS = 20  # what 16 processors emulate beside training
LONGEST_ON_THE_LINE_S = 2.0
FIRST, STEPS = 3, 12
NETWORK = '[network]\nhosts = {ranks}\nrate = "{rate}"\ndelay = "20us"\nqueue = "2MB"\n[capture]\nenabled = false\n'
RANK = pathlib.Path(__file__).parent / "real_training_rank.py"


def drawn(seed: int, count: int) -> list[dict]:
    jobs = []
    for number in range(count):
        dice = random.Random(f"{seed} {number}")
        model = TURNS[number % len(TURNS)]
        ranks = dice.choice((2, 3, 4, 6, 8, 8))
        most = MOST_GBIT_OF_ALL_HOSTS / ranks
        least = 2 * (ranks - 1) / ranks * BYTES[model] * 8e-9 / LONGEST_ON_THE_LINE_S
        rates = [rate for rate in RATES_GBIT if least <= rate <= most] or [round(most, 1)]
        batch = dice.choice((2, 4)) if model == "gpt2" else dice.choice((16, 32))
        jobs.append({"id": f"s{seed}-{number + 1}", "model": model, "batch": batch, "ranks": ranks, "backend": dice.choice(("nccl", "gloo")),
                     "rate": f"{dice.choice(rates):g}Gbit"})
    return jobs


def run(trainwire: str, job: dict, manner: str, folder: pathlib.Path) -> tuple[list[float], bool]:
    """Steps after the first ones, of all ranks, in ms; and whether the emulation kept its times."""
    folder.mkdir()
    (folder / "network.toml").write_text(NETWORK.format(**job), encoding="utf-8")
    done = subprocess.run([trainwire, "exec", str(folder / "network.toml"), "--gpu", "shared", "--no-page", "--no-check", "--keep-going", "-o", str(folder / "run"), "--",
                           sys.executable, str(RANK), job["model"], str(job["batch"]), str(STEPS), manner, str(folder)], capture_output=True, text=True)
    steps = [float(line) for rank in range(job["ranks"]) if (folder / str(rank)).exists()
             for line in (folder / str(rank)).read_text(encoding="utf-8").split()[FIRST:]]
    if not steps:
        print(done.stdout[-800:], done.stderr[-800:], file=sys.stderr)
        return [], False
    summary = json.loads((folder / "run" / "run.json").read_text(encoding="utf-8")).get("summary") or {}
    return steps, not summary.get("cpu_bound") and (summary.get("machine") or {}).get("level") != "bad"


def main() -> None:
    trainwire, seed, count, seconds = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])
    until = time.monotonic() + seconds
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow("id,model,batch,ranks,backend,rate,compute_ms,step_ms,least_ms,most_ms,kept_up".split(","))
    with tempfile.TemporaryDirectory() as made:
        for job in drawn(seed, count):
            if time.monotonic() > until:
                break
            alone, _ = run(trainwire, job, "alone", pathlib.Path(made) / f"{job['id']}-alone")
            steps, kept_up = run(trainwire, job, job["backend"], pathlib.Path(made) / job["id"])
            if not alone or not steps:
                print(f"{job}: no steps", file=sys.stderr)
                continue
            table.writerow([*job.values(), f"{statistics.median(alone):.2f}", f"{statistics.median(steps):.1f}", f"{min(steps):.1f}",
                            f"{max(steps):.1f}", "yes" if kept_up else "no"])
            sys.stdout.flush()


main()
