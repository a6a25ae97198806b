#!/usr/bin/env python3
"""kill -9 of every role at random moments (seeded), a torn checkpoint, a disk that is full, links that go down: survive.py TRAINWIRE.

With restart, shrink or grow the training ends whole and with right sums; with abort in one line within the timeout; whatever
happens, nothing is left behind.
"""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.realpath(sys.argv[1])
if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)

random.seed(19)
folder = pathlib.Path(tempfile.mkdtemp(prefix="survive"))
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"))
STEPS = 40
# 200 kB at 100 Mbit/s: a step takes some 30 ms.
(folder / "e.toml").write_text(
    '[network]\nhosts = 4\nrate = "100Mbit"\ndelay = "1ms"\n'
    f'[[job]]\nparameters = "200KB"\ncompute = "none"\nsteps = {STEPS}\nverify = true\ncheckpoint_every = 5\n'
    'failure_timeout = "2s"\n')


def start(name, *settings, on_loopback=False):
    words = [PROGRAM, "run", "e.toml", "--no-check", "--no-page", "--keep-going", "--json", "-o", name]
    # There the network takes no time: computing does.
    words += ["--on", "loopback", "--set", "job.compute=profile", "--set", "job.compute_time=20ms"] if on_loopback else []
    for setting in settings:
        words += ["--set", setting]
    return subprocess.Popen(words, env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)


def ranks(name):
    """Pids of a run's ranks, by the file that they print to."""
    found = {}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            output = os.readlink(process / "fd/1")
            if os.readlink(process / "exe") == PROGRAM and output.startswith(str(folder / name) + "/rank"):
                found[int(output.removesuffix(".txt").partition("-again")[0].rpartition("rank")[2])] = int(process.name)
        except (OSError, ValueError):
            pass
    return found


def until_training(name, run):
    limit = time.monotonic() + 30
    while time.monotonic() < limit:
        assert run.poll() is None, run.communicate()[1]
        if list((folder / name).glob("job0-rank0-steps.tmp")) and len(ranks(name)) >= 3:
            if (folder / name / "job0-rank0-steps.tmp").read_text().count(",step,") >= 2:
                return
        time.sleep(0.02)
    raise AssertionError("no steps in 30 s")


def whole(run, name, recoveries=1):
    out, errors = run.communicate(timeout=60)
    assert run.returncode == 0, (name, run.returncode, errors)
    document = json.loads(out)
    checks = {check["name"]: check for check in document["checks"]}
    assert checks["sums"]["ok"] and checks["ranks"]["ok"], (name, checks)
    assert document["jobs"][0]["steps"] == STEPS, (name, document["jobs"][0]["steps"])
    assert len(document.get("recoveries", [])) >= recoveries, (name, document.get("recoveries"))
    assert not list((folder / name).glob("*.tmp*")) and not list((folder / name).glob("*.checkpoint*")), name
    return document


# Every role at random moments: worker, chief and server, by each policy. A kill may come after the last step: then there is no
# recovery to speak of, but the training is whole all the same.
ROLES = [("worker", 1, "restart", "ring"), ("chief", 0, "restart", "ring"), ("server", 3, "restart", "ps"),
         ("worker", 2, "shrink", "halving_doubling"), ("chief", 0, "shrink", "ring"), ("worker", 1, "shrink", "ps"),
         ("server", 2, "shrink", "ps"), ("worker", 2, "grow", "ring"), ("chief", 0, "grow", "tree"),
         ("worker", 3, "restart", "pair_averaging")]
for number, (role, rank, policy, strategy) in enumerate(ROLES):
    name = f"{number}-{role}-{policy}"
    settings = [f"job.on_failure={policy}", f"job.strategy={strategy}"]
    settings += ["job.servers=2"] if strategy == "ps" and policy == "shrink" else []
    run = start(name, *settings, on_loopback=number % 2 == 1)
    until_training(name, run)
    time.sleep(random.uniform(0, 0.4))
    pid = ranks(name).get(rank)
    hit = pid is not None
    if hit:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            hit = False
    document = whole(run, name, recoveries=0)
    for recovery in document.get("recoveries", []):
        assert recovery["policy"] == policy and recovery["recovery_s"] > 0 and recovery["recovery_s"] < 10, recovery
    print(name, [(r["notice"], r["step"], r["lost_steps"], r["ranks"], round(r["recovery_s"], 3)) for r in document.get("recoveries", [])])

# Abort: one line, within the timeout, whoever it is.
for role, rank in (("worker", 1), ("chief", 0)):
    name = f"abort-{role}"
    run = start(name)
    until_training(name, run)
    os.kill(ranks(name)[rank], signal.SIGKILL)
    killed = time.monotonic()
    out, errors = run.communicate(timeout=60)
    assert run.returncode == 4 and len(errors.strip().splitlines()) == 1, (run.returncode, errors)
    assert f"rank {rank} on host{rank} was killed by signal 9" in errors, errors
    assert time.monotonic() - killed < 2 + 5, time.monotonic() - killed

# A stopped rank is silent: the others go on without it.
document = whole(start("stopped", "job.on_failure=shrink", 'fault=[{kind="stop",rank=2,step=6}]'), "stopped")
assert document["recoveries"][0]["notice"] == "silence" and document["recoveries"][0]["ranks"] == 3, document["recoveries"]
assert 1.5 < document["recoveries"][0]["detection_s"] < 6, document["recoveries"]

# A host that is cut off: who is behind the link is found.
document = whole(start("cut", "job.on_failure=shrink", 'fault=[{kind="link-down",link="host2",step=6}]'), "cut")
assert document["recoveries"][0]["ranks"] == 3 and "rank 2 on host2 could not be reached" in document["recoveries"][0]["what"], \
    document["recoveries"]

# Links that are slow, lossy or flap cost time, and nothing else; on both engines.
for engine in ("nfqueue", "tap"):
    for fault in ('kind="slow",link="host1",factor=0.1,for="1s"', 'kind="loss",link="host1",loss="2%",for="1s"',
                  'kind="link-flap",link="host1",period="200ms",for="800ms"', 'kind="link-down",link="host1",for="400ms"'):
        name = f"{engine}-{fault.split(chr(34))[1]}"
        document = whole(start(name, f"network.engine={engine}", f"fault=[{{{fault},step=5}}]"), name, recoveries=0)
        played = document["faults"][0]
        cost = played["costs"][0]
        print(name, round(played["begin_s"], 3), played["end_s"], cost["steps"], round(cost["cost_s"], 3))
        assert played["begin_s"] is not None and cost["steps"] > 0, played
        assert cost["cost_s"] > 0.1, played

# No room for checkpoints: told, and the run goes on.
blocked = folder / "in-the-way"
blocked.write_text("no folder")
document = whole(start("no-room", f"job.checkpoint_folder={blocked}/x"), "no-room", recoveries=0)
assert document["jobs"][0]["checkpoints"]["failed"] == 7, document["jobs"][0]["checkpoints"]
assert "in-the-way" in document["jobs"][0]["checkpoints"]["problem"], document["jobs"][0]["checkpoints"]

# A torn checkpoint is found out, and the one before it is used.
kept = folder / "kept"
run = start("torn", "job.on_failure=restart", f"job.checkpoint_folder={kept}", "job.restart_after=300ms")
until_training("torn", run)
limit = time.monotonic() + 30
while time.monotonic() < limit and len(list(kept.glob("*.checkpoint"))) < 2:
    time.sleep(0.01)
os.kill(ranks("torn")[1], signal.SIGKILL)
time.sleep(0.15)
newest = max(kept.glob("*.checkpoint"), key=lambda path: int(path.stem.rpartition("-")[2]))
step = int(newest.stem.rpartition("-")[2])
os.truncate(newest, 1000)
document = whole(run, "torn")
assert document["recoveries"][0]["step"] == step - 5 and document["recoveries"][0]["from_checkpoint"], document["recoveries"]
assert f"step {step} is not used" in document["jobs"][0]["checkpoints"]["problem"], document["jobs"][0]["checkpoints"]

# Our own parent: nothing is left.
run = start("parent", "job.on_failure=restart")
until_training("parent", run)
run.kill()
run.communicate()
cleanup = subprocess.run([PROGRAM, "cleanup"], env=environment, capture_output=True, text=True)
assert cleanup.returncode == 0, cleanup.stderr
limit = time.monotonic() + 10
while time.monotonic() < limit and ranks("parent"):
    time.sleep(0.05)
assert not ranks("parent")
assert not list((folder / "state").glob("*.json")), "a ledger is left"
for name in os.listdir(folder):
    assert not ranks(name), name
subprocess.run(["rm", "-rf", str(folder)])
print("every job went on, or ended, as it should")
