#!/usr/bin/env python3
"""A ring of 100,000 ranks is planned within 2 s of processor time and 200 MB, with every pair in the document; more pairs than a document
should hold are counted; and a plan that has not the memory it needs says so."""
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

# Halving-doubling of 2^17 ranks: each sends to 17 others, more pairs than are listed.
more = EXPERIMENT.replace(str(RANKS), str(2**17)) + 'strategy = "halving_doubling"\n'
result = subprocess.run([sys.argv[1], "plan", "--json", "-"], input=more.encode(), capture_output=True)
peak_bytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
assert result.returncode == 0, result.stderr.decode()
step = json.loads(result.stdout)["jobs"][0]["step"]
assert step["pair_count"] == 17 * 2**17 and step["pairs"] == [] and step["pairs_listed"] is False, step["pair_count"]
assert peak_bytes < 200e6, f"halving-doubling takes {peak_bytes / 1e6:.0f} MB"


def with_memory(most):
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (most, most))


for most in (60_000_000, 80_000_000, 100_000_000, 120_000_000):
    result = subprocess.run([sys.argv[1], "plan", "--json", "-"], input=EXPERIMENT.encode(), capture_output=True, preexec_fn=with_memory(most))
    lines = result.stderr.decode().splitlines()
    assert result.returncode == 3 and len(lines) == 1 and lines[0].startswith("trainwire: out of memory; "), (most, result.returncode, lines)
