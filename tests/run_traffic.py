#!/usr/bin/env python3
"""Cross traffic as part of a run: every kind is delivered, counted and told apart from the job: run_traffic.py TRAINWIRE."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.realpath(sys.argv[1])
if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)

folder = pathlib.Path(tempfile.mkdtemp(prefix="run-traffic"))
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"))
# A ring of two, and a third host that sends into the first.
(folder / "e.toml").write_text(
    '[network]\nhosts = 3\nrate = "200Mbit"\ndelay = "200us"\n'
    '[[job]]\nparameters = "100kB"\nranks = 2\nhosts = ["host0", "host1"]\ncompute_time = "50ms"\nsteps = 60\n'
    '[[traffic]]\nkind = "long"\nfrom = "host2"\nto = "host0"\nload = 0.3\n'
    '[run]\nseed = 5\n')
(folder / "sizes.txt").write_text("1000 0\n20000 0.9\n50000 1\n")
(folder / "load.csv").write_text(
    "start_s,destination,bytes\n0.1,host0,100000\n0.2,host1,50000\n0.3,host0,3\n")


def run(*settings, code=0):
    words = [word for setting in settings for word in ("--set", setting)]
    done = subprocess.run([PROGRAM, "run", "e.toml", "--no-check", "--keep-going", "--force", "--json", "-o", "x", *words],
                          env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == code, (settings, done.returncode, done.stderr, done.stdout[-2000:])
    return json.loads(done.stdout) if code == 0 else done.stderr


def flows():
    with open(folder / "x" / "cross_flows.csv", encoding="ascii") as file:
        return list(csv.DictReader(file))


def require_checks(found):
    names = {check["name"] for check in found["checks"]}
    assert {"stream", "traffic", "bytes", "pairs"} <= names, names
    for check in found["checks"]:
        assert check["ok"] or check["name"] == "machine", check


# Sizes of their own, so that a few seconds hold many flows.
for kind, more in (("long", ["traffic.flows=3"]), ("websearch", ["traffic.distribution=sizes.txt"]),
                   ("websearch", ["traffic.distribution=sizes.txt", "traffic.reuse_connections=false"]),
                   ("burst", ["traffic.distribution=sizes.txt"]), ("constant", [])):
    found = run(f"traffic.kind={kind}", *more)
    require_checks(found)
    cross = found["cross_traffic"]
    entry = cross["entries"][0]
    assert entry["kind"] == kind and entry["complete"]
    assert abs(cross["requested_bps"] - 60e6) < 1, cross
    assert 0.8 < cross["achieved_bps"] / cross["requested_bps"] < 1.2, (kind, cross)
    assert {"cross traffic", "job0"} == {share["of"] for link in found["network"]["links"] for share in link.get("shares", [])}, found["network"]
    rows = flows()
    # Datagrams are no flows that start and end.
    assert kind == "constant" or len(rows) == entry["flows"]["started"] == entry["flows"]["finished"] + entry["flows"]["unfinished"], (kind, entry)
    assert all(int(row["lateness_ns"]) >= 0 for row in rows), kind
    # The job is what it is without: a ring of two.
    assert found["collectives"][0]["strategy"] == "ring", found["collectives"]
    assert sorted(found["collectives"][0]["order"]) == ["host0", "host1"], found["collectives"]
    if kind == "constant":
        assert entry["datagrams"]["received"] >= 0.9 * entry["datagrams"]["sent"] > 0, entry

# One seed gives the same flows, another gives others.
drawn = []
for seed in (5, 5, 6):
    run("traffic.kind=websearch", "traffic.distribution=sizes.txt", f"run.seed={seed}")
    drawn.append([row["bytes"] for row in sorted(flows(), key=lambda row: int(row["flow"]))][:50])
assert drawn[0] == drawn[1] != drawn[2], drawn

# A list is played as it stands.
found = run("traffic.kind=file", "traffic.file=load.csv", "traffic.to=host0")
require_checks(found)
assert sorted((int(row["traffic"]), int(row["bytes"])) for row in flows()) == [(0, 3), (0, 100000), (1, 50000)], flows()
assert all(row["end_ns"] for row in flows())

# No traffic, and what cannot be.
found = run("traffic.load=0")
assert found["cross_traffic"]["requested_bps"] == 0
assert "more than the 200 Mbit/s" in run('traffic.load="201Mbit"', code=2)
(folder / "wrong.txt").write_text("1000 0\n20000 0.9\n")
assert "wrong.txt" in run("traffic.kind=websearch", "traffic.distribution=wrong.txt", code=3)

# A sink that is killed ends the run, which says so.
process = subprocess.Popen([PROGRAM, "run", "e.toml", "--no-check", "--force", "-o", "x", "--set", "job.steps=600"],
                           env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
victim = None
limit = time.monotonic() + 60
while victim is None and time.monotonic() < limit:
    time.sleep(0.2)
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(entry / "fd/1") == str(folder / "x" / "traffic0-sink.txt"):
                victim = int(entry.name)
        except OSError:
            pass
time.sleep(1)
os.kill(victim, signal.SIGKILL)
out, errors = process.communicate(timeout=60)
assert process.returncode == 4 and "sink of long from host2 to host0 was killed" in errors, (process.returncode, errors)
assert len(errors.strip().splitlines()) == 1, errors

subprocess.run(["rm", "-rf", str(folder)])
print("every kind of cross traffic is delivered, counted and told apart")
