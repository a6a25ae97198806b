#!/usr/bin/env python3
"""Every strategy on an emulated network with 4 and with 7 ranks: sums right, bytes per pair as `plan` says, to the byte.

run_strategies.py TRAINWIRE. Pair averaging draws its peers: there the run's own check compares with the draws.
"""
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)

STEPS = 2
SIDE_BYTES = 32  # a connection's hello, in each direction
folder = pathlib.Path(tempfile.mkdtemp(prefix="run-strategies"))
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"))


def document(command, experiment, *words):
    done = subprocess.run([PROGRAM, command, str(experiment), "--json", *words], env=environment, cwd=folder,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, (experiment.read_text(), done.returncode, done.stderr, done.stdout[-2000:])
    return json.loads(done.stdout)


def pairs_of(rows, key):
    return {(row["from"], row["to"]): row[key] for row in rows if row[key] > 0}


def carried_in_steps():
    """What iteration_pairs.csv books to each iteration."""
    steps = [{} for _ in range(STEPS)]
    with open(folder / "x/iteration_pairs.csv") as file:
        for row in csv.DictReader(file):
            steps[int(row["iteration"])][row["from"], row["to"]] = int(row["gradient_bytes"])
            assert int(row["first_ns"]) <= int(row["last_ns"])
    return steps


def strategies():
    listed = subprocess.run([PROGRAM, "strategies", "--json"], capture_output=True, text=True, check=True)
    for strategy in json.loads(listed.stdout)["strategies"]:
        yield strategy["name"], ""
    yield "ps", "asynchronous = true\n"
    yield "ps", "servers = 2\n"
    yield "hierarchical", "ranks = 9\n"


count = 0
for hosts in (4, 7):
    for strategy, more in strategies():
        experiment = folder / "e.toml"
        experiment.write_text(f'[network]\nhosts = {hosts}\nrate = "200Mbit"\ndelay = "100us"\n'
                              f'[[job]]\nparameters = 100004\nstrategy = "{strategy}"\n{more}'
                              f'compute = "none"\nsteps = {STEPS}\nbroadcast = false\nbucket = "30KB"\n')
        found = document("run", experiment, "--no-check", "--keep-going", "--force", "-o", "x")
        for check in found["checks"]:
            assert check["ok"] or check["name"] == "machine", (strategy, hosts, check)
        assert found["jobs"][0]["verified"]
        if strategy != "pair_averaging":
            plan = pairs_of(document("plan", experiment)["jobs"][0]["step"]["pairs"], "bytes")
            wire = pairs_of(found["pairs"], "stream_bytes")
            carried = {pair: bytes for pair, bytes in wire.items() if bytes > 1000}
            assert carried.keys() == plan.keys(), (strategy, hosts, carried, plan)
            for pair, bytes in carried.items():
                hellos = bytes - STEPS * plan[pair]
                assert hellos > 0 and hellos % SIDE_BYTES == 0 and hellos < 4096, (strategy, pair, bytes, plan[pair])
            if "asynchronous" not in more:
                assert carried_in_steps() == [plan] * STEPS, (strategy, hosts, carried_in_steps(), plan)
        count += 1
subprocess.run(["rm", "-rf", str(folder)])
print(f"{count} runs: sums right, every pair as planned")
