#!/usr/bin/env python3
"""Emulation as an ordinary user, by user namespaces: unprivileged.py TRAINWIRE. Everything but the TAP engine."""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

USER = 65534
if os.geteuid() != 0:
    print("skipped: needs root to become another user")
    sys.exit(77)

folder = pathlib.Path(tempfile.mkdtemp(prefix="ordinary"))
program = folder / "trainwire"
shutil.copy(sys.argv[1], program)
(folder / "e.toml").write_text('[network]\nhosts = 3\nrate = "50Mbit"\ndelay = "2ms"\n')
os.chmod(folder, 0o755)
os.chmod(program, 0o755)
work = folder / "work"
work.mkdir()
os.chown(work, USER, USER)


def run(*words, code=0):
    result = subprocess.run([program, *words], cwd=work, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=120, user=USER, group=USER, extra_groups=[],
                            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(work), "TRAINWIRE_STATE": str(work / "state")})
    assert result.returncode in (code if isinstance(code, tuple) else (code,)), (words, result.returncode, result.stderr)
    return result


probe = subprocess.run(["unshare", "-Urn", "true"], user=USER, group=USER, extra_groups=[], capture_output=True)
if probe.returncode != 0:
    print("skipped: this kernel gives ordinary users no user namespaces")
    sys.exit(77)

# A machine that is busy gives less than was asked for, and is refused then: half of it must be there.
check = json.loads(run("net", "check", "../e.toml", "--json", code=(0, 4)).stdout)
for path in check["network"]["paths"]:
    assert 0.5 <= path["effective"]["rate_bps"] / path["requested"]["rate_bps"] <= 1.1, path
lossy = json.loads(run("net", "check", "../e.toml", "--json", "--quick", "--set", "network.loss=2%",
                       "--set", "network.engine=nfqueue").stdout)
path = lossy["network"]["paths"][0]
assert path["effective"]["loss_ci_low"] <= path["requested"]["loss"] <= path["effective"]["loss_ci_high"], path

SCRIPT = """
import os, socket, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
server = socket.create_server(("", 29000 + rank))
peers = open("/etc/hosts").read().split()
time.sleep(0.5)
out = socket.create_connection((f"host{(rank + 1) % world}", 29000 + (rank + 1) % world))
back = server.accept()[0]
out.sendall(bytes(300000))
n = 0
while n < 300000: n += len(back.recv(65536))
print("done", os.uname().nodename)
"""
run("exec", "../e.toml", "--no-check", "-o", "x.run", "--", "/usr/bin/python3", "-c", SCRIPT)
assert (work / "x.run/rank2.txt").read_text() == "done host2\n"
checks = {check["name"]: check["ok"] for check in json.loads((work / "x.run/run.json").read_text())["summary"]["checks"]}
assert checks["bytes"] and checks["pairs"] and checks["capture"], checks
refused = run("net", "check", "../e.toml", "--set", "network.engine=tap", code=3)
assert len(refused.stderr.strip().splitlines()) == 1, refused.stderr
run("doctor")
(folder / "job.toml").write_text('[network]\nhosts = 3\nrate = "50Mbit"\ndelay = "2ms"\n'
                                 '[[job]]\nparameters = "100KB"\ncompute = "none"\nsteps = 3\n')
trained = json.loads(run("run", "../job.toml", "--json", "--keep-going", "--no-check", "-o", "trained").stdout)
for check in trained["checks"]:
    assert check["ok"] or check["name"] == "machine", check
shutil.rmtree(folder)
print("net check, exec and run work without root; tap is refused in one line")
