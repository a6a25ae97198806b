#!/usr/bin/env python3
"""A ring of 100,000 ranks is planned within 2 s of processor time and 200 MB, with every pair in the document."""
import json
import resource
import subprocess
import sys

RANKS = 100_000
EXPERIMENT = f"""
[network]
hosts = {RANKS}
rate = "100Gbit"
[[job]]
model = "resnet50-torchvision"
ranks = {RANKS}
"""

result = subprocess.run([sys.argv[1], "plan", "--json", "-"], input=EXPERIMENT.encode(), capture_output=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
elapsed = used.ru_utime + used.ru_stime
peak_bytes = used.ru_maxrss * 1024
print(f"{elapsed:.2f} s of processor time, peak {peak_bytes / 1e6:.0f} MB")
assert result.returncode == 0, result.stderr.decode()

step = json.loads(result.stdout)["jobs"][0]["step"]
assert step["total_bytes"] == 2 * (RANKS - 1) * 25_557_032 * 4
assert step["transfers"] == 2 * (RANKS - 1) * RANKS
assert step["rounds"] == 2 * (RANKS - 1)
assert len(step["pairs"]) == RANKS
assert sum(pair["bytes"] for pair in step["pairs"]) == step["total_bytes"]
assert elapsed < 2, "slower than 2 s"
assert peak_bytes < 200e6, "more than 200 MB"
