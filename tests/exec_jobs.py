#!/usr/bin/env python3
"""Several programs, cross traffic and a late start in exec; its exit code, live file and provenance: exec_jobs.py TRAINWIRE."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)

folder = pathlib.Path(tempfile.mkdtemp(prefix="jobs"))
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"))
STEPS, BYTES = 14, 500_000
(folder / "ring.py").write_text('''
import os, socket, sys, threading, time
rank, world, steps, size = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"]), int(sys.argv[1]), int(sys.argv[2])
hosts, port = sys.argv[3].split(","), int(os.environ["MASTER_PORT"]) + 1
server = socket.create_server(("", port + rank))
for _ in range(400):
    try:
        out = socket.create_connection((hosts[(rank + 1) % world], port + (rank + 1) % world))
        break
    except OSError:
        time.sleep(0.05)
into = server.accept()[0]
marks = open(os.environ["TRAINWIRE_MARKS"], "a")
for step in range(steps):
    start = time.time()
    time.sleep(0.05)
    thread = threading.Thread(target=out.sendall, args=(bytes(size),))
    thread.start()
    left = size
    while left:
        left -= len(into.recv(min(left, 65536)))
    thread.join()
    marks.write(f"{rank},{step},{start},{time.time()}\\n")
    marks.flush()
    if rank == 0:
        print("step", step, flush=True)
''')
(folder / "two.toml").write_text(f'''
[network]
hosts = 3
rate = "100Mbit"
delay = "200us"
[[job]]
name = "a"
hosts = ["host0", "host1"]
command = ["python3", "ring.py", "{STEPS}", "{BYTES}", "host0,host1"]
[[job]]
name = "b"
hosts = ["host1", "host2"]
parameters = "{BYTES}"
start = "1s"
[[traffic]]
kind = "constant"
from = "host2"
to = "host0"
load = "10Mbit"
[run]
timeout = "60s"
[[expect]]
of = "exec"
metric = "cross_traffic.achieved_bps"
at_least = 1e6
''')
B = ["python3", "ring.py", str(STEPS), str(BYTES), "host1,host2"]


def run(*words, code, says=()):
    result = subprocess.run([PROGRAM, *words], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                            timeout=180, cwd=folder)
    assert result.returncode == code, (words, result.returncode, result.stderr, result.stdout)
    for text in says:
        assert text in result.stderr + result.stdout, (words, text, result.stderr, result.stdout)
    return result


# Nothing says what job b runs; a plan needs to know what is sent.
run("exec", "two.toml", "--no-check", code=2, says=["job b: nothing says what its ranks run"])
run("exec", "two.toml", "--set", 'job.command=["true"]', "--", "true", code=2, says=["every job has its own command"])
run("plan", "two.toml", "--set", 'job.command=["true"]', code=2, says=["job a", "add model"])
# Both jobs, with b's program behind --.
shown = run("exec", "two.toml", "-o", "two", "--no-check", "--no-page", "--keep-going", "--", *B, code=0,
            says=[f"a: {STEPS} marked by 2 ranks", f"b: {STEPS} marked by 2 ranks", "constant from host2 to host0"])
for job in "ab":
    assert f"{job} | step {STEPS - 1}" in shown.stderr, shown.stderr
document = json.loads((folder / "two/run.json").read_text())
inputs = {entry["path"]: entry["hash"] for entry in document["provenance"]["inputs"]}
assert set(inputs) == {"two.toml", "ring.py"} and all(inputs.values()), inputs
result = document["summary"]
assert {(rank["job"], rank["rank"]) for rank in result["steps"]["per_rank"]} == {("a", 0), ("a", 1), ("b", 0), ("b", 1)}
# b began a second later, but for what either program took to start.
first = {job: float((folder / f"two/job{i}-marks-0.csv").read_text().split(",")[2]) for i, job in enumerate("ab")}
assert first["b"] - first["a"] > 0.4, first
# Cross traffic is no job's, and flows are told apart by their job.
checks = {check["name"]: check["ok"] for check in result["checks"]}
assert checks["ranks"] and checks["traffic"], result["checks"]
assert all(entry["ok"] for entry in result["expectations"]), result["expectations"]
carried = {share["of"] for link in result["network"]["links"] if link["name"] == "host1" for share in link["shares"]}
assert carried == {"a", "b"}, carried
# The page of runs that go on reads this.
live = [json.loads(line) for line in (folder / "two/live.jsonl").read_text().splitlines()]
assert [job["name"] for job in live[0]["jobs"]] == ["a", "b"] and live[-1] == {"ended": "done"}
assert live[-2]["steps"] == [STEPS, STEPS], live[-2]
# A rank of the second job that fails: who, and of which job.
run("exec", "two.toml", "-o", "failed", "--no-check", "--no-page", "--", "sh", "-c", "echo no luck; exit 7", code=4,
    says=["of b on host", "exited with code 7", "no luck"])
# A rank that is stopped at a step, for a second: told, with what it cost; the others wait for it.
FAULT = """
[[fault]]
kind = "stop"
job = "a"
rank = 1
step = 3
for = "1s"
"""
(folder / "stop.toml").write_text((folder / "two.toml").read_text() + FAULT)
run("exec", "stop.toml", "-o", "stop", "--no-check", "--no-page", "--keep-going", "--", *B, code=0,
    says=["fault stop rank 1 of a", "every fault was played"])
summary = json.loads((folder / "stop/run.json").read_text())["summary"]
[stop] = summary["faults"]
assert 0.9 < stop["end_s"] - stop["begin_s"] < 1.5, stop
cost = next(cost for cost in stop["costs"] if cost["job"] == "a")
assert cost["longest_s"] > 0.9 and cost["cost_s"] > 0.7, stop
# A rank that is killed at a time: what the others make of it is their program's matter; sleepers do not mind.
(folder / "kill.toml").write_text('[network]\nhosts = 2\n[[job]]\ncommand = ["sleep", "2"]\n[[fault]]\nkind = "kill"\nrank = 1\nat = "500ms"\n')
run("exec", "kill.toml", "-o", "kill", "--no-check", "--no-page", "--keep-going", code=0, says=["fault kill rank 1 of job0"])
summary = json.loads((folder / "kill/run.json").read_text())["summary"]
assert [rank["signal"] for rank in summary["ranks"]] == [0, 9] and summary["duration_s"] > 1.8, summary["ranks"]
# Others end with it: who failed by himself is named, and what came before.
run("exec", "kill.toml", "-o", "abort", "--no-check", "--no-page", "--set", 'job.command=["sh","-c","sleep 1; echo lost it; exit 6"]', code=4,
    says=["rank 0 on host0 exited with code 6 (a fault had killed another rank before)", "lost it"])
# A fault that never comes is a check that failed.
run("exec", "kill.toml", "-o", "never", "--no-check", "--no-page", "--set", "fault.at=1h", code=4, says=["the run was over before the fault of rank 1"])
# A link that is slow, then one that is down, for a while each.
FAULTS = """
[[fault]]
kind = "slow"
link = "host0"
step = 2
factor = 0.1
for = "1s"
[[fault]]
kind = "link-down"
link = "host2"
at = "1700ms"
for = "500ms"
"""
(folder / "links.toml").write_text((folder / "two.toml").read_text() + FAULTS)
run("exec", "links.toml", "-o", "links", "--no-check", "--no-page", "--keep-going", "--", *B, code=0,
    says=["fault slow host0", "fault link-down host2", "every fault was played"])
slow, down = json.loads((folder / "links/run.json").read_text())["summary"]["faults"]
# 500 kB at 10 Mbit/s take 0.4 s, at 100 Mbit/s 0.04 s.
assert next(cost for cost in slow["costs"] if cost["job"] == "a")["longest_s"] > 0.3, slow
assert next(cost for cost in down["costs"] if cost["job"] == "b")["longest_s"] > 0.4, down
# Nothing is left of any of them.
left = run("cleanup", code=0)
print("ok")
