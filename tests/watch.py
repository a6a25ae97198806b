#!/usr/bin/env python3
"""trainwire watch on a real job, over real sockets: watch.py TRAINWIRE.

The job is three processes in a ring on the loopback that sum up a megabyte, in pieces, after every 150 ms or so. Beside it a stranger talks,
whose packets must not be taken.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

PROGRAM = os.path.realpath(sys.argv[1])
PYTHON = "/usr/bin/python3"  # which any user may start
USER = 65534
JOB = """
import os, random, socket, sys, time
ranks, size, pause = 3, int(sys.argv[1]), float(sys.argv[2])
doors = []
for rank in range(ranks):
    door = socket.create_server(("127.0.0.1", 0))
    doors.append(door)
for rank in range(ranks):
    if os.fork() == 0:
        out = socket.create_connection(doors[(rank + 1) % ranks].getsockname())
        into, _ = doors[rank].accept()
        piece = size // ranks
        while True:
            time.sleep(pause * random.uniform(0.9, 1.1))
            for _ in range(2 * (ranks - 1)):
                out.sendall(bytes(piece))
                left = piece
                while left:
                    got = len(into.recv(min(left, 1 << 20)))
                    if not got: sys.exit()
                    left -= got
print("ready", flush=True)
time.sleep(600)
"""
started = []
top = pathlib.Path(tempfile.mkdtemp(prefix="watch-"))
os.chmod(top, 0o755)


def job(*words, **how):
    """Its leader; the ranks are its children. A group of their own, to be ended together."""
    made = subprocess.Popen([PYTHON, "-c", JOB, *map(str, words)], stdout=subprocess.PIPE, text=True, start_new_session=True, **how)
    started.append(made)
    assert made.stdout.readline() == "ready\n"
    time.sleep(0.5)
    return made


def end(process):
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    started.remove(process)


def watch(pid, *words, program=PROGRAM, **how):
    done = subprocess.run([program, "watch", str(pid), *words], capture_output=True, text=True, timeout=100, **how)
    assert done.returncode == 0, (done.returncode, done.stderr)
    return done


def packets_are_the_jobs_alone():
    ranks, stranger = job(1 << 20, 0.15), job(1000, 0.01)
    folder = top / "job.run"
    found = json.loads(watch(ranks.pid, "--for", "6s", "-o", str(folder), "--json").stdout)
    end(ranks), end(stranger)
    watched = found["watched"]
    assert 5 < watched["seconds"] < 30, watched["seconds"]
    assert len(watched["ways"]) == 1 and watched["ways"][0]["remote"] == "127.0.0.1", watched["ways"]
    way = watched["ways"][0]
    assert way["connections"] == 6, way
    assert way["sent_bytes"] == way["received_bytes"] or abs(way["sent_bytes"] / way["received_bytes"] - 1) < 0.2, way
    assert way["sent_bytes"] > 3 * 5 * 2**20, way
    run = json.loads((folder / "run.json").read_text())
    assert run["complete"] and run["command"] == "watch", run["command"]
    assert run["summary"]["watched"] == watched, run["summary"]
    assert run["summary"]["verdict"]["text"] == found["verdict"]["text"]
    assert (folder / "report.html").stat().st_size > 10_000
    with open(folder / "ways.csv") as file:
        assert len(list(csv.DictReader(file))) == 1
    if "captured on lo" not in watched["packets"]:
        print("no packets here:", watched["packets"])
        assert os.geteuid() != 0
        return
    # What TCP counted and what was captured are the same bytes: a stranger's megabyte would show.
    carried = sum(pair["stream_bytes"] for pair in found["pairs"])
    assert 0.8 < carried / way["sent_bytes"] < 1.2, (carried, way["sent_bytes"])
    with open(folder / "flows.csv") as file:
        sizes = [int(row["stream_bytes"]) for row in csv.DictReader(file)]
    assert len([size for size in sizes if size > 0]) == 3, sizes
    assert found["iterations"]["count"] > 15, found["iterations"]
    assert 0.1 < found["iterations"]["median_s"] < 0.4, found["iterations"]["median_s"]
    again = subprocess.run([PROGRAM, "compare", str(folder), str(folder)], capture_output=True, text=True)
    assert again.returncode == 0, again.stderr


def asked(address, **headers):
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=30) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers["Content-Type"], error.read().decode()


def metrics_for_those_who_leave_it_running():
    ranks = job(1 << 20, 0.1)
    watching = subprocess.Popen([PROGRAM, "watch", str(ranks.pid), "--metrics", "0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    started.append(watching)
    address = re.search(r"http://\S+/metrics", watching.stderr.readline())[0]
    assert address.startswith("http://127.0.0.1:"), address
    time.sleep(2)
    status, kind, text = asked(address)
    assert status == 200 and kind == "application/openmetrics-text; version=1.0.0; charset=utf-8", (status, kind)
    assert text.endswith("\n# EOF\n"), text[-100:]
    first = float(re.search(r'trainwire_sent_bytes_total{local="127.0.0.1",remote="127.0.0.1"} (\S+)', text)[1])
    time.sleep(1)
    second = float(re.search(r'trainwire_sent_bytes_total{\S+} (\S+)', asked(address)[2])[1])
    assert second > first > 0, (first, second)
    assert asked(address, Host="evil.example")[0] == 403
    assert asked(address.replace("/metrics", "/"))[0] == 404
    watching.send_signal(signal.SIGINT)
    out, err = watching.communicate(timeout=30)
    started.remove(watching)
    assert watching.returncode == 0 and "watched" in out, (watching.returncode, out, err)
    # On other addresses a token is needed.
    token = "00112233445566778899aabbccddeeff"
    watching = subprocess.Popen([PROGRAM, "watch", str(ranks.pid), "--metrics", "0.0.0.0:0"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                text=True, env={**os.environ, "TRAINWIRE_TOKEN": token})
    started.append(watching)
    address = re.search(r"http://\S+/metrics", watching.stderr.readline())[0].replace("0.0.0.0", "127.0.0.1")
    assert asked(address)[0] == 401
    assert asked(address, Authorization="Bearer " + token)[0] == 200
    # The job's end is its end.
    end(ranks)
    out, err = watching.communicate(timeout=30)
    started.remove(watching)
    assert watching.returncode == 0, (watching.returncode, err)


def ones_own_job_needs_no_root():
    if os.geteuid() != 0:
        return
    program = top / "trainwire"
    shutil.copy(PROGRAM, program)
    os.chmod(program, 0o755)
    user = {"user": USER, "group": USER, "extra_groups": []}
    ranks = job(1 << 18, 0.05, **user)
    found = json.loads(watch(ranks.pid, "--for", "2s", "--json", program=program, cwd="/", **user).stdout)
    end(ranks)
    assert found["watched"]["packets"].startswith("no packets: "), found["watched"]["packets"]
    assert found["watched"]["ways"][0]["sent_bytes"] > 0, found["watched"]
    assert found["verdict"]["text"], found


def what_cannot_be_watched_is_said():
    for words, code, text in ((["2147483647"], 3, "there is none"), (["x"], 2, "a process's number"),
                              ([str(os.getpid()), "--metrics", "x"], 2, "expected a port"),
                              ([str(os.getpid()), "--metrics", "nowhere:1"], 2, "an address of this machine"),
                              ([str(os.getpid()), "--for", "1"], 2, "--for")):
        done = subprocess.run([PROGRAM, "watch", *words], capture_output=True, text=True, timeout=60)
        assert done.returncode == code and text in done.stderr, (words, done.returncode, done.stderr)


try:
    packets_are_the_jobs_alone()
    metrics_for_those_who_leave_it_running()
    ones_own_job_needs_no_root()
    what_cannot_be_watched_is_said()
    print("watched: packets, TCP, metrics, without root, to the job's end")
finally:
    for each in list(started):
        each.kill() if each.poll() is None and os.getpgid(each.pid) != each.pid else end(each)
    shutil.rmtree(top, ignore_errors=True)
