#!/usr/bin/env python3
"""exec --gpu shared without a GPU: what it sets, starts and ends, with programs that stand in for NVIDIA's: exec_gpu.py TRAINWIRE."""
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

folder = pathlib.Path(tempfile.mkdtemp(prefix="gpu"))
fakes = folder / "bin"
fakes.mkdir()


def fake(name, text):
    (fakes / name).write_text("#!/bin/sh\n" + text)
    (fakes / name).chmod(0o755)


SMI = "echo 'NVIDIA H200, 570.86.15, 143771, Default'\n"
# Goes to the background once it listens, ends when it is asked to: as NVIDIA's does.
MPS = """
cd "$CUDA_MPS_PIPE_DIRECTORY" || exit 1
case "$1" in
-d) if [ -n "$REFUSES" ]; then echo "Cannot start: $REFUSES" > "$CUDA_MPS_LOG_DIRECTORY/control.log"; exit 1; fi
    setsid "$0" --serve < /dev/null > /dev/null 2>&1 &
    until [ -e control ]; do sleep 0.01; done ;;
--serve) touch control; while [ ! -e quit ]; do sleep 0.02; done ;;
*) read word; [ "$word" != quit ] || touch quit ;;
esac
"""
# A rank that speaks NCCL as far as its log tells, and shows what it was given.
RANK = """
env | grep -E '^(NCCL|CUDA)_' | sort
[ -e "$CUDA_MPS_PIPE_DIRECTORY/control" ] || exit 5
echo "$HOSTNAME:1:1 [0] NCCL INFO Using network Socket" > "$NCCL_DEBUG_FILE"
echo "$HOSTNAME:1:1 [0] NCCL INFO comm 0x1 rank $RANK - Init COMPLETE" >> "$NCCL_DEBUG_FILE"
sleep ${NAP:-0}
"""
(folder / "rank.sh").write_text(RANK)
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"), PATH=f"{fakes}:{os.environ['PATH']}")
for name in [n for n in environment if n.startswith(("NCCL_", "CUDA_"))]:
    del environment[name]
BASE = ["exec", "--hosts", "2", "--rate", "100Mbit", "--no-check", "--no-page", "--keep-going"]


def run(*words, code, says=(), **more):
    result = subprocess.run([PROGRAM, *words], env=dict(environment, **more), stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=120, cwd=folder)
    assert result.returncode == code, (words, result.returncode, result.stderr, result.stdout)
    for text in says:
        assert text in result.stderr + result.stdout, (words, text, result.stderr, result.stdout)
    return result


def one_line(result):
    assert len(result.stderr.strip().splitlines()) == 1, result.stderr


def daemons():
    """Processes that run one of the stand-ins."""
    found = []
    for path in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(fakes).encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            pass
    return found


# No GPU, no nvidia-smi: one line, before anything is built.
if not pathlib.Path("/dev/nvidia0").exists() and subprocess.run(["sh", "-c", "command -v nvidia-smi"], capture_output=True).returncode != 0:
    one_line(run(*BASE, "--gpu", "shared", "-o", "none", "--", "true", code=3, says=["there is no NVIDIA GPU"]))
    run("doctor", code=0, says=["gpu      none: there is no NVIDIA GPU"])
# A driver that does not answer.
fake("nvidia-smi", "echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver.'; exit 9\n")
one_line(run(*BASE, "--gpu", "shared", "-o", "none", "--", "true", code=3, says=["NVIDIA-SMI has failed"]))
# No MPS.
fake("nvidia-smi", SMI)
if subprocess.run(["sh", "-c", "command -v nvidia-cuda-mps-control"], capture_output=True).returncode != 0:
    one_line(run(*BASE, "--gpu", "shared", "-o", "none", "--", "true", code=3, says=["no nvidia-cuda-mps-control in PATH"]))
fake("nvidia-cuda-mps-control", MPS)
run("doctor", code=0, says=["NVIDIA H200, 150.8 GB, driver 570.86.15; MPS found", "ranks can share it"])
assert json.loads(run("doctor", "--json", code=0).stdout)["gpu"]["shared"] is True
# MPS that refuses, in its own words.
run(*BASE, "--gpu", "shared", "-o", "refused", "--", "true", code=3, says=["starting MPS", "Cannot start: no rights"], REFUSES="no rights")
assert daemons() == [], daemons()
# It works: each rank has a host of its own for NCCL, and all have the run's own MPS, which ends with the run.
run(*BASE, "--gpu", "shared", "-o", "good", "--", "sh", "rank.sh", code=0, says=["2 ranks shared NVIDIA H200", "every rank made a communicator"])
given = [(folder / f"good/rank{rank}.txt").read_text() for rank in (0, 1)]
for rank, text in enumerate(given):
    for line in (f"NCCL_HOSTID=trainwire-job0-rank{rank}", "NCCL_P2P_DISABLE=1", "NCCL_SHM_DISABLE=1", "NCCL_IB_DISABLE=1",
                 "NCCL_NET=Socket", "NCCL_SOCKET_IFNAME=eth0", "CUDA_VISIBLE_DEVICES=0"):
        assert line in text.splitlines(), (line, text)
pipes = next(line.split("=")[1] for line in given[0].splitlines() if line.startswith("CUDA_MPS_PIPE_DIRECTORY="))
assert f"CUDA_MPS_PIPE_DIRECTORY={pipes}" in given[1] and not pathlib.Path(pipes).exists()
assert daemons() == [], daemons()
record = json.loads((folder / "good/run.json").read_text())
assert any(path["path"] == "rank.sh" and path["hash"] for path in record["provenance"]["inputs"]), record["provenance"]
# A program that never calls NCCL: a check says so, and the exit code is that of `run`.
run(*[word for word in BASE if word != "--keep-going"], "--gpu", "shared", "-o", "silent", "--", "true", code=4,
    says=["rank 0 of job0 never called NCCL", "a check failed"])
# A GPU that is full: what it means, and what to do.
run(*BASE, "--gpu", "shared", "-o", "memory", "--", "sh", "-c",
    'if [ "$RANK" = 1 ]; then echo "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2 GiB"; exit 1; fi; sleep 30',
    code=4, says=["rank 1 on host1 exited with code 1 (the GPU's memory is full", "smaller batch"])
assert daemons() == [], daemons()
# Killed: MPS goes with the run, and the next command takes away its pipes.
before = set(pathlib.Path("/tmp").glob("trainwire-mps-*"))
process = subprocess.Popen([PROGRAM, *BASE, "--gpu", "shared", "-o", "killed", "--", "sh", "rank.sh"], env=dict(environment, NAP="60"),
                           cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
limit = time.time() + 60
while not (folder / "killed/nccl-1.log").exists():
    assert time.time() < limit and process.poll() is None
    time.sleep(0.05)
assert daemons()
process.send_signal(signal.SIGKILL)
process.wait()
limit = time.time() + 10
while daemons():
    assert time.time() < limit, daemons()
    time.sleep(0.05)
assert set(pathlib.Path("/tmp").glob("trainwire-mps-*")) - before
run("cleanup", code=0)
assert not set(pathlib.Path("/tmp").glob("trainwire-mps-*")) - before
print("ok")
