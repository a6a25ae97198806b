#!/usr/bin/env python3
"""What goes wrong around trainwire exec and net gives one line that says what to do: exec_faults.py TRAINWIRE."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = sys.argv[1]
if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)

folder = pathlib.Path(tempfile.mkdtemp(prefix="faults"))
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"))
experiment = folder / "e.toml"
experiment.write_text('[network]\nhosts = 2\nrate = "100Mbit"\ndelay = "1ms"\n')


def run(*words, code, says=(), **options):
    result = subprocess.run([PROGRAM, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=120, cwd=folder, **options)
    assert result.returncode == code, (words, result.returncode, result.stderr, result.stdout)
    for text in says:
        assert text in result.stderr + result.stdout, (words, text, result.stderr)
    return result


def one_line(result):
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr


# A command that is not there: told before anything is built.
one_line(run("exec", "e.toml", "--", "no-such-program", code=2, says=["no-such-program", "PATH"]))
# A folder that is taken.
(folder / "taken").mkdir()
(folder / "taken/mine.txt").write_text("mine")
one_line(run("exec", "e.toml", "-o", "taken", "--no-check", "--", "true", code=3, says=["taken"]))
assert (folder / "taken/mine.txt").read_text() == "mine"
# A rank that fails: who, how, and its last lines.
run("exec", "e.toml", "-o", "failed", "--no-check", "--", "sh", "-c",
    'if [ "$RANK" = 1 ]; then echo no luck today; exit 9; fi; sleep 60', code=4,
    says=["rank 1 on host1 exited with code 9", "no luck today", "failed"])
assert json.loads((folder / "failed/run.json").read_text())["complete"] is False
# A rank that is killed.
run("exec", "e.toml", "-o", "killed", "--no-check", "--", "sh", "-c",
    'if [ "$RANK" = 0 ]; then kill -9 $$; fi; sleep 60', code=4, says=["rank 0 on host0 was killed by signal 9"])
# A disk that is full: the run's folder on a file system of 1 MB.
full = folder / "full"
full.mkdir()
mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", str(full)], capture_output=True)
if mounted.returncode == 0:
    try:
        run("exec", "e.toml", "-o", "full/x", "--no-check", "--keep", "--", "sh", "-c",
            "head -c 3000000 /dev/zero", code=3, says=["No space left on device"])
    finally:
        subprocess.run(["umount", str(full)], check=True)
else:
    print("not tried: a full disk (tmpfs cannot be mounted)")
# No permission to write the folder's parent, as somebody else.
closed = folder / "closed"
closed.mkdir(mode=0o700)
# A queue below what the delay needs is refused.
(folder / "shallow.toml").write_text('[network]\nhosts = 2\nrate = "1Gbit"\ndelay = "10ms"\nqueue = "10KB"\n')
run("net", "check", "shallow.toml", code=2, says=["queue"])
# A host that does not exist.
one_line(run("net", "shell", "e.toml", "host7", code=2, says=["host7", "host0 to host1"]))
# A congestion control that this kernel has not.
run("net", "check", "e.toml", "--set", "network.congestion_control=nonsense", code=3, says=["nonsense"])
# Ctrl-C: partial results, and gone.
process = subprocess.Popen([PROGRAM, "exec", "e.toml", "-o", "stopped", "--no-check", "--", "sleep", "60"],
                           env=environment, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True)
time.sleep(1.5)
process.send_signal(signal.SIGINT)
_, errors = process.communicate(timeout=60)
assert process.returncode == 130, (process.returncode, errors)
assert "interrupted" in errors and "stopped" in errors, errors
# Two at once do not disturb each other.
both = [subprocess.Popen([PROGRAM, "exec", "e.toml", "-o", name, "--no-check", "--keep-going", "--", "sleep", "1"], env=environment,
                         cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for name in ("one", "two")]
for process in both:
    process.wait(timeout=60)
    assert process.returncode == 0, process.stderr.read()
assert not list((folder / "state").glob("*.json")), "a ledger is left"
subprocess.run(["rm", "-rf", str(folder)])
print("every fault was told in one line")
