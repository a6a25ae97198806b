# %% [markdown]
# # A first look from Python
#
# A job planned, changed, trained on this machine's loopback, and a capture of a real one read. Everything is computed by the program
# `trainwire`; the package only calls it and reads what it wrote ([docs/python.md](../../docs/python.md)).
#
# This file is written by `tools/notebook examples/notebook/first-look.py`, which runs the cells and keeps what they show.

# %%
import pathlib
import sys
import tempfile

ROOT = next(p for p in [pathlib.Path.cwd(), *pathlib.Path.cwd().parents] if (p / "python" / "trainwire").is_dir())
sys.path.insert(0, str(ROOT / "python"))  # not needed once the package is installed
import trainwire as tw

folder = pathlib.Path(tempfile.mkdtemp())

# %% [markdown]
# ## What would the job put on the network?
#
# An experiment is a file, TOML text or a dict. Here: ResNet-50 on four hosts with links of 10 Gbit/s.

# %%
job = {"network": {"hosts": 4, "rate": "10Gbit"}, "job": [{"model": "resnet50-torchvision", "batch": 64}]}
plan = tw.plan(job)
step = plan["jobs"][0]["step"]
print(f"a step moves {step['total_bytes'] / 1e6:.1f} MB, a rank sends {step['rank_sent_bytes'] / 1e6:.1f} MB")

# %% [markdown]
# The same under other strategies: only the bounds differ, for an all-reduce moves the same bytes in all.

# %%
rows = []
for strategy in ["ring", "star", "clique", "halving_doubling", "double_tree"]:
    one = tw.plan(job, set={"job.strategy": strategy})["jobs"][0]
    rows.append({"strategy": strategy, "MB in all": one["step"]["total_bytes"] / 1e6,
                 "MB by a rank": one["step"]["rank_sent_bytes"] / 1e6, "exchange at best, ms": 1e3 * one["exchange_bound_s"]})
tw.Table(rows)

# %% [markdown]
# ## Trained, on loopback
#
# `on="loopback"` works anywhere: ranks are real processes and bytes are real, but no link is shaped. Without it the network is emulated.

# %%
run = tw.run({"network": {"hosts": 2}, "job": [{"parameters": "4MB", "compute_time": "20ms", "steps": 10}]}, on="loopback",
             out=folder / "first.run")
print("all checks passed:", run.all_ok)
print("steps:", len(run["jobs.0.step.times_s"]))
run.checks

# %% [markdown]
# Tables are lists of dicts (`run.steps.df()` gives pandas' form). What did rank 0 do in its second step?

# %%
tw.Table([{"phase": row["phase"], "is whole": row["end_ns"] > row["start_ns"]} for row in run.steps.where(rank=0, step=1)])

# %% [markdown]
# ## A capture of a real job
#
# PyTorch DDP of three ranks; the way into one host was slowed down. No log, no ports, no model are given.

# %%
seen = tw.analyze(ROOT / "tests/captures/ddp3_slow_ingress.pcap.zst", out=folder / "seen.run")
for finding in seen.findings:
    print("-", finding["text"])

# %%
print("in Wireshark:", seen.findings[0]["filter"])
tw.explain(seen.findings[0]["kind"])

# %% [markdown]
# ## What the program refuses
#
# is one exception with the program's own sentence.

# %%
try:
    tw.plan({"network": {"hosts": 4, "rat": "1Gbit"}})
except tw.TrainwireError as error:
    print(error.code, error)
