#!/usr/bin/env python3
"""Libraries that carry a rank's bytes: tests/run_transports.py PROGRAM.

Every transport that was built carries exchanges in step, asynchronous servers and pair averaging, on several connections too; sums are right
and ranks sent what schedules say. Bytes on the wire are what the kernel counted of the library's connections. A carrier that is killed ends
the run in one sentence, and nothing is left. One that was not built is one sentence.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

PROGRAM = pathlib.Path(sys.argv[1]).resolve()
TRANSPORTS = ("gloo", "grpc", "mpi")
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


def carries_on_loopback(transport, name):
    done = run(transport, JOBS[name], "--on", "loopback")
    if not done.stdout:
        failures.append(f"{transport}, {name}: {done.stderr}")
        return
    for check in ("schedule", "sums", "ranks"):
        found = checks_of(done)[check]
        require(f"{transport}, {name}, {check}", found, found["ok"])


def carries_emulated(transport):
    done = run(transport, JOBS["ring"], "--accept-network")
    if "namespace" in done.stderr and not done.stdout:
        print(f"{transport}: no emulated networks here: {done.stderr.strip()}")
        return
    require(f"{transport}, emulated", done.stderr, done.stdout and checks_of(done)["stream"]["ok"])


def processes_in(folder, name):
    """Those of that name whose rank prints into the folder, or that were started from there."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            files = [os.readlink(link) for link in (process / "fd").glob("[12]")] + [os.readlink(process / "cwd")]
            if os.path.basename(os.readlink(process / "exe")).startswith(name) and any(f.startswith(folder) for f in files):
                found.append(int(process.name))
        except OSError:
            pass
    return found


def dies(transport):
    """One carrier of a job that would go on for long."""
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "x.toml"
        more = JOBS["ring"] + '\nfailure_timeout = "3s"'
        file.write_text(EXPERIMENT.format(transport=transport, more=more).replace("steps = 4", "steps = 100000"))
        run = subprocess.Popen([PROGRAM, "run", file, "-o", folder + "/x.run", "--no-page", "-q", "--on", "loopback"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=folder)
        limit = time.monotonic() + 60
        steps = pathlib.Path(folder) / "x.run/job0-rank0-steps.tmp"
        while time.monotonic() < limit and not (steps.exists() and steps.read_text().count(",step,") > 2):
            time.sleep(0.05)
        carriers = processes_in(folder, f"trainwire-{transport}")
        require(f"{transport}, carriers", carriers, len(carriers) == 4)
        if carriers:
            os.kill(max(carriers), signal.SIGKILL)
        errors = run.communicate(timeout=60)[1].strip().splitlines()
        require(f"{transport}, killed", errors, run.returncode == 4 and len(errors) == 1 and "rank" in errors[0])
        limit = time.monotonic() + 10
        while time.monotonic() < limit and processes_in(folder, "trainwire"):
            time.sleep(0.05)
        require(f"{transport}, left behind", processes_in(folder, "trainwire"), not processes_in(folder, "trainwire"))


def is_refused(transport):
    done = run(transport, JOBS["ring"], "--on", "loopback")
    require(f"{transport}, not built", done.stderr, done.returncode == 2 and "built without" in done.stderr)


is_built = {transport: (PROGRAM.parent / f"trainwire-{transport}").exists() for transport in TRANSPORTS}
with ThreadPoolExecutor(6) as pool:
    tasks = []
    for transport in TRANSPORTS:
        if is_built[transport]:
            tasks += [pool.submit(carries_on_loopback, transport, name) for name in JOBS]
            tasks += [pool.submit(carries_emulated, transport), pool.submit(dies, transport)]
        else:
            tasks.append(pool.submit(is_refused, transport))
    for task in tasks:
        task.result()
print("\n".join(f"{transport}: {'carried' if built else 'not built'}" for transport, built in is_built.items()))
print("\n".join(failures))
sys.exit(1 if failures else 0)
