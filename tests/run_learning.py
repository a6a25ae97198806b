#!/usr/bin/env python3
"""Ranks that really train, over loopback: they learn, move what `plan` says, and end with the same model.

run_learning.py TRAINWIRE. The set is synthetic, so that nothing need be installed.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

PROGRAM = str(pathlib.Path(sys.argv[1]).resolve())
folder = pathlib.Path(tempfile.mkdtemp(prefix="run-learning"))
PARAMETERS = 784 * 16 + 16 + 16 * 10 + 10
EXPERIMENT = """
[network]
hosts = 4
[[job]]
model = "mlp"
widths = [784, 16, 10]
compute = "train"
data = "synthetic"
batch = 50
steps = 60
target_accuracy = 0.7
"""


def trainwire(*words):
    return subprocess.run([PROGRAM, *words], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)


def document(command, keys, *words):
    (folder / "e.toml").write_text(EXPERIMENT + keys)
    done = trainwire(command, "e.toml", "--json", *words)
    assert done.returncode == 0, (keys, done.returncode, done.stderr, done.stdout[-3000:])
    return json.loads(done.stdout)


def learn(keys):
    planned = document("plan", keys)["jobs"][0]
    run = document("run", keys, "--on", "loopback", "--no-page", "-o", "x", "--force")
    assert all(check["ok"] for check in run["checks"]), run["checks"]
    learning = run["jobs"][0]["learning"]
    assert learning["data"] == "synthetic" and learning["parameters"] == PARAMETERS
    assert learning["accuracy"] > 0.8, (keys, learning["accuracy"])
    assert learning["target"]["step"] <= 60 and learning["target"]["time_s"] > 0
    with open(folder / "x/accuracy.csv") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(learning["points"]) >= 20, len(rows)
    assert [float(row["accuracy"]) for row in rows] == [point["accuracy"] for point in learning["points"]]
    return planned, run, learning


# 12,730 words, half as many, or two for each hundredth of them.
for gradient, words in (("fp32", PARAMETERS), ("fp16", PARAMETERS // 2), ("topk", 2 * 128)):
    planned, run, learning = learn(f'gradient = "{gradient}"\n')
    assert run["jobs"][0]["gradient_bytes"] == 4 * words, (gradient, run["jobs"][0]["gradient_bytes"])
    # A ring of four moves six times its payload in all.
    assert planned["step"]["total_bytes"] == 6 * 4 * words
    first = 0 if gradient == "topk" else 3 * 4 * words
    assert learning["sent_bytes"] == first + 60 * 6 * 4 * words, learning["sent_bytes"]
    assert any(check["name"] == "models" for check in run["checks"])

# Whatever carries them, gradients are the same ones: accuracies too.
carried = {transport: learn(f'transport = "{transport}"\n')[2]["accuracy"] for transport in ("tcp", "gloo", "grpc", "mpi")
           if transport == "tcp" or (pathlib.Path(PROGRAM).parent / f"trainwire-{transport}").exists()}
assert len(set(carried.values())) == 1, carried
_, run, learning = learn('strategy = "ps"\nasynchronous = true\n')
assert learning["staleness"]["mean"] > 0 and not any(check["name"] == "models" for check in run["checks"])
# Steps of a millisecond would be over before a rank that the machine holds up has begun: the others then average with its first model.
_, _, learning = learn('strategy = "pair_averaging"\ncompute_time = "10ms"\n')
assert learning["accuracy_low"] <= learning["accuracy"] <= learning["accuracy_high"]
_, _, learning = learn("local_steps = 4\n")
assert learning["points"][-1]["samples"] == 60 * 4 * 50 * 4
text = trainwire("compare", "x", "x").stdout
assert "accuracy in the end" in text and "no difference is sure" in text, text

# A rank is lost in the middle: the others go on, or all go back to a checkpoint, and what was learnt stays.
for policy, strategy, ranks in (("restart", "ring", 4), ("shrink", "ring", 3), ("restart", "ps", 4)):
    keys = f'strategy = "{strategy}"\non_failure = "{policy}"\ncheckpoint_every = 10\n[[fault]]\nkind = "kill"\nrank = 1\nstep = 35\n'
    run = document("run", keys, "--on", "loopback", "--no-page", "-o", "x", "--force")
    learning = run["jobs"][0]["learning"]
    assert [(r["policy"], r["ranks"]) for r in run["recoveries"]] == [(policy, ranks)], run["recoveries"]
    assert learning["accuracy"] > 0.8, (policy, strategy, learning["accuracy"])
    assert [check["ok"] for check in run["checks"] if check["name"] == "models"] == [True], run["checks"]
done = trainwire("run", "e.toml", "--on", "loopback", "--set", "job.gradient=topk", "-o", "y")
assert done.returncode == 2 and "what top-k has kept back goes with a rank" in done.stderr, done

(folder / "e.toml").write_text(EXPERIMENT)
done = trainwire("run", "e.toml", "--on", "loopback", "--set", "job.data=/nowhere", "-o", "y")
assert done.returncode == 3 and "nothing to learn from: there is no train-images-idx3-ubyte in /nowhere" in done.stderr, done
done = trainwire("plan", "e.toml", "--set", "job.model=resnet50")
assert done.returncode == 2 and "train knows the models mlp and cnn, not resnet50" in done.stderr, done
done = trainwire("sim", "e.toml", "--no-page", "-o", "z")
assert done.returncode == 0, done
print("ok")
