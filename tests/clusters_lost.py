#!/usr/bin/env python3
"""What a sweep as a job array loses with a node, and with slurmctld; and nodes that never answer: one line within the time that docs/clusters.md
states, what is finished kept, the same command goes on, nothing left.

clusters_lost.py TRAINWIRE. Mostly waits, so it goes beside other tests. Skipped, with the reason, where Slurm or sshd is not installed.
"""
import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

from cluster_hosts import (EXPERIMENT, PROGRAM, SWEEP, all_processes, cut_link, in_cluster, is_ours, named, nothing_left, on_host,
                           processes, wait_until)

ONE = ["sweep.toml", "--set", "sweep={}", "--no-page", "-q"]  # a run of two hosts


def sweep(folder):
    """Points of some seconds."""
    return subprocess.Popen([PROGRAM, "run", "sweep.toml", "--launch", "srun", "--set", "job.steps=200", "--no-page", "--keep-going", "-o", folder],
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def runs_of(folder):
    found = []
    for path in sorted(pathlib.Path(folder).glob("point-*/run.json")):
        try:
            found.append(json.loads(path.read_text()))
        except ValueError:
            pass
    return found


def require_whole(folder):
    runs = runs_of(folder)
    assert len(runs) == 3 and all(run["complete"] for run in runs), runs
    for run in runs:
        checks = {check["name"]: check["ok"] for check in run["summary"]["checks"]}
        assert checks["schedule"] and checks["sums"] and checks["stream"], checks


def scontrol(host, state):
    subprocess.run(["scontrol", "update", f"nodename={host}", f"state={state}", "reason=test"], check=True, timeout=30)


def ended(run, seconds, says, code=4):
    began = time.monotonic()
    out, errors = run.communicate(timeout=2 * seconds)
    assert run.returncode == code, (run.returncode, errors, out)
    assert code == 0 or errors.count("\n") == 1, errors
    assert all(text in errors for text in says), errors
    return time.monotonic() - began, errors


def lose_node():
    """host1, where the task's own script is, dies with everything on it: Slurm starts the point again elsewhere."""
    scontrol("host3", "drain")
    scontrol("host0", "drain")
    run = sweep("lost.run")
    wait_until(lambda: processes("rank", "host1"))
    cut_link("host1")
    for pid, comm, _, network in list(all_processes()):
        if comm != "sshd" and is_ours(network, "host1"):
            with contextlib.suppress(ProcessLookupError):  # one that went with another
                os.kill(pid, signal.SIGKILL)
    scontrol("host0", "resume")
    out, errors = run.communicate(timeout=120)
    kept = sum(one["complete"] for one in runs_of("lost.run"))
    assert kept >= 2, (run.returncode, errors, out)
    if run.returncode != 0:
        assert run.returncode == 4 and "FAILED" in out, (run.returncode, errors, out)
        out, errors = sweep("lost.run").communicate(timeout=60)
    require_whole("lost.run")
    return f"a node that died in a sweep: {kept} of 3 points came without asking again"


def lose_slurmctld():
    """Points that run end by themselves; the command gives up after 30 s, and its job's number stays for the next start."""
    run = sweep("without.run")
    wait_until(lambda: processes("rank"))
    os.kill(named("slurmctld")[0], signal.SIGKILL)
    began = time.monotonic()
    errors = run.communicate(timeout=90)[1]
    took = time.monotonic() - began
    last = errors.splitlines()[-1]
    assert run.returncode == 4 and "Slurm has not answered for 30 s" in last and "the same command goes on" in last, (run.returncode, errors)
    assert took < 60, took
    wait_until(lambda: not processes("rank"))
    kept = sum(one["complete"] for one in runs_of("without.run"))
    assert kept >= 1 and pathlib.Path("without.run/array.txt").exists(), kept
    return f"{last}\nslurmctld killed in a sweep: said after {took:.0f} s; {kept} points were kept"


def nobody_listens():
    """A host that drops what comes: its link is down."""
    pathlib.Path("far.txt").write_text("host0\nhost3\n")
    run = subprocess.Popen([PROGRAM, "run", *ONE, "--launch", "ssh:far.txt", "-o", "far.run"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
    took, errors = ended(run, 20, ["ssh host3", "timed out"])
    assert took < 20, took
    return errors.strip()


def silent_sshd():
    """Hosts that accept and say nothing."""
    pathlib.Path("silent.txt").write_text("host0\nhost2\n")
    silent = [subprocess.Popen(on_host(host, sys.executable, "-c", "import socket, time; s = socket.create_server(('', 2222)); time.sleep(60)"))
              for host in ("host0", "host2")]
    time.sleep(1)
    run = subprocess.Popen([PROGRAM, "run", *ONE, "--launch", "ssh:silent.txt", "-o", "silent.run"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                           env=dict(os.environ, TRAINWIRE_SSH=os.environ["TRAINWIRE_SSH"] + " -p 2222"))
    took, errors = ended(run, 20, ["ssh host", "timed out"])
    for one in silent:
        one.kill()
        one.wait()
    assert took < 20, took
    return errors.strip()


def silent_node():
    """srun has a node that has gone silent since it was given: its host never joins."""
    run = subprocess.Popen(["salloc", "-Q", "--nodes=2", "--nodelist=host0,host3", PROGRAM, "run", *ONE, "--launch", "srun", "-o", "node.run"],
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    took, errors = ended(run, 40, ["1 of 2 hosts has not joined (number 1)", "failed on node host3"])
    assert took < 40, took
    return f"{errors.strip()} (after {took:.0f} s)"


def connected(host, port):
    for _ in range(100):
        try:
            return socket.create_connection((host, port))
        except ConnectionRefusedError:
            time.sleep(0.1)
    raise AssertionError("nobody listens")


def nobody_joins():
    """One host joins, one only connects and says nothing, nobody else comes."""
    token = dict(os.environ, TRAINWIRE_TOKEN="3" * 32)
    run = subprocess.Popen([PROGRAM, "run", *ONE, "--launch", "wait", "--port", "29613", "-o", "wait.run"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=token)
    first = subprocess.Popen(on_host("host2", PROGRAM, "host", "--join", "host0:29613", "--number", "0"), stdin=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True, env=token)
    with connected("host0", 29613):
        took, errors = ended(run, 40, ["1 of 2 hosts has not joined (number 1) within 30 s"])
    assert first.wait(timeout=10) == 4 and took < 40, took
    return errors.strip()


def inside():
    cut_link("host3")
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        first = [pool.submit(silent_node)]
        wait_until(lambda: "host[0,3]" in subprocess.run(["squeue", "-h", "-o", "%N"], capture_output=True, text=True, check=True).stdout)
        first += [pool.submit(one) for one in (lose_node, nobody_listens, silent_sshd)]
        print(first[0].result())
        print(first[1].result())
        second = [pool.submit(one) for one in (lose_slurmctld, nobody_joins)]
        for one in first[2:] + second:
            print(one.result())
    nothing_left()


sys.exit(in_cluster(__file__, {"four.toml": EXPERIMENT, "sweep.toml": SWEEP}, inside))
