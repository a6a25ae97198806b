#!/usr/bin/env python3
"""Runs on hosts that srun, ssh and mpirun start, in an emulated cluster of four: bytes as on one machine.

clusters.py TRAINWIRE. Skipped, with the reason, where Slurm or sshd is not installed.
"""
import csv
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys

from cluster_hosts import EXPERIMENT, PROGRAM, SWEEP, checks_of, counted, in_cluster, nothing_left, on_host, points_of, trainwire, wait_until

# Every rank sends a million bytes around, and knows them again.
AROUND = """
#include <mpi.h>
#include <string.h>
static char out[1000000], in[1000000];
int main(int argc, char** argv) {
  int rank, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  memset(out, rank + 1, sizeof out);
  for (int i = 0; i < 3; ++i)
    MPI_Sendrecv(out, sizeof out, MPI_CHAR, (rank + 1) % size, 0, in, sizeof in, MPI_CHAR, (rank + size - 1) % size, 0,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return in[5] == (rank + size - 1) % size + 1 ? 0 : 3;
}
"""
# The machine's clock, three seconds ahead.
AHEAD = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t which, struct timespec* into) {
  static int (*real)(clockid_t, struct timespec*);
  if (!real) real = (int (*)(clockid_t, struct timespec*))dlsym(RTLD_NEXT, "clock_gettime");
  const int result = real(which, into);
  if (which == CLOCK_REALTIME) into->tv_sec += 3;
  return result;
}
"""
SPEAK = """
import os, socket, sys, threading
rank, size = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
server = socket.create_server(("", 5000 + rank))
def take():
    connection = server.accept()[0]
    while connection.recv(1 << 16): pass
taker = threading.Thread(target=take); taker.start()
import time; time.sleep(0.3)
to = (rank + 1) % size
with socket.create_connection((f"host{to}", 5000 + to)) as c: c.sendall(bytes(1_000_000))
taker.join()
"""


def launched(how, name, **more):
    run = json.loads(trainwire("run", "four.toml", "--launch", how, "-o", name, "--no-page", "--json", "--keep-going",
                               **more).stdout)
    for check in ("schedule", "sums", "stream", "clocks", "ranks", "bytes"):
        assert checks_of(run)[check], (how, check, run["checks"])
    assert run["engine"] == "hosts"
    # Links are the same ones, so times are alike.
    here = json.loads(pathlib.Path("local.run/run.json").read_text())["summary"]["jobs"][0]["step"]["median_s"]
    assert here / 3 < run["jobs"][0]["step"]["median_s"] < here * 3, (how, run["jobs"][0]["step"], here)
    return run


def programs(local):
    """An MPI program that srun starts, and mpirun."""
    if not shutil.which("mpicc"):
        return print("no mpicc: no MPI program under srun")
    pathlib.Path("around.c").write_text(AROUND)
    subprocess.run(["mpicc", "-o", "around", "around.c"], check=True)
    seen = {}
    mpi = dict(os.environ, OMPI_MCA_btl="tcp,self", OMPI_MCA_orte_default_hostfile=os.environ["TRAINWIRE_HOSTS"])
    for how, words in (("srun", ["salloc", "-Q", "--nodes=4", "--ntasks-per-node=1"]), ("mpirun", [])):
        done = subprocess.run([*words, PROGRAM, "exec", "four.toml", "--launch", how, "-o", f"{how}-mpi.run", "--no-page", "--json",
                               "--keep-going", "--", os.path.abspath("around")], stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, env=dict(mpi, SLURM_MPI_TYPE="pmix"))
        assert done.returncode == 0, (how, done.stderr, done.stdout[-2000:])
        pairs = {(p["from"], p["to"]): p["stream_bytes"] for p in json.loads(done.stdout)["pairs"]}
        seen[how] = [pairs[f"host{i}", f"host{(i + 1) % 4}"] for i in range(4)]
        assert all(3_000_000 <= bytes < 3_100_000 for bytes in seen[how]), (how, seen[how])
    print(f"an MPI program under srun and mpirun: {seen}")


def sweeps():
    """A job array: bytes as on one machine; what is there is not run again; a node that dies costs its point."""
    done = trainwire("run", "sweep.toml", "--launch", "srun", "-o", "array.run", "--no-page", "--keep-going")
    assert "3 points as job array" in done.stderr, done.stderr
    assert points_of("array.run") == points_of("local-sweep.run"), (points_of("array.run"), points_of("local-sweep.run"))
    again = trainwire("run", "sweep.toml", "--launch", "srun", "-o", "array.run", "--no-page", "--keep-going")
    assert "all 3 points are there" in again.stderr, again.stderr
    shutil.rmtree("array.run/point-001")
    part = trainwire("run", "sweep.toml", "--launch", "srun", "-o", "array.run", "--no-page", "--keep-going")
    assert "1 points as job array" in part.stderr, part.stderr
    # Its conductor is killed: the next start goes on with the job that he has left.
    shutil.rmtree("array.run")
    words = [PROGRAM, "run", "sweep.toml", "--launch", "srun", "-o", "array.run", "--no-page", "--keep-going"]
    first = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_until(lambda: pathlib.Path("array.run/array.txt").exists())
    first.kill()
    first.wait()
    done = trainwire(*words[1:])
    assert "of an earlier start" in done.stderr and "points as job array" not in done.stderr, done.stderr
    assert points_of("array.run") == points_of("local-sweep.run")
    print("a sweep as a job array: as on one machine, gone on with after a kill")


def shared_work(captures, whole):
    """analyze, sim and bench pairs on all hosts by one command, whoever starts it."""
    hosts = os.environ["TRAINWIRE_HOSTS"]
    mpi = dict(os.environ, OMPI_MCA_orte_default_hostfile=hosts)
    here = os.getcwd()
    for how, more in ((f"ssh:{hosts}", []), ("srun", ["--machines", "4"]), ("mpirun", ["--machines", "4"])):
        found = json.loads(trainwire("analyze", f"{here}/exec.run/{{host}}.pcap", "--launch", how, *more, "-o", f"{how[:3]}-there.run",
                                     "--no-page", "--json", "-q", env=mpi).stdout)
        for key in ("pairs", "flows", "hosts", "iterations", "findings", "collectives"):
            assert found.get(key) == whole.get(key), (how, key)
    os.rename("exec.run/host1.pcap", "exec.run/gone")
    told = trainwire("analyze", f"{here}/exec.run/{{host}}.pcap", "--launch", "srun", "--machines", "4", "-o", "some.run", "-q", code=4)
    assert told.stderr.count("\n") == 1 and "there is no file" in told.stderr and "the 3 parts that came" in told.stderr, told.stderr
    assert len(list(pathlib.Path("some.parts").glob("*.part"))) == 3
    os.rename("exec.run/gone", "exec.run/host1.pcap")
    simulated = [json.loads(trainwire("sim", "sweep.toml", "-o", name, "--no-page", "--json", "-q", *more).stdout)["points"]
                 for name, more in (("sim-here.run", []), ("sim-there.run", ["--launch", "srun", "--machines", "4"]))]
    assert simulated[0] == simulated[1]
    folder = str(pathlib.Path(__file__).resolve().parent.parent / "reproductions")
    verdicts = [json.loads(trainwire("reproduce", "closed-forms", "--folder", folder, "--json", "-q", *more).stdout)["artefacts"]
                for more in ([], ["--launch", "srun", "--machines", "4"])]
    assert verdicts[0] and verdicts[0] == verdicts[1]
    rows = json.loads(trainwire("bench", "exchange", "four.toml", "--launch", f"ssh:{hosts}", "--sizes", "64KiB,400kB", "--repeats", "3", "--json").stdout)["rows"]
    # 600 kB of 400 kB through host2's 100 Mbit/s: 48 ms at least.
    assert [row["wrong"] for row in rows] == [0, 0] and rows[1]["time_s"] > 0.045, rows
    pairs = json.loads(trainwire("bench", "pairs", "four.toml", "--launch", "srun", "--time", "100ms", "--repeats", "2", "--json").stdout)
    assert len(pairs["pairs"]) == 12
    # A machine that is busy may make another look slow, never as slow as a quarter of the rate.
    slow = sorted((s for s in pairs["suspects"] if s["what"] == "rate"), key=lambda s: s["value"] / s["usual"])
    assert slow and (slow[0]["from"], slow[0]["to"]) == (None, "host2") and slow[0]["value"] < 0.5 * slow[0]["usual"], pairs
    assert all(s["value"] > 0.5 * s["usual"] for s in slow[1:]), pairs
    print(f"analyze by ssh, srun and mpirun: as all captures here; sim: the same points; {slow[0]['text']}")


def clocks():
    """A host whose clock is 3 s ahead: its times are put on the first one's."""
    pathlib.Path("ahead.c").write_text(AHEAD)
    if subprocess.run(["cc", "-shared", "-fPIC", "-o", "ahead.so", "ahead.c", "-ldl"], capture_output=True).returncode != 0:
        return print("no C compiler: clocks were not put apart")
    token = dict(os.environ, TRAINWIRE_TOKEN="2" * 32)
    run = subprocess.Popen([PROGRAM, "run", "four.toml", "--launch", "wait", "--port", "29612", "--set", "capture.enabled=false", "--no-page",
                            "--json", "--keep-going", "-o", "clocks.run"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, env=token)
    hosts = [subprocess.Popen(on_host(f"host{i}", PROGRAM, "host", "--join", "host0:29612", "--number", str(i)), stdin=subprocess.DEVNULL,
                              env=dict(token, **({"LD_PRELOAD": os.path.abspath("ahead.so")} if i == 2 else {}))) for i in range(4)]
    told = json.loads(run.communicate(timeout=40)[0])
    for host in hosts:
        assert host.wait(timeout=10) == 0
    check = next(check for check in told["checks"] if check["name"] == "clocks")
    assert "host2" in check["text"] and "+3.0" in check["text"], check
    begun = {}
    for row in csv.DictReader(open("clocks.run/steps.csv")):
        begun.setdefault(row["step"], []).append(int(row["start_ns"]))
    spread = max(max(times) - min(times) for times in begun.values())
    assert spread < 1_000_000_000, spread
    print(f"clocks 3 s apart: {check['text']}")


def second_device(local):
    """Hosts with two devices: data, captures and counters are of the one that the file of hosts names."""
    addresses = [socket.gethostbyname(f"host{i}") for i in range(4)]
    for i, host in enumerate(f"host{i}" for i in range(4)):
        made = subprocess.run(on_host(host, "ip", "link", "add", "data0", "type", "vxlan", "id", "7", "dstport", "4789", "dev", "eth0"),
                              capture_output=True, text=True)
        if made.returncode != 0:
            return print(f"no second device: {made.stderr.strip()}")
        for words in (["ip", "addr", "add", f"10.99.0.{i + 1}/24", "dev", "data0"], ["ip", "link", "set", "data0", "mtu", "1400", "up"],
                      *(["bridge", "fdb", "append", "00:00:00:00:00:00", "dev", "data0", "dst", other] for other in addresses if other != addresses[i])):
            subprocess.run(on_host(host, *words), check=True)
    pathlib.Path("data.txt").write_text("".join(f"host{i} interface=data0\n" for i in range(4)))
    run = launched("ssh:data.txt", "data.run")
    assert counted("data.run") == local
    assert sorted(host["addresses"] for host in run["hosts"]) == [[f"10.99.0.{i + 1}"] for i in range(4)], run["hosts"]
    pathlib.Path("data.txt").write_text("host0\nhost1\nhost2\nhost3 interface=nope\n")
    told = trainwire("run", "four.toml", "--launch", "ssh:data.txt", "-q", "-o", "nope.run", code=4)
    assert told.stderr.count("\n") == 1 and "no network device nope with an address is up here" in told.stderr, told.stderr
    for i in range(4):
        subprocess.run(on_host(f"host{i}", "ip", "link", "del", "data0"), check=True)
    print("a second device: bytes as on one machine, over it alone")


def inside():
    local = counted("local.run")
    run = launched("srun", "srun.run")
    assert counted("srun.run") == local, (counted("srun.run"), local)
    launched(f"ssh:{os.environ['TRAINWIRE_HOSTS']}", "ssh.run")
    assert counted("ssh.run") == local
    if shutil.which("mpirun"):
        launched("mpirun", "mpi.run", env=dict(os.environ, OMPI_MCA_orte_default_hostfile=os.environ["TRAINWIRE_HOSTS"]))
        assert counted("mpi.run") == local
    print(f"srun, ssh, mpirun: {local[1][1]}, as on one machine, step {run['jobs'][0]['step']['median_s']:.4f} s")

    # A program that Slurm starts, captured on every host; its captures in parts are its captures.
    pathlib.Path("speak.py").write_text(SPEAK)
    done = subprocess.run(["salloc", "-Q", "--nodes=4", "--ntasks-per-node=1", PROGRAM, "exec", "four.toml", "--launch", "srun",
                           "--keep", "-o", "exec.run", "--no-page", "--json", "--keep-going", "--", "python3", "speak.py"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, (done.stderr, done.stdout[-2000:])
    found = {(p["from"], p["to"]): p["stream_bytes"] for p in json.loads(done.stdout)["pairs"]}
    assert found["host1", "host2"] == found["host2", "host3"] == 1_000_000, found
    subprocess.run(["srun", "-Q", "-N4", "--ntasks-per-node=1", "sh", "-c",
                    f"{PROGRAM} analyze exec.run/$(hostname).pcap --partial -q -o $(hostname).part"], check=True, timeout=60)
    captures = [f"exec.run/host{i}.pcap" for i in range(4)]
    parts = [f"host{i}.part" for i in (2, 0, 3, 1)]
    merged, whole = (json.loads(trainwire("analyze", *files, "--no-folder", "--json").stdout) for files in (parts, captures))
    for key in ("pairs", "flows", "hosts", "iterations", "findings", "collectives"):
        assert merged.get(key) == whole.get(key), key
    print("exec under srun, and parts of its captures merged: as all captures at once")

    programs(local)
    sweeps()
    shared_work(captures, whole)
    clocks()
    second_device(local)
    nothing_left()


def local_runs():
    trainwire("run", "four.toml", "--no-check", "--no-page", "-q", "--keep-going", "-o", "local.run")
    trainwire("run", "sweep.toml", "--no-check", "--no-page", "-q", "--keep-going", "-o", "local-sweep.run")


sys.exit(in_cluster(__file__, {"four.toml": EXPERIMENT, "sweep.toml": SWEEP}, inside, local_runs))
