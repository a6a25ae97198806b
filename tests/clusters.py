#!/usr/bin/env python3
"""Runs on hosts that srun, ssh and mpirun start, in an emulated cluster of four: bytes as on one machine, faults in one line.

clusters.py TRAINWIRE. Calls itself inside `trainwire net cluster --with slurm --with ssh`. Skipped, with the reason, where
Slurm or sshd is not installed.
"""
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
[run]
timeout = "20s"
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


def failing(words, kill, says):
    """Starts a long run, kills something in it, and wants one line."""
    shutil.rmtree("fault.run", ignore_errors=True)
    run = subprocess.Popen([PROGRAM, "run", "four.toml", "--launch", "srun", "--set", "job.steps=1500", "--set", "run.timeout=120s", "--no-page", "-q",
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

    # Faults.
    def kill_host(run):
        os.kill(max(processes("host")), signal.SIGKILL)
    print(failing([], kill_host, "its connection to the run has ended"), end="")
    print(failing([], lambda run: os.kill(processes("rank")[0], signal.SIGKILL), "was killed by signal 9"), end="")
    failing([], lambda run: run.kill(), None)
    stranger = subprocess.Popen([PROGRAM, "run", "four.toml", "--launch", "wait", "--port", "29611", "--set", "run.timeout=2s",
                                 "-q", "-o", "wait.run"], stderr=subprocess.PIPE, text=True, env=dict(os.environ, TRAINWIRE_TOKEN="1" * 32))
    time.sleep(0.5)
    told = trainwire("host", "--join", "host0:29611", "--number", "0", code=4, env=dict(os.environ, TRAINWIRE_TOKEN="0" * 32))
    assert "its token is not this run's" in told.stderr, told.stderr
    errors = stranger.communicate(timeout=20)[1]
    assert stranger.returncode == 4 and "somebody was refused: its token is not this run's" in errors, errors
    print(errors, end="")
    for _ in range(100):
        if not processes("rank") and not processes("host"):
            break
        time.sleep(0.05)
    assert not processes("rank") and not processes("host"), "processes were left"
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
    trainwire("run", "four.toml", "--no-check", "--no-page", "-q", "--keep-going", "-o", "local.run")
    done = subprocess.run([PROGRAM, "net", "cluster", "four.toml", "--with", "slurm", "--with", "ssh", "--", sys.executable,
                           os.path.abspath(SELF), PROGRAM, "--inside"], stdin=subprocess.DEVNULL, timeout=240)
    assert done.returncode == 0, done.returncode
    manifest = trainwire("run", "four.toml", "--launch", "manifest:k8s", "--image", "registry/trainwire:1",
                         env=dict(os.environ, TRAINWIRE_TOKEN="00112233445566778899aabbccddeeff")).stdout
    golden = pathlib.Path(SELF).parent / "golden" / "four-k8s.yaml"
    if "--write" in sys.argv:
        golden.write_text(manifest)
    assert manifest == golden.read_text(), "the manifest is another: look at it, then clusters.py TRAINWIRE --write"
    shutil.rmtree(folder)
    return 0


SELF = os.path.abspath(__file__)
sys.exit(main())
