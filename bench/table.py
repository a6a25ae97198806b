#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what bench/analyze measured: bench/table.py TIMES PACKETS.

TIMES has lines "name elapsed user system peak_kB". Ratios are of medians: how many times as long as
trainwire's elapsed time, and processor time, a peer took for a packet."""

import statistics
import sys

SLICE = {"tshark": 100_000}


def main() -> None:
    runs: dict[str, list[tuple[float, float, float]]] = {}
    for line in open(sys.argv[1], encoding="ascii"):
        name, elapsed, user, system, peak = line.split()
        runs.setdefault(name, []).append(
            (float(elapsed), float(user) + float(system), float(peak) * 1024 / 1e6))
    packets = int(sys.argv[2])

    def per_packet(name: str, field: int) -> float:
        return statistics.median(run[field] for run in runs[name]) / SLICE.get(name, packets)

    print(f"{'':10} {'elapsed s':>10} {'spread s':>14} {'Mpackets/s':>11} {'cpu s':>7} "
          f"{'peak MB':>8} {'elapsed x':>10} {'cpu x':>7}")
    for name, measured in runs.items():
        elapsed = [run[0] for run in measured]
        spread = f"{min(elapsed):.2f}-{max(elapsed):.2f}"
        cpu = statistics.median(run[1] for run in measured)
        memory = max(run[2] for run in measured)
        rate = 1e-6 / max(per_packet(name, 0), 1e-12)
        ratios = [per_packet(name, field) / max(per_packet("trainwire", field), 1e-12)
                  for field in (0, 1)]
        print(f"{name:10} {statistics.median(elapsed):10.2f} {spread:>14} {rate:11.2f} {cpu:7.2f} "
              f"{memory:8.0f} {ratios[0]:10.2f} {ratios[1]:7.2f}"
              + (f"   ({SLICE[name]:,} packets)" if name in SLICE else ""))


if __name__ == "__main__":
    main()
