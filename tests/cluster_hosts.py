#!/usr/bin/env python3
"""What tests in an emulated cluster share: they call themselves inside `trainwire net cluster --with slurm --with ssh`, in a /tmp of their own,
so that several may run side by side, and so that what is left there is theirs.
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


def folders():
    return {path for kind in ("host", "launch", "pool") for path in pathlib.Path("/tmp").glob(f"trainwire-{kind}-*")}


def failing(words, kill, says, by="srun", file="four.toml"):
    """Starts a long run, kills something in it, and wants one line."""
    shutil.rmtree("fault.run", ignore_errors=True)
    run = subprocess.Popen([PROGRAM, "run", file, "--launch", by, "--set", "job.steps=1500", "--set", "run.timeout=120s", "--no-page", "-q",
                            "--force", "-o", "fault.run", *words], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        for _ in range(600):  # a busy machine may take long to begin
            live = pathlib.Path("fault.run/live.jsonl")
            if live.exists() and live.read_text().count("\n") > 2:
                break
            time.sleep(0.05)
        began = time.monotonic()
        kill(run)
        _, errors = run.communicate(timeout=60)
    finally:
        run.kill()
    assert time.monotonic() - began < 40, "it took too long"
    if says is not None:
        assert run.returncode == 4, (run.returncode, errors)
        assert errors.count("\n") == 1 and says in errors, errors
    return errors


def all_processes():
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            yield int(entry.name), (entry / "comm").read_text().strip(), (entry / "cmdline").read_bytes().split(b"\0"), network_of(entry.name)
        except OSError:
            pass


def network_of(pid):
    return os.readlink(f"/proc/{pid}/ns/net")


def parent_of(pid):
    return int(pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[1])


def processes(word, host=None):
    """Those of this cluster, or of one of its hosts, with that word on their command line."""
    return [pid for pid, _, words, network in all_processes() if word.encode() in words and is_ours(network, host)]


def named(name, host=None):
    return [pid for pid, comm, _, network in all_processes() if comm == name and is_ours(network, host)]


def is_ours(network, host):
    return any(network == network_of(HOST_DAEMONS[one]) for one in ([host] if host else HOST_DAEMONS))


def on_host(host, *words):
    """Words of a command there."""
    return ["nsenter", "-t", str(HOST_DAEMONS[host]), "-n", "-u", *words]


HOST_DAEMONS = {}  # by host: a process that lives there


def find_hosts():
    for pid, comm, _, _ in all_processes():
        if comm == "sshd" and parent_of(pid) == os.getppid():
            name = subprocess.run(["nsenter", "-t", str(pid), "-u", "hostname"], capture_output=True, text=True).stdout.strip()
            HOST_DAEMONS[name] = pid
    assert sorted(HOST_DAEMONS) == [f"host{i}" for i in range(4)], HOST_DAEMONS


def cut_link(host):
    subprocess.run(on_host(host, "ip", "link", "set", "eth0", "down"), check=True)


def wait_until(is_so, longest=20, left=lambda: None):
    limit = time.monotonic() + longest
    while not is_so():
        assert time.monotonic() < limit, ("it did not come to that", left())
        time.sleep(0.05)


def nothing_left():
    """No process and no folder of a run's, on any host."""
    wait_until(lambda: not processes("rank") and not processes("host"), 40)  # a host that is cut off gives up after 30 s
    trainwire("cleanup")
    assert not folders(), folders()


def in_cluster(file, experiments, inside, before=None):
    """Runs `file` again inside a cluster of four; what main() is in every test."""
    if "--inside" in sys.argv:
        find_hosts()
        return inside()
    for name in ("slurmctld", "slurmd", "srun", "munged", "sshd", "unshare"):
        if not shutil.which(name, path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin"):
            print(f"skipped: {name} is not installed (slurmctld slurmd slurm-client munge openssh-server)")
            return 77
    if os.geteuid() != 0:
        print("skipped: slurmd and sshd want root")
        return 77
    if "--private" not in sys.argv:
        os.execvp("unshare", ["unshare", "--mount", "--propagation", "private", sys.executable, os.path.abspath(file), PROGRAM, "--private",
                              *sys.argv[2:]])
    if not PROGRAM.startswith("/tmp/"):
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/tmp"], check=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="clusters"))
    os.chdir(folder)
    os.environ["TRAINWIRE_STATE"] = str(folder / "state")
    for name, text in experiments.items():
        (folder / name).write_text(text)
    never_ending(pathlib.Path.home() / ".bashrc", folder / "bashrc")
    if before:
        before()
    done = subprocess.run([PROGRAM, "net", "cluster", "four.toml", "--with", "slurm", "--with", "ssh", "--", sys.executable,
                           os.path.abspath(file), PROGRAM, "--inside"], stdin=subprocess.DEVNULL, timeout=240)
    assert done.returncode == 0, done.returncode
    # The cluster is gone: nobody else lives among these mounts, and only what the test wrote is left.
    wait_until(lambda: not mates(), 10)
    left = [path for path in pathlib.Path("/tmp").iterdir() if path != folder]
    assert not left or PROGRAM.startswith("/tmp/"), left
    shutil.rmtree(folder)
    return 0


def never_ending(start_file, instead):
    """What a user's shells begin with is not for emulated hosts: here it would hold them up for ever."""
    if start_file.is_file():
        instead.write_text("sleep 1000\n")
        subprocess.run(["mount", "--bind", instead, start_file], check=True)


def mates():
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if int(entry.name) != os.getpid() and os.readlink(entry / "ns/mnt") == os.readlink("/proc/self/ns/mnt"):
                found.append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            pass
    return found
