#!/usr/bin/env python3
"""What one rank sends to several, by UDP multicast on emulated links: tests/run_multicast.py PROGRAM.

Sums are right and every rank counts what its schedule says; captures show the datagrams to the byte; the hub's bytes cross its link once,
whatever the number of receivers; what is lost is sent again; a job that loses a worker goes on. What cannot be multicast is one sentence.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
EXPERIMENT = """
[network]
hosts = {hosts}
rate = "200Mbit"
{network}
[[job]]
parameters = "1MB"
compute = "none"
steps = 6
distribution = "multicast"
{job}
"""
failures = []


def run(job, network="", hosts=4, more="", options=("--accept-network",)):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "x.toml"
        file.write_text(EXPERIMENT.format(hosts=hosts, network=network, job=job) + more)
        return subprocess.run([PROGRAM, "run", file, "-o", folder + "/x.run", "--json", "--keep-going", "--no-page", "--no-check", "-q", *options],
                              capture_output=True, text=True, timeout=200)


def require(name, found, good):
    if not good:
        failures.append(f"{name}: {found}")


def is_carried(name, *arguments, checks=("ranks", "schedule", "sums", "multicast", "stream"), **keys):
    done = run(*arguments, **keys)
    if not done.stdout and "namespace" in done.stderr:
        print("no emulated networks here: " + done.stderr.strip())
        os._exit(77)
    if not done.stdout:
        failures.append(f"{name}: {done.stderr}")
        return None
    document = json.loads(done.stdout)
    found = {check["name"]: check for check in document["checks"]}
    for check in checks:
        require(f"{name}, {check}", found.get(check), found.get(check, {"ok": False})["ok"])
    return document


def crosses_a_link_once():
    """A server's link carries the model once in each of six steps and at the start, not once for each of three workers."""
    sent = {}
    for distribution in ("unicast", "multicast"):
        document = is_carried(distribution, 'strategy = "ps"', options=("--accept-network", "--set", f"job.distribution={distribution}"),
                              checks=("ranks", "schedule", "sums", "stream"))
        if document:
            sent[distribution] = sum(pair["wire_bytes"] for pair in document["pairs"] if pair["from"] == "host3")
    if len(sent) == 2:
        require("bytes of the server's link", sent, 7e6 < sent["multicast"] < 1.4 * 7e6 and sent["unicast"] > 21e6)


def is_repaired():
    document = is_carried("loss", 'strategy = "ps"', 'loss = "1%"')
    if document:
        text = next(check["text"] for check in document["checks"] if check["name"] == "multicast")
        require("loss is repaired", text, "; 0 of" not in text)


def is_refused(name, job, words):
    done = run(job, options=("--on", "loopback"))
    require(name, done.stderr, done.returncode == 2 and words in done.stderr and done.stderr.count("\n") == 1)


TASKS = [
    (crosses_a_link_once,), (is_repaired,),
    (is_carried, "two servers", 'strategy = "ps"\nservers = 2\nbucket = "300KB"', "", 5),
    (is_carried, "star in pieces, two lanes", 'strategy = "star"\npieces = 4\nconnections = 2'),
    (is_carried, "clique", 'strategy = "clique"'),
    (is_carried, "IPv6", 'strategy = "ps"\nverify = true', "ip_version = 6"),
    (lambda: is_carried("small packets, ranks that share hosts", 'strategy = "ps"\nranks = 7', "mtu = 600"),),
    (lambda: is_carried("loopback", 'strategy = "ps"', checks=("ranks", "schedule", "sums", "multicast"), options=("--on", "loopback")),),
    (lambda: is_carried("shrunk", 'strategy = "ps"\non_failure = "shrink"\nfailure_timeout = "10s"', hosts=5, checks=("ranks", "sums"),
                        more='[[fault]]\nkind = "kill"\nrank = 1\nstep = 3\n'),),
    (is_refused, "ring", 'strategy = "ring"', "with strategy ring no rank sends one chunk to two ranks"),
    (is_refused, "asynchronous", 'strategy = "ps"\nasynchronous = true', "asynchronous ranks are answered one by one"),
]
with ThreadPoolExecutor(2) as pool:
    for task in [pool.submit(*task) for task in TASKS]:
        task.result()
for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
