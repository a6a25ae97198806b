#!/usr/bin/env python3
"""Ranks over sockets move what the played script says: same transfers and bytes, in the same order on every connection.

run_transfers.py TRAINWIRE. Compares transfers.csv of `run --on loopback --transfers` with `plan --transfers`, which plays the
same scripts in virtual time. Between connections the order is a matter of timing; what a transfer waits for ends before it.
"""
import collections
import csv
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
COLUMNS = ("step", "bucket", "round", "from", "to", "lane", "first", "elements", "combine")
folder = pathlib.Path(tempfile.mkdtemp(prefix="run-transfers"))
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"))


def output(*words):
    done = subprocess.run([PROGRAM, *words], env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, (words, (folder / "e.toml").read_text(), done.stderr, done.stdout[-2000:])
    return done.stdout


def rows(text):
    return [{key: value if key in ("job", "combine") else int(value or -1) for key, value in row.items()}
            for row in csv.DictReader(io.StringIO(text))]


def by_connection(table):
    lines = collections.defaultdict(list)
    for row in table:
        peer = row["to"] if row["rank"] == row["from"] else row["from"]
        lines[row["rank"], peer, row["lane"], row["rank"] == row["from"]].append(tuple(row[key] for key in COLUMNS))
    return dict(lines)


def check_waits(table):
    """Whatever touches the same elements of a bucket's exchange ends in the order of rounds, unless both only read."""
    exchanges = collections.defaultdict(list)
    for row in table:
        exchanges[row["rank"], row["step"], row["bucket"]].append(row)
    for (rank, _, _), ended in exchanges.items():
        for i, later in enumerate(ended):
            for earlier in ended[:i]:
                shares = (earlier["first"] < later["first"] + later["elements"]
                          and later["first"] < earlier["first"] + earlier["elements"])
                both_read = earlier["from"] == rank and later["from"] == rank
                assert not (shares and not both_read and earlier["round"] > later["round"]), (earlier, later)


BUCKETS = 'model = "mlp"\nwidths = [40, 30, 20]\nbucket = "2KB"\ncompute_time = "3ms"\n'
WHOLE = 'parameters = 10004\ncompute = "none"\n'


def experiments():
    for strategy in json.loads(output("strategies", "--json"))["strategies"]:
        yield strategy["name"], 4, BUCKETS + "overlap = true\n"
    yield "ring", 1, WHOLE
    yield "ring", 7, WHOLE + "ranks = 14\nconnections = 2\n"
    yield "hierarchical", 3, BUCKETS + "ranks = 8\n"
    yield "double_tree", 3, WHOLE + "ranks = 9\npieces = 3\n"
    yield "ps", 5, BUCKETS + "servers = 2\nside_connections = 1\n"
    yield "ps", 6, BUCKETS + "servers = 2\nasynchronous = true\noverlap = true\n"
    yield "ps", 4, WHOLE + "asynchronous = true\nbroadcast = false\n"
    yield "pair_averaging", 5, BUCKETS
    yield "recursive_doubling", 6, WHOLE


count = moved = 0
for strategy, hosts, more in experiments():
    (folder / "e.toml").write_text(f'[network]\nhosts = {hosts}\n[[job]]\nstrategy = "{strategy}"\nsteps = 2\nwarmup = 1\n{more}')
    output("run", "e.toml", "--on", "loopback", "--transfers", "--force", "-o", "x", "-q")
    ran = rows((folder / "x/transfers.csv").read_text()) if (folder / "x/transfers.csv").exists() else []
    played = rows(output("plan", "e.toml", "--transfers"))
    expected, found = by_connection(played), by_connection(ran)
    assert found.keys() == expected.keys(), (strategy, hosts, more, found.keys() ^ expected.keys())
    for line in expected:
        assert found[line] == expected[line], (strategy, hosts, more, line, found[line][:5], expected[line][:5])
    if "asynchronous" not in more and strategy != "pair_averaging":
        check_waits(ran)
        check_waits(played)
    count += 1
    moved += len(ran)
subprocess.run(["rm", "-rf", str(folder)])
print(f"{count} experiments, {moved} ends of transfers: run as played")
