#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/exchange runs and prints: exchange.py TRAINWIRE BUILD_FOLDER --rounds N --sizes LIST --networks LIST.

All programs time float32 sums in place, back to back, after one that is not timed: the time of an operation is the mean on
the slowest rank, processor time is of all ranks together. Each starts anew for each size and round."""

import argparse
import csv
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

RANKS = 4
PEERS = pathlib.Path(__file__).parent / "peers"
LINE_BPS = {"shaped": 1e9}
# Enough operations that the links' bursts (1 ms of the line) do not count, few enough that a round takes a minute and a half.
LEAST_REPEATS, MOST_REPEATS, BYTES_TO_MOVE = 3, 200, 300_000_000
LONGEST_RUN_S = 300
UNITS = {"B": 1, "kB": 1e3, "KB": 1e3, "MB": 1e6, "GB": 1e9, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30}


def bytes_of(size: str) -> int:
    parts = re.fullmatch(r"(\d+)([kKMG]?i?B)", size)
    if not parts or parts[2] not in UNITS:
        sys.exit(f'exchange: "{size}" is no size; write 64KiB or 100MB')
    return int(int(parts[1]) * UNITS[parts[2]])


def repeats_of(size: str) -> int:
    return max(LEAST_REPEATS, min(MOST_REPEATS, BYTES_TO_MOVE // bytes_of(size)))


class Bench:
    """Knows how each program is started; every call gives the row of one size."""

    def __init__(self, trainwire: pathlib.Path, build: pathlib.Path):
        self.trainwire = trainwire
        self.build = build
        self.starters = {"trainwire": self.run_trainwire}
        for name, program, start in (("Gloo", "gloo_exchange", self.run_gloo), ("Open MPI", "mpi_exchange", self.run_mpi)):
            if (build / program).exists():
                self.starters[name] = start
            else:
                print(f"{name} is left out: CMake did not find it", file=sys.stderr)

    def run_trainwire(self, network: str, size: str) -> dict:
        out = output_of([self.trainwire, "bench", "exchange", PEERS / f"{network}.toml", "--no-check", "--quiet", "--json",
                         *amount(size)])
        return row_of(out)

    def run_gloo(self, network: str, size: str) -> dict:
        with tempfile.TemporaryDirectory() as meeting:
            return self.execute(network, "each", [self.build / "gloo_exchange", meeting], size)

    def run_mpi(self, network: str, size: str) -> dict:
        return self.execute(network, "mpi", [self.build / "mpi_exchange"], size)

    def execute(self, network: str, launcher: str, command: list, size: str) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            output_of([self.trainwire, "exec", PEERS / f"{network}.toml", "--launcher", launcher, "--no-check", "--quiet",
                       "-o", f"{folder}/run", "--force", "--", *command, *amount(size)])
            run = pathlib.Path(folder, "run")
            row = row_of((run / "rank0.txt").read_text(encoding="utf-8"))
            expect_on_the_wire(row["bytes"] * repeats_of(size), run / "links.csv")
            return row


def amount(size: str) -> list[str]:
    return ["--sizes", size, "--repeats", str(repeats_of(size))]


def output_of(command: list) -> str:
    words = [str(word) for word in command]
    try:
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LONGEST_RUN_S)
    except subprocess.TimeoutExpired:
        sys.exit(f"exchange: not done after {LONGEST_RUN_S} s: {' '.join(words)}")
    if done.returncode != 0:
        sys.exit(f"exchange: exit code {done.returncode} of {' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def expect_on_the_wire(summed_bytes: int, links: pathlib.Path) -> None:
    """No all-reduce sends less than 2(P-1)/P of its bytes from each rank: what did not pass the links passed through memory."""
    with links.open(encoding="ascii") as file:
        sent = sum(int(link["wire_bytes"]) for link in csv.DictReader(file) if link["direction"] == "from_host")
    if sent < 2 * (RANKS - 1) * summed_bytes:
        sys.exit(f"exchange: {summed_bytes} bytes were summed up, but only {sent} bytes left the hosts")


def row_of(text: str) -> dict:
    # A library may print warnings before the document.
    row = json.loads(text[text.index("{"):])["rows"][0]
    if row["wrong"]:
        sys.exit(f"exchange: {row['wrong']} sums came out wrong: {row}")
    return row


def bus_bps(row: dict) -> float:
    return 2 * (RANKS - 1) / RANKS * 8 * row["bytes"] / row["time_s"]


def measure(bench: Bench, network: str, size: str, rounds: int) -> dict[str, list[dict]]:
    rows = {name: [] for name in bench.starters}
    for turn in range(rounds):
        for name, start in bench.starters.items():
            print(f"\r{network} {size}, round {turn + 1} of {rounds}: {name:<12}", end="", file=sys.stderr)
            rows[name].append(start(network, size))
    print(f"\r{'':50}\r", end="", file=sys.stderr)
    return rows


def print_header(network: str, names: list[str]) -> None:
    line = LINE_BPS.get(network)
    share = f", in per cent of the {line / 1e9:.0f} Gbit/s line" if line else ""
    print(f"\n{network}: busbw in Gbit/s, median (least-most){share}; ratios; processor seconds for a GB")
    speeds = "".join(f"{name:>{28 if line else 22}}" for name in names)
    ratios = "".join(f"{'/ ' + name:>11}" for name in names[1:])
    print(f"{'size':>7}{speeds}{ratios}" + "".join(f"{name:>10}" for name in names))


def print_row(network: str, size: str, rows: dict[str, list[dict]]) -> None:
    line = LINE_BPS.get(network)
    speeds = {name: [bus_bps(row) for row in of_name] for name, of_name in rows.items()}
    middles = {name: statistics.median(of_name) for name, of_name in speeds.items()}
    text = f"{size:>7}"
    for name, of_name in speeds.items():
        cell = f"{middles[name] / 1e9:.2f} ({min(of_name) / 1e9:.2f}-{max(of_name) / 1e9:.2f})"
        text += f"{cell:>22}" + (f"{100 * middles[name] / line:4.0f} %" if line else "")
    for name in list(rows)[1:]:
        text += f"{middles['trainwire'] / middles[name]:>11.2f}"
    for of_name in rows.values():
        text += f"{statistics.median(1e9 * row['cpu_s'] / row['bytes'] for row in of_name):>10.1f}"
    print(text, flush=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description="times all-reduces of trainwire, Gloo and Open MPI in turn")
    arguments.add_argument("trainwire", type=pathlib.Path)
    arguments.add_argument("build", type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, required=True)
    arguments.add_argument("--sizes", required=True)
    arguments.add_argument("--networks", required=True)
    options = arguments.parse_args()
    if options.rounds < 1:
        arguments.error("--rounds: at least one is needed")
    bench = Bench(options.trainwire.absolute(), options.build.absolute())

    print(f"{RANKS} hosts, {options.rounds} rounds in turn, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before")
    for network in options.networks.split(","):
        print_header(network, list(bench.starters))
        for size in options.sizes.split(","):
            print_row(network, size, measure(bench, network, size, options.rounds))
    print(f"\n/: trainwire's busbw over the peer's. Processor time: user and system, of all ranks, for 10^9 bytes summed up. "
          f"TCP's share of a line is 95.6 %. Load {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
