#!/usr/bin/env python3
"""What goes wrong during trainwire run ends it, or does not, as it should, and is told in one line: run_faults.py TRAINWIRE."""
import csv
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.realpath(sys.argv[1])
if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)

folder = pathlib.Path(tempfile.mkdtemp(prefix="run-faults"))
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"))
# 400 kB at 20 Mbit/s: a step takes a quarter of a second.
(folder / "e.toml").write_text(
    '[network]\nhosts = 3\nrate = "20Mbit"\ndelay = "1ms"\n'
    '[[job]]\nparameters = "400KB"\ncompute = "none"\nsteps = 60\nwarmup = 1\n')


def start(name, *words):
    return subprocess.Popen([PROGRAM, "run", "e.toml", "--no-check", "-o", name, *words], env=environment, cwd=folder,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def ranks(name):
    """Pids of a run's ranks, by the file that they print to."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            output = os.readlink(process / "fd/1")
            if os.readlink(process / "exe") == PROGRAM and output.startswith(str(folder / name)):
                found[int(output.removesuffix(".txt").rpartition("rank")[2])] = int(process.name)
        except (OSError, ValueError):
            pass
    return found


def until_steps(name, count, process):
    """Waits until rank 0 has logged so many steps."""
    log = folder / name / "job0-rank0-steps.tmp"
    limit = time.monotonic() + 60
    while time.monotonic() < limit:
        assert process.poll() is None, process.communicate()
        if log.exists() and log.read_text().count(",step,") >= count:
            return
        time.sleep(0.05)
    raise AssertionError("no steps in 60 s")


def end(process, code, says=(), lines=1):
    out, errors = process.communicate(timeout=120)
    assert process.returncode == code, (process.returncode, out, errors)
    for text in says:
        assert text in errors, (text, errors)
    told = [line for line in errors.strip().splitlines() if not line.startswith("step ")]  # how far it is, every 10 s
    assert len(told) == lines, errors
    return out


def logged_steps(name):
    with open(folder / name / "steps.csv") as file:
        return sum(row["phase"] == "step" for row in csv.DictReader(file))


# A rank is killed: which, where, when; the steps before are kept.
run = start("killed")
until_steps("killed", 4, run)
os.kill(ranks("killed")[1], signal.SIGKILL)
end(run, 4, ["rank 1 on host1 was killed by signal 9", "at step ", "killed holds"])
assert logged_steps("killed") >= 3 * 4, logged_steps("killed")
assert json.loads((folder / "killed/run.json").read_text())["complete"] is False

# A link is cut: its ends notice, and say whom they miss.
run = start("cut")
until_steps("cut", 3, run)
subprocess.run(["nsenter", f"--net=/proc/{ranks('cut')[2]}/ns/net", "ip", "link", "set", "eth0", "down"], check=True)
end(run, 4, ["rank", "on host", "at step "])
assert logged_steps("cut") >= 3 * 2

# A process is stopped for five seconds: the run goes on and is right in the end.
run = start("stopped", "--keep-going", "--json", "--set", "job.steps=20")
until_steps("stopped", 3, run)
pid = ranks("stopped")[0]
os.kill(pid, signal.SIGSTOP)
time.sleep(5)
os.kill(pid, signal.SIGCONT)
document = json.loads(end(run, 0, lines=0))
checks = {check["name"]: check["ok"] for check in document["checks"]}
assert checks["sums"] and checks["schedule"] and checks["stream"] and checks["ranks"], checks
assert document["jobs"][0]["steps"] == 20

# Ctrl-C keeps what there was.
run = start("interrupted")
until_steps("interrupted", 3, run)
run.send_signal(signal.SIGINT)
end(run, 130, ["interrupted", "holds what there was"])
assert logged_steps("interrupted") >= 6

# A disk that is full.
full = folder / "full"
full.mkdir()
mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "none", str(full)], capture_output=True)
if mounted.returncode == 0:
    try:
        out, errors = start("full/x").communicate(timeout=120)
        assert "No space left on device" in errors, (out, errors)
    finally:
        subprocess.run(["umount", str(full)], check=True)
else:
    print("not tried: a full disk (tmpfs cannot be mounted)")

# No permission to write there, as somebody who is not root.
closed = folder / "closed"
closed.mkdir(mode=0o700)
os.chmod(folder, 0o755)
refused = subprocess.run(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", PROGRAM, "run", str(folder / "e.toml"),
                          "--on", "loopback", "-o", str(closed / "x")], stdin=subprocess.DEVNULL, capture_output=True,
                         text=True, timeout=60)
assert refused.returncode == 3 and "Permission denied" in refused.stderr, (refused.returncode, refused.stderr)
assert len(refused.stderr.strip().splitlines()) == 1, refused.stderr

# Two runs at once do not disturb each other.
both = [start(name, "--keep-going", "-q", "--set", "job.steps=8") for name in ("one", "two")]
for run in both:
    end(run, 0, lines=0)

# What cannot be run is told before anything is made.
for setting, word in (("job.transport=rdma", "tcp"), ("job.compute=torch", "profile"), ("job.strategy=pss", "ps")):
    run = start("never", "--set", setting)
    _, errors = run.communicate(timeout=60)
    assert run.returncode == 2 and word in errors, (setting, errors)
assert not (folder / "never").exists()
assert not list((folder / "state").glob("*.json")), "a ledger is left"
subprocess.run(["rm", "-rf", str(folder)])
print("every fault ended, or did not end, its run as it should")
