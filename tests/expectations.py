#!/usr/bin/env python3
"""What an experiment expects of run, exec and bench is judged by them, at every point of a sweep: expectations.py TRAINWIRE.

Each is told what holds (exit code 0), what does not (1) and what cannot be found (1); --json says the command's own name.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = os.path.realpath(sys.argv[1])
folder = pathlib.Path(tempfile.mkdtemp(prefix="expectations"))
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"))
EXPERIMENT = """[network]
hosts = 2
rate = "1Gbit"
[[job]]
parameters = "40KB"
compute = "none"
steps = 3
warmup = 1
"""


def run(words, expectation, code, more=""):
    (folder / "e.toml").write_text(f"{EXPERIMENT}[[expect]]\n{expectation}\n{more}")
    result = subprocess.run([PROGRAM, *words], env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                            text=True, timeout=120)
    assert result.returncode == code, (words, expectation, result.returncode, result.stderr, result.stdout)
    return result


def judged(words, metric, value):
    """`value` is what the command's document has there."""
    def of(path, bound):
        return f'of = "{words[0]}"\nmetric = "{path}"\n{bound}'

    plain = words[:words.index("--")] if "--" in words else words
    in_json = plain + ["--json"] + words[len(plain):]
    right = run(words, of(metric, f"equals = {value}"), 0)
    assert f"  ok    {metric}: expected {value}" in right.stdout, right.stdout
    assert "EXPECTED" not in right.stderr, right.stderr
    wrong = run(words, of(metric, f"at_least = {value + 1}"), 1)
    assert f"  FAIL  {metric}: expected at least {value + 1}, found {value}" in wrong.stdout, wrong.stdout
    assert f"NOT AS EXPECTED: {metric}" in wrong.stderr, wrong.stderr
    document = json.loads(run(in_json, of(metric, f"at_most = {value - 1}"), 1).stdout)
    assert document["command"].split()[0] == words[0], document["command"]
    [found] = document["expectations"]
    assert found == {"metric": metric, "ok": False, "expected": f"at most {value - 1}", "found": value,
                     "text": f"{metric}: expected at most {value - 1}, found {value}"}, found
    nowhere = run(words, of(metric + "x", f"equals = {value}"), 1)
    assert f'did you mean "{metric}"?' in nowhere.stderr, nowhere.stderr
    # What is expected of another command is that one's business.
    run(words, 'of = "plan"\nmetric = "jobs.0.ranks"\nequals = 7', 0)
    return document


LOOPBACK = ["run", "e.toml", "--on", "loopback", "--force", "-o", "a.run"]
judged(LOOPBACK, "jobs.0.steps", 3)
assert json.loads((folder / "a.run/run.json").read_text())["summary"]["expectations"] == []
# The exchange of a ring of two: 40 kB.
judged(["bench", "exchange", "e.toml", "--on", "loopback", "--sizes", "40KB", "--repeats", "3"], "rows.0.bytes", 40000)

# A sweep: at every point, also at those that were run before, which a new expectation does not run again.
SWEEP = ["run", "e.toml", "--on", "loopback", "-o", "sweep.run"]
AXIS = '[sweep]\n"job.steps" = [3, 4]\n'
run(SWEEP, 'of = "run"\nmetric = "jobs.0.steps"\nat_least = 3', 0, AXIS)
times = (folder / "sweep.run/point-000/steps.csv").stat().st_mtime_ns
missed = run(SWEEP, 'of = "run"\nmetric = "jobs.0.steps"\nat_least = 4', 1, AXIS)
assert "NOT AS EXPECTED: point-000: job.steps=3: jobs.0.steps: expected at least 4, found 3" in missed.stderr, missed.stderr
assert "point-001" not in missed.stderr.split("NOT AS EXPECTED")[-1], missed.stderr
assert times == (folder / "sweep.run/point-000/steps.csv").stat().st_mtime_ns, "the point was run again"
document = json.loads(run(SWEEP + ["--json"], 'of = "run"\nmetric = "jobs.0.steps"\nat_least = 4', 1, AXIS).stdout)
assert document["command"] == "run"
assert [point["expectations"][0]["ok"] for point in document["points"]] == [False, True], document["points"]

if os.geteuid() == 0:
    # Packets or none, the document says whose it is.
    EXEC = ["exec", "e.toml", "--no-check", "--keep-going", "--force", "-o", "b.run", "--", "true"]
    judged(EXEC, "ranks.0.exit_code", 0)
    loud = EXEC[:-2] + ["--json", "--", "sh", "-c", "ping -c 2 $MASTER_ADDR || true"]
    assert json.loads(run(loud, 'of = "plan"\nmetric = "jobs.0.ranks"\nequals = 7', 0).stdout)["command"] == "exec"
    # A run that fails is not judged: it failed.
    failed = run(EXEC[:-1] + ["false"], 'of = "exec"\nmetric = "ranks.0.exit_code"\nequals = 7', 4)
    assert "EXPECTED" not in failed.stderr, failed.stderr
    emulated = ["run", "e.toml", "--no-check", "--keep-going", "--force", "-o", "c.run"]
    judged(emulated, "jobs.0.steps", 3)
else:
    print("exec and emulated networks left out: they need root")
print("run, exec, bench and sweeps judge what is expected of them")
