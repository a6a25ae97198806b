#!/usr/bin/env python3
"""The documents of `net check` in a folder as one table: network.py FOLDER."""
import json
import pathlib
import sys

rows = []
for path in pathlib.Path(sys.argv[1]).glob("*-*.json"):
    document = json.loads(path.read_text())
    # Both directions of the pair; the worse one counts.
    worst = max(document["network"]["paths"], key=lambda p: ["ok", "warn", "refused"].index(p["fitness"]))
    rows.append((document["engine"], worst, document["release_late_p50_s"], document["release_late_p99_s"]))
rows.sort(key=lambda r: (r[0], r[1]["requested"]["rate_bps"], r[1]["requested"]["round_trip_s"], r[1]["requested"]["loss"]))

print("| engine | rate asked | found | round trip asked | found (median, p99) | loss asked | found (99 % interval) | |")
print("|---|---|---|---|---|---|---|---|")
good = {}
for engine, path, late_p50, late_p99 in rows:
    asked, found = path["requested"], path["effective"]
    rate = found["rate_bps"] / asked["rate_bps"]
    late = found["round_trip_s"] - asked["round_trip_s"]
    fits = (abs(rate - 1) <= 0.03, abs(late) <= max(0.05 * asked["round_trip_s"], 0.2e-3),
            found["loss_ci_low"] <= asked["loss"] <= found["loss_ci_high"])
    counts = good.setdefault(engine, [0, 0, 0, 0])
    for i, fit in enumerate(fits):
        counts[i] += fit
    counts[3] += 1
    print(f"| {engine} | {asked['rate_bps'] / 1e6:.0f} Mbit/s | {100 * rate:.1f} % | {1e3 * asked['round_trip_s']:.0f} ms | "
          f"{1e3 * found['round_trip_s']:.2f}, {1e3 * found['round_trip_p99_s']:.2f} ms | {100 * asked['loss']:.2f} % | "
          f"{100 * found['loss']:.2f} % ({100 * found['loss_ci_low']:.2f} to {100 * found['loss_ci_high']:.2f}) | "
          f"{'' if all(fits) else 'off'} |")
print()
for engine, (rate, time, loss, all_rows) in good.items():
    print(f"{engine}: of {all_rows} networks, rate within 3 % in {rate}, round trip within 5 % or 0.2 ms in {time}, "
          f"loss within its 99 % interval in {loss}")
