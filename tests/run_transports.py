#!/usr/bin/env python3
"""Libraries that carry a rank's bytes: tests/run_transports.py PROGRAM.

Every transport that was built carries exchanges in step, asynchronous servers and pair averaging, on several connections too; sums are right
and ranks sent what schedules say. Bytes on the wire are what the kernel counted of the library's connections. One that was not built is one sentence.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TRANSPORTS = ("gloo", "grpc")
JOBS = {
    "ring": 'strategy = "ring"',
    "two lanes": 'strategy = "star"\nconnections = 2',
    "buckets": 'strategy = "tree"\nbucket = "64KiB"\noverlap = true',
    "asynchronous": 'strategy = "ps"\nasynchronous = true',
    "pair averaging": 'strategy = "pair_averaging"',
}
EXPERIMENT = """
[network]
hosts = 4
rate = "200Mbit"
[[job]]
parameters = "300KB"
compute = "none"
steps = 4
transport = "{transport}"
{more}
"""
failures = []


def run(transport, more, *options):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "x.toml"
        file.write_text(EXPERIMENT.format(transport=transport, more=more))
        return subprocess.run([PROGRAM, "run", file, "-o", folder + "/x.run", "--json", "--keep-going", "--no-page", *options],
                              capture_output=True, text=True, timeout=120)


def require(name, found, good):
    if not good:
        failures.append(f"{name}: {found}")


def checks_of(done):
    return {check["name"]: check for check in json.loads(done.stdout)["checks"]}


def carries(transport):
    for name, more in JOBS.items():
        done = run(transport, more, "--on", "loopback")
        if not done.stdout:
            failures.append(f"{transport}, {name}: {done.stderr}")
            continue
        for check in ("schedule", "sums", "ranks"):
            found = checks_of(done)[check]
            require(f"{transport}, {name}, {check}", found, found["ok"])
    done = run(transport, JOBS["ring"], "--accept-network")
    if "namespace" in done.stderr and not done.stdout:
        print(f"{transport}: no emulated networks here: {done.stderr.strip()}")
        return
    require(f"{transport}, emulated", done.stderr, done.stdout and checks_of(done)["stream"]["ok"])


def is_refused(transport):
    done = run(transport, JOBS["ring"], "--on", "loopback")
    require(f"{transport}, not built", done.stderr, done.returncode == 2 and "built without" in done.stderr)


for transport in TRANSPORTS:
    built = (PROGRAM.parent / f"trainwire-{transport}").exists()
    (carries if built else is_refused)(transport)
    print(f"{transport}: {'carried' if built else 'not built'}")
print("\n".join(failures))
sys.exit(1 if failures else 0)
