#!/usr/bin/env python3
"""What goes wrong while a run is on hosts of an emulated cluster: one line each, nothing left; and devices that --shape has slowed are given back.

clusters_faults.py TRAINWIRE. Skipped, with the reason, where Slurm or sshd is not installed.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

from cluster_hosts import (EXPERIMENT, PROGRAM, SWEEP, checks_of, cut_link, failing, in_cluster, named, nothing_left, on_host, processes,
                           trainwire, wait_until)

SHAPED = """
name = "shaped"
[network]
hosts = 4
rate = "40Mbit"
delay = "0us"
[[job]]
parameters = "400kB"
compute_time = "2ms"
ranks = 4
strategy = "ring"
steps = 6
warmup = 1
[[network.link]]
at = "host1"
direction = "to_host"
rate = "40Mbit"
[run]
timeout = "20s"
"""


def queues():
    """What stands before every host's device, and beside it."""
    return [subprocess.run(on_host(f"host{i}", "tc", "qdisc", "show"), capture_output=True, text=True, check=True).stdout for i in range(4)]


def shaped():
    """--shape: as slow as asked, in both directions, and taken back however the run ends; refused where somebody has set a queue."""
    for i in range(4):
        subprocess.run(on_host(f"host{i}", "tc", "qdisc", "replace", "dev", "eth0", "root", "handle", "5:", "tbf", "rate", "400mbit",
                               "burst", "100k", "limit", "1m"), check=True)
    theirs = queues()
    told = trainwire("run", "shaped.toml", "--launch", "srun", "--shape", "-q", "-o", "refused.run", code=4)
    assert told.stderr.count("\n") == 1 and "somebody has set its queues already" in told.stderr and queues() == theirs, told.stderr
    print(told.stderr, end="")
    for i in range(4):
        subprocess.run(on_host(f"host{i}", "tc", "qdisc", "del", "dev", "eth0", "root"), check=True)
    before = queues()
    took = []
    # 600 kB of 400 kB go out of every rank in a step, 5 % of headers not counted: 0.12 s at 40 Mbit/s; and into host1 at 20.
    for slowest, more in (("40Mbit", []), ("20Mbit", ["--set", "network.link.0.rate=20Mbit"])):
        run = json.loads(trainwire("run", "shaped.toml", "--launch", "srun", "--shape", *more, "--no-page", "--json", "--keep-going",
                                   "-o", f"shaped-{slowest}.run").stdout)
        assert run["engine"] == "shaped hosts" and checks_of(run)["bytes"] and checks_of(run)["stream"], run["checks"]
        took.append(run["jobs"][0]["step"]["median_s"])
        assert queues() == before, queues()
    assert 0.12 < took[0] < 0.5 and 0.24 < took[1] < 1, took  # a busy machine is slower, never faster
    delayed = subprocess.run([PROGRAM, "run", "shaped.toml", "--launch", "srun", "--shape", "--set", "network.delay=20ms", "--no-page", "-q",
                              "--keep-going", "-o", "delayed.run"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    if delayed.returncode == 0:  # six rounds of 40 ms
        step = json.loads(pathlib.Path("delayed.run/run.json").read_text())["summary"]["jobs"][0]["step"]["median_s"]
        assert step > took[0] + 0.2, step
    else:
        assert delayed.stderr.count("\n") == 1 and "netem" in delayed.stderr and "only rates can be shaped" in delayed.stderr, delayed.stderr
    assert queues() == before, queues()

    def kill_guard(run):
        for guard in named("trainwire-guard", "host2"):
            os.kill(guard, signal.SIGKILL)

    def kill_host(run):
        for host in set(processes("host", "host2")) - set(named("trainwire-guard")):
            os.kill(host, signal.SIGKILL)

    slow = ["--shape", "--set", "job.steps=300"]
    gone = "its connection to the run has ended"
    for kill, says in ((kill_host, gone), (lambda run: run.kill(), None), (lambda run: run.send_signal(signal.SIGINT), None),
                       (lambda run: kill_guard(run) or run.send_signal(signal.SIGINT), None)):
        failing(slow, kill, says, file="shaped.toml")
        wait_until(lambda: queues() == before, left=lambda: (queues(), named("trainwire-guard")))
    failing(slow, lambda run: kill_guard(run) or kill_host(run), gone, file="shaped.toml")
    wait_until(lambda: sum(now != then for now, then in zip(queues(), before)) == 1)
    told = trainwire("cleanup")
    assert "the shaping of eth0" in told.stdout + told.stderr and queues() == before, (told, queues())
    print(f"shaped to 40 Mbit/s out and 20 in: steps of {took[0]:.3f} and {took[1]:.3f} s; taken back at the end, after Ctrl-C and after every kill")


def daemons():
    """slurmd and slurmctld killed: a run that is going on does not mind; afterwards one line says it."""
    run = subprocess.Popen([PROGRAM, "run", "four.toml", "--launch", "srun", "--set", "job.steps=100", "--no-page", "-q", "--keep-going",
                            "-o", "daemon.run"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    live = pathlib.Path("daemon.run/live.jsonl")
    wait_until(lambda: live.exists() and live.read_text().count("\n") > 1)
    os.kill(named("slurmd", "host3")[0], signal.SIGKILL)
    os.kill(named("slurmctld")[0], signal.SIGKILL)
    errors = run.communicate(timeout=40)[1]
    assert run.returncode == 0, errors
    told = trainwire("run", "four.toml", "--launch", "srun", "-q", "-o", "none.run", code=4)
    assert told.stderr.count("\n") == 1 and "srun" in told.stderr, told.stderr
    told = trainwire("run", "sweep.toml", "--launch", "srun", "-q", "-o", "none-sweep.run", code=4)
    assert told.stderr.count("\n") == 1 and "sbatch" in told.stderr, told.stderr
    print(told.stderr, end="")


def wrong_token():
    stranger = subprocess.Popen([PROGRAM, "run", "four.toml", "--launch", "wait", "--port", "29611", "--set", "run.timeout=2s",
                                 "-q", "-o", "wait.run"], stderr=subprocess.PIPE, text=True, env=dict(os.environ, TRAINWIRE_TOKEN="1" * 32))
    time.sleep(0.5)
    told = trainwire("host", "--join", "host0:29611", "--number", "0", code=4, env=dict(os.environ, TRAINWIRE_TOKEN="0" * 32))
    assert "its token is not this run's" in told.stderr, told.stderr
    errors = stranger.communicate(timeout=20)[1]
    assert stranger.returncode == 4 and "somebody was refused: its token is not this run's" in errors, errors
    print(errors, end="")


def inside():
    def kill_host(run):
        os.kill(max(processes("host")), signal.SIGKILL)
    print(failing([], kill_host, "its connection to the run has ended"), end="")
    print(failing([], lambda run: os.kill(processes("rank")[0], signal.SIGKILL), "was killed by signal 9"), end="")
    print(failing([], lambda run: os.kill(named("srun")[0], signal.SIGKILL), "its connection to the run has ended"), end="")  # it takes its hosts with it
    failing([], lambda run: run.kill(), None)
    shaped()
    daemons()
    print(failing([], lambda run: cut_link("host3"), "has been silent for 10 s", by=f"ssh:{os.environ['TRAINWIRE_HOSTS']}"), end="")
    wrong_token()
    nothing_left()


sys.exit(in_cluster(__file__, {"four.toml": EXPERIMENT, "sweep.toml": SWEEP, "shaped.toml": SHAPED}, inside))
