# SPDX-License-Identifier: Apache-2.0
"""What every program here shares: its place in the job, its log of steps, and compute that takes time."""

import argparse
import contextlib
import time


def parser():
    """A parser with the options the launcher passes to each rank."""
    result = argparse.ArgumentParser()
    result.add_argument("--rank", type=int, required=True)
    result.add_argument("--addresses", type=lambda text: text.split(","), required=True, help="by rank")
    result.add_argument("--log", required=True, help="CSV written by this rank: rank,step,start,end")
    result.add_argument("--steps", type=int, default=20)
    result.add_argument("--straggler-rank", type=int, default=-1)
    result.add_argument("--straggler-seconds", type=float, default=0.0)
    return result


class StepLog:
    """Epoch seconds of each step's begin and end, written when the log is closed, not while measuring."""

    def __init__(self, options):
        self._rank = options.rank
        self._path = options.log
        self._rows = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        with open(self._path, "w", encoding="ascii") as file:
            for step, start, end in self._rows:
                file.write(f"{self._rank},{step},{start:.6f},{end:.6f}\n")

    @contextlib.contextmanager
    def step(self, number):
        start = time.time()
        yield
        self._rows.append((number, start, time.time()))


def delay_straggler(options):
    if options.rank == options.straggler_rank:
        time.sleep(options.straggler_seconds)
