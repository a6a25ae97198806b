#!/usr/bin/env python3
"""A job with a late rank and one with a slow link, told apart and named by traces alone, by packets alone, and by both.

The files in tests/traces are of two real jobs, four ranks of PyTorch over Gloo (how they were made: tests/traces/train.py): in one of them
rank 1 sleeps 100 ms before each step, in the other host2 (10.77.0.3) sends at 10 Mbit/s where the others have 50.
"""
import glob
import json
import os
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "traces")


def analyse(*files):
    done = subprocess.run([sys.argv[1], "analyze", "--json", "--no-folder", *files], capture_output=True, check=True)
    return json.loads(done.stdout)


def files_of(job):
    traces = sorted(glob.glob(f"{FOLDER}/{job}-rank*.json.gz"))
    assert len(traces) == 4, traces
    return traces, [f"{FOLDER}/{job}.pcap.zst"]


def expect(what, found, *expected):
    assert found in expected, f"{what}: {found!r}, expected {' or '.join(map(repr, expected))}"


traces, packets = files_of("late")
by_traces, by_packets, by_both = analyse(*traces), analyse(*packets), analyse(*packets, *traces)
for name, found in (("traces", by_traces), ("packets", by_packets), ("both", by_both)):
    expect(f"late rank by {name}", found["verdict"]["cause"], "late_rank")
    expect(f"late host by {name}", found["verdict"]["where"], "rank 1" if name == "traces" else "10.77.0.2")
    # Traces alone know a rank, packets its host.
    expect(f"late host by {name}", found["straggler"]["host"], "rank 1" if name == "traces" else "10.77.0.2")
    delay = found["straggler"]["delay_s"]
    assert 0.08 < delay < 0.13, f"late by {delay} s by {name}, made late by 0.1 s"
expect("late rank by traces", by_traces["straggler"]["rank"], 1)
assert "The packets agree" in by_both["verdict"]["text"], by_both["verdict"]["text"]

traces, packets = files_of("slow")
by_traces, by_packets, by_both = analyse(*traces), analyse(*packets), analyse(*packets, *traces)
expect("slow link by traces", by_traces["verdict"]["cause"], "bandwidth")
assert by_traces["straggler"] is None, by_traces["straggler"]
for name, found in (("packets", by_packets), ("both", by_both)):
    expect(f"slow link by {name}", found["verdict"]["cause"], "slow_link")
    link = found["bottleneck"]
    expect(f"slow link by {name}", (link["from"], link["to"]), ("10.77.0.3", "10.77.0.2"))
    assert 0.9e7 < link["rate_bps"] < 1.1e7, f"{link['rate_bps']} bit/s by {name}, made 10 Mbit/s"
assert "The traces agree" in by_both["verdict"]["text"], by_both["verdict"]["text"]
print("told apart by traces, by packets and by both")
