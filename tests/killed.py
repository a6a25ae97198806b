#!/usr/bin/env python3
"""trainwire exec and net, or run, killed with SIGKILL at random moments, leave nothing: killed.py TRAINWIRE exec|run TIMES.

Counts network namespaces, links, queueing disciplines, packet filter tables and processes before, and again after
`trainwire cleanup`. A killed run's namespaces have no names, so they are counted through every process and descriptor
that the kernel shows.
"""
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
WHAT = sys.argv[2]
TIMES = int(sys.argv[3])
SEED = 7

if os.geteuid() != 0:
    print("skipped: needs root to see all namespaces")
    sys.exit(77)


def namespaces():
    """Network namespaces that a process lives in or holds open."""
    found = set()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            found.add(os.stat(process / "ns/net").st_ino)
            for descriptor in (process / "fd").iterdir():
                target = os.readlink(descriptor)
                if target.startswith("net:["):
                    found.add(int(target[5:-1]))
        except OSError:
            pass
    return found


def ours():
    """Processes of the program, by what they are: none but this test's own may be there."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if os.readlink(process / "exe") == os.path.realpath(PROGRAM) and int(process.name) not in before_processes:
                found.append(process.name)
        except OSError:
            pass
    return found


def lines(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.splitlines()


def count():
    return {
        "links": sorted(line.split()[1].rstrip(":@") for line in lines("ip", "-o", "link")),
        "queues": len(lines("tc", "qdisc")),
        "tables": len(lines("nft", "list", "tables")),
        "named namespaces": len(lines("ip", "netns")),
    }


before_processes = set()
before_processes = {int(pid) for pid in ours()}
folder = pathlib.Path(tempfile.mkdtemp(prefix="killed"))
state = folder / "state"
environment = dict(os.environ, TRAINWIRE_STATE=str(state))
experiment = folder / "e.toml"
experiment.write_text('[network]\nhosts = 3\nrate = "100Mbit"\ndelay = "2ms"\n')
tap = folder / "t.toml"
tap.write_text('[network]\nhosts = 3\nrate = "100Mbit"\ndelay = "2ms"\nengine = "tap"\n')
work = "sleep 30 & setsid sleep 30 & head -c 100000 /dev/zero > /dev/null; wait"
commands = [
    [PROGRAM, "exec", str(experiment), "--no-check", "--force", "-o", str(folder / "a.run"), "--", "sh", "-c", work],
    [PROGRAM, "exec", str(experiment), "--force", "-o", str(folder / "b.run"), "--", "sh", "-c", work],
    [PROGRAM, "net", "check", str(experiment)],
    [PROGRAM, "exec", str(tap), "--no-check", "--force", "-o", str(folder / "c.run"), "--", "sh", "-c", work],
]
if WHAT == "run":
    job = '[[job]]\nparameters = "400KB"\ncompute = "none"\nsteps = 1000\n'
    for file in (experiment, tap):
        file.write_text(file.read_text() + job)
    commands = [
        [PROGRAM, "run", str(experiment), "--no-check", "--force", "-o", str(folder / "a.run")],
        [PROGRAM, "run", str(tap), "--no-check", "--force", "-o", str(folder / "b.run"), "--set", "job.strategy=ps"],
        [PROGRAM, "run", str(experiment), "--force", "-o", str(folder / "c.run"), "--set", "job.strategy=pair_averaging"],
    ]

random.seed(SEED)
links_before = count()
namespaces_before = namespaces()
for i in range(TIMES):
    run = subprocess.Popen(commands[i % len(commands)], env=environment, stdin=subprocess.DEVNULL,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(random.uniform(0, 1.2))
    run.send_signal(signal.SIGKILL)
    run.wait()

cleanup = subprocess.run([PROGRAM, "cleanup"], env=environment, capture_output=True, text=True)
assert cleanup.returncode == 0, cleanup.stderr
deadline = time.monotonic() + 20
while time.monotonic() < deadline and (namespaces() - namespaces_before or ours()):
    time.sleep(0.1)
left = namespaces() - namespaces_before
print(f"{TIMES} times killed (seed {SEED}); cleanup said: {cleanup.stdout.strip().splitlines()[-1]}")
assert not left, f"namespaces left: {left}"
assert not ours(), f"processes left: {ours()}"
assert count() == links_before, f"{links_before} became {count()}"
assert not list(state.glob("*.json")), "a ledger is left"
print("no namespace, link, queue, table, process or ledger is left")
subprocess.run(["rm", "-rf", str(folder)])
