#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run folders for bench/report: report_runs.py FOLDER. Sizes are what cli/capture_tables.cc writes
at most, or a million windows; bursts every 300 windows, as training makes them."""

import json
import pathlib
import random
import sys

START = 1_794_769_187_000_000_000
WIDTH = 1_000_000
WINDOWS = "scope,from,to,flow,start_ns,width_ns,wire_bytes\n"
FLOWS = ("flow,source,source_port,destination,destination_port,protocol,class,first_ns,last_ns,"
         "wire_bytes,stream_bytes,rtt_mean_ns\n")


def made(folder: pathlib.Path) -> pathlib.Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "run.json").write_text(json.dumps(
        {"schema": 1, "program": "trainwire", "command": "analyze", "complete": True,
         "provenance": {}, "summary": {}}))
    return folder


def window(scope: str, place: int, rng: random.Random) -> str:
    busy = place % 300 < 120
    return f"{scope},{START + place * WIDTH},{WIDTH},{rng.randrange(90_000, 125_000) if busy else rng.randrange(60, 900)}\n"


def million(folder: pathlib.Path, rng: random.Random) -> None:
    with open(made(folder) / "windows.csv", "w", encoding="ascii") as out:
        out.write(WINDOWS)
        out.writelines(window("total,,,", i, rng) for i in range(1_000_000))


def largest(folder: pathlib.Path, rng: random.Random) -> None:
    with open(made(folder) / "windows.csv", "w", encoding="ascii") as out:
        out.write(WINDOWS)
        out.writelines(window("total,,,", i, rng) for i in range(200_000))
        for pair in range(64):
            scope = f"pair,host{pair},host{(pair + 1) % 64},"
            out.writelines(window(scope, 64 * i, rng) for i in range(200_000 // 64))
        for flow in range(1000):
            scope = f"flow,host{flow % 64},host{(flow + 1) % 64},{flow}"
            out.writelines(window(scope, 1000 * i, rng) for i in range(200))
    with open(folder / "flows.csv", "w", encoding="ascii") as out:
        out.write(FLOWS)
        for flow in range(3000):
            size = int(10 ** rng.uniform(2, 9))
            out.write(f"{flow},10.0.0.{flow % 64},{10_000 + flow},10.0.0.{(flow + 1) % 64},5201,tcp,"
                      f"{'gradient' if size > 1e6 else 'tiny'},{START},{START + 200 * 10**9},{size},{size},150000\n")
    with open(folder / "iteration_pairs.csv", "w", encoding="ascii") as out:
        out.write("iteration,from,to,gradient_bytes,first_ns,last_ns\n")
        for i in range(100_000):
            begin = START + (i // 64) * 120 * WIDTH
            out.write(f"{i // 64},host{i % 64},host{(i + 1) % 64},{rng.randrange(1, 10**7)},{begin},{begin + 50 * WIDTH}\n")


def main() -> None:
    work = pathlib.Path(sys.argv[1])
    rng = random.Random(7)
    million(work / "million.run", rng)
    largest(work / "largest.run", rng)


if __name__ == "__main__":
    main()
