#!/usr/bin/env python3
"""Runs on hosts that srun, ssh and mpirun start, in an emulated cluster of four: bytes as on one machine, faults in one line.

clusters.py TRAINWIRE. Calls itself inside `trainwire net cluster --with slurm --with ssh`. Skipped, with the reason, where
Slurm or sshd is not installed.
"""
import csv
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.abspath(sys.argv[1])
EXPERIMENT = """
name = "four"
[network]
hosts = 4
rate = "400Mbit"
delay = "50us"
[[job]]
parameters = "400kB"
compute_time = "2ms"
ranks = 4
strategy = "ring"
steps = 12
warmup = 1
[[network.link]]
at = "host2"
direction = "to_host"
rate = "100Mbit"
[run]
timeout = "20s"
"""
SWEEP = """
name = "sweep"
[network]
hosts = 2
[[job]]
parameters = "100kB"
compute_time = "2ms"
strategy = "ring"
steps = 6
[sweep]
"job.parameters" = ["100kB", "200kB", "300kB"]
[run]
timeout = "20s"
"""
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


def trainwire(*words, code=0, **more):
    done = subprocess.run([PROGRAM, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, **more)
    assert done.returncode == code, (words, done.returncode, done.stderr, done.stdout[-2000:])
    return done


def counted(folder):
    """What ranks sent and what the wire shows of it, which the check `stream` compares for every pair."""
    checks = json.loads(pathlib.Path(folder, "run.json").read_text())["summary"]["checks"]
    return [(check["expected"], check["found"]) for check in checks if check["name"] in ("schedule", "stream")]


def points_of(folder):
    return [counted(path) for path in sorted(pathlib.Path(folder).glob("point-*"))]


def checks_of(run):
    return {check["name"]: check["ok"] for check in run["checks"]}


def launched(how, name, **more):
    run = json.loads(trainwire("run", "four.toml", "--launch", how, "-o", name, "--no-page", "--json", "--keep-going",
                               **more).stdout)
    for check in ("schedule", "sums", "stream", "clocks", "ranks", "bytes"):
        assert checks_of(run)[check], (how, check, run["checks"])
    assert run["engine"] == "hosts"
    return run


def folders():
    return {path for kind in ("host", "launch") for path in pathlib.Path("/tmp").glob(f"trainwire-{kind}-*")}


FOLDERS_BEFORE = folders()


def failing(words, kill, says, by="srun"):
    """Starts a long run, kills something in it, and wants one line."""
    shutil.rmtree("fault.run", ignore_errors=True)
    run = subprocess.Popen([PROGRAM, "run", "four.toml", "--launch", by, "--set", "job.steps=1500", "--set", "run.timeout=120s", "--no-page", "-q",
                            "--force", "-o", "fault.run", *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(200):
            live = pathlib.Path("fault.run/live.jsonl")
            if live.exists() and live.read_text().count("\n") > 2:
                break
            time.sleep(0.05)
        began = time.monotonic()
        kill(run)
        _, errors = run.communicate(timeout=30)
    finally:
        run.kill()
    assert time.monotonic() - began < 20, "it took too long"
    if says is not None:
        assert run.returncode == 4, (run.returncode, errors)
        assert errors.count("\n") == 1 and says in errors, errors
    return errors


def processes(word):
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if entry.name.isdigit() and word.encode() in words:
            found.append(int(entry.name))
    return found


def daemon_of(host, name):
    """The process of that name on the host."""
    return next(pid for pid in daemons_named(name) if network_of(pid) == network_of(HOST_DAEMONS[host]))


def daemons_named(name):
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if (entry / "comm").read_text().strip() == name:
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def network_of(pid):
    return os.readlink(f"/proc/{pid}/ns/net")


def on_host(host, *words):
    """Words of a command there."""
    return ["nsenter", "-t", str(HOST_DAEMONS[host]), "-n", "-u", *words]


HOST_DAEMONS = {}  # by host: a process that lives there


def find_hosts():
    for pid in daemons_named("sshd"):
        name = subprocess.run(["nsenter", "-t", str(pid), "-u", "hostname"], capture_output=True, text=True).stdout.strip()
        HOST_DAEMONS.setdefault(name, pid)
    assert sorted(HOST_DAEMONS) == [f"host{i}" for i in range(4)], HOST_DAEMONS


def cut_link(run):
    subprocess.run(on_host("host3", "ip", "link", "set", "eth0", "down"), check=True)


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


def wait_until(is_so, longest=20):
    limit = time.monotonic() + longest
    while not is_so():
        assert time.monotonic() < limit, "it did not come to that"
        time.sleep(0.05)


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


def shaped():
    """--shape: refused where somebody has set a queue; else as slow as asked, and taken back, after a kill too."""
    def queues():
        return [subprocess.run(on_host(f"host{i}", "tc", "qdisc", "show", "dev", "eth0", "root"), capture_output=True, text=True).stdout.split()[1:3]
                for i in range(4)]
    words = ["four.toml", "--launch", "srun", "--shape", "--set", "network.delay=0us", "--set", "network.link=[]"]
    for i in range(4):
        subprocess.run(on_host(f"host{i}", "tc", "qdisc", "replace", "dev", "eth0", "root", "handle", "5:", "pfifo"), check=True)
    told = trainwire("run", *words, "-q", "-o", "refused.run", code=4)
    assert told.stderr.count("\n") == 1 and "somebody has set its queue" in told.stderr, told.stderr
    for i in range(4):
        subprocess.run(on_host(f"host{i}", "tc", "qdisc", "del", "dev", "eth0", "root"), check=True)
    before = queues()
    run = json.loads(trainwire("run", *words, "--set", "network.rate=40Mbit", "--no-page", "--json", "--keep-going", "-o", "shaped.run").stdout)
    # 600 kB a rank and step at 40 Mbit/s
    assert 0.1 < run["jobs"][0]["step"]["median_s"] < 0.4, run["jobs"][0]["step"]
    assert queues() == before, queues()
    slow = ["--shape", "--set", "network.delay=0us", "--set", "network.link=[]", "--set", "network.rate=40Mbit"]
    print(failing(slow, lambda run: os.kill(processes("host")[-1], signal.SIGKILL), "its connection to the run has ended"), end="")
    wait_until(lambda: queues() == before)
    print(f"shaped: a step takes {run['jobs'][0]['step']['median_s']:.3f} s, and devices are as before")


def daemons():
    """slurmd and slurmctld killed: a run that is going on does not mind; afterwards one line says it."""
    run = subprocess.Popen([PROGRAM, "run", "four.toml", "--launch", "srun", "--set", "job.steps=100", "--no-page", "-q", "--keep-going",
                            "-o", "daemon.run"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    live = pathlib.Path("daemon.run/live.jsonl")
    wait_until(lambda: live.exists() and live.read_text().count("\n") > 1)
    os.kill(daemon_of("host3", "slurmd"), signal.SIGKILL)
    os.kill(daemons_named("slurmctld")[0], signal.SIGKILL)
    errors = run.communicate(timeout=40)[1]
    assert run.returncode == 0, errors
    told = trainwire("run", "four.toml", "--launch", "srun", "-q", "-o", "none.run", code=4)
    assert told.stderr.count("\n") == 1 and "srun" in told.stderr, told.stderr
    told = trainwire("run", "sweep.toml", "--launch", "srun", "-q", "-o", "none-sweep.run", code=4)
    assert told.stderr.count("\n") == 1 and "sbatch" in told.stderr, told.stderr
    print(told.stderr, end="")


def inside():
    find_hosts()
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

    # Faults.
    def kill_host(run):
        os.kill(max(processes("host")), signal.SIGKILL)
    print(failing([], kill_host, "its connection to the run has ended"), end="")
    print(failing([], lambda run: os.kill(processes("rank")[0], signal.SIGKILL), "was killed by signal 9"), end="")
    failing([], lambda run: run.kill(), None)
    shaped()
    daemons()
    print(failing([], cut_link, "has been silent for 10 s", by=f"ssh:{os.environ['TRAINWIRE_HOSTS']}"), end="")
    stranger = subprocess.Popen([PROGRAM, "run", "four.toml", "--launch", "wait", "--port", "29611", "--set", "run.timeout=2s",
                                 "-q", "-o", "wait.run"], stderr=subprocess.PIPE, text=True, env=dict(os.environ, TRAINWIRE_TOKEN="1" * 32))
    time.sleep(0.5)
    told = trainwire("host", "--join", "host0:29611", "--number", "0", code=4, env=dict(os.environ, TRAINWIRE_TOKEN="0" * 32))
    assert "its token is not this run's" in told.stderr, told.stderr
    errors = stranger.communicate(timeout=20)[1]
    assert stranger.returncode == 4 and "somebody was refused: its token is not this run's" in errors, errors
    print(errors, end="")
    wait_until(lambda: not processes("rank") and not processes("host"), 40)  # a host that is cut off gives up after 30 s
    trainwire("cleanup")
    left = folders() - FOLDERS_BEFORE
    assert not left, left


def main():
    if "--inside" in sys.argv:
        return inside()
    for name in ("slurmctld", "slurmd", "srun", "munged", "sshd"):
        if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"):
            print(f"skipped: {name} is not installed (slurmctld slurmd slurm-client munge openssh-server)")
            return 77
    if os.geteuid() != 0:
        print("skipped: slurmd and sshd want root")
        return 77
    folder = pathlib.Path(tempfile.mkdtemp(prefix="clusters"))
    os.chdir(folder)
    os.environ["TRAINWIRE_STATE"] = str(folder / "state")
    (folder / "four.toml").write_text(EXPERIMENT)
    (folder / "sweep.toml").write_text(SWEEP)
    trainwire("run", "four.toml", "--no-check", "--no-page", "-q", "--keep-going", "-o", "local.run")
    trainwire("run", "sweep.toml", "--no-check", "--no-page", "-q", "--keep-going", "-o", "local-sweep.run")
    done = subprocess.run([PROGRAM, "net", "cluster", "four.toml", "--with", "slurm", "--with", "ssh", "--", sys.executable,
                           os.path.abspath(SELF), PROGRAM, "--inside"], stdin=subprocess.DEVNULL, timeout=240)
    assert done.returncode == 0, done.returncode
    shutil.rmtree(folder)
    return 0


SELF = os.path.abspath(__file__)
sys.exit(main())
