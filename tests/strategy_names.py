#!/usr/bin/env python3
"""What differs between strategies stands in the catalogue's row: no other module tells them apart by name.

strategy_names.py TRAINWIRE ROOT. Fails for every string literal in src that is a strategy's name, outside src/collective and tests, unless it is listed
here with its reason.
"""
import json
import pathlib
import re
import subprocess
import sys

PROGRAM, ROOT = sys.argv[1], pathlib.Path(sys.argv[2])

# Words that also mean something else: a phase, an operation and a setting; a topology; an operation. They count where the line speaks of strategies.
OTHER_MEANINGS = {"broadcast", "star", "all_to_all", "pair_averaging"}
# Values, not comparisons.
ALLOWED = {
    ("spec/experiment.h", "ring"): "the default of job.strategy",
    ("spec/framework.cc", "ring"): "what a framework presets",
    ("spec/framework.cc", "binary_tree_star"): "what a framework presets",
    ("spec/framework.cc", "clique"): "connections that KungFu makes beside it",
    ("spec/framework.cc", "pair_averaging"): "connections that KungFu makes beside it",
    ("nccl/tuning.cc", "ring"): "what NCCL calls an algorithm of its own",
    ("nccl/tuning.cc", "tree"): "what NCCL calls an algorithm of its own",
    ("operations/imported.cc", "ring"): "what NCCL calls an algorithm of its own",
    ("operations/wired.cc", "ring"): "what NCCL calls an algorithm of its own",
    ("operations/ring_messages.cc", "ring"): "what NCCL calls an algorithm of its own",
    ("operations/volume.cc", "tree"): "what NCCL calls an algorithm of its own",
    ("readers/kineto_fields.cc", "ring"): "what NCCL calls an algorithm of its own",
    ("readers/kineto_fields.cc", "tree"): "what NCCL calls an algorithm of its own",
    ("foreign/astra_network.cc", "ring"): "what ASTRA-sim's names stand for",
    ("foreign/astra_network.cc", "clique"): "what ASTRA-sim's names stand for",
    ("foreign/astra_network.cc", "halving_doubling"): "what ASTRA-sim's names stand for",
    ("foreign/astra_network.cc", "double_tree"): "what ASTRA-sim's names stand for",
    ("foreign/chakra_job.cc", "ring"): "what ASTRA-sim calls an implementation",
    ("like/told.cc", "ring"): "taken where no file tells the algorithm",
    ("readers/nccl_lines.cc", "ring"): "what NCCL calls an algorithm of its own",
    ("readers/nccl_lines.cc", "tree"): "what NCCL calls an algorithm of its own",
}


def names():
    listed = subprocess.run([PROGRAM, "strategies", "--json"], capture_output=True, text=True, check=True)
    return {strategy["name"] for strategy in json.loads(listed.stdout)["strategies"]}


def sources():
    for path in sorted((ROOT / "src").rglob("*")):
        inside = path.relative_to(ROOT / "src")
        is_test = path.stem.endswith("_test") or path.name.startswith("test_")
        if path.suffix in (".h", ".cc") and inside.parts[0] != "collective" and not is_test:
            yield path, str(inside)


known = names()
assert "ring" in known and len(known) >= 16, known
used = set()
faults = []
for path, inside in sources():
    for number, line in enumerate(path.read_text().splitlines(), 1):
        code = line.split("//")[0]
        for name in re.findall(r'"([a-z_]+)"', code):
            if name not in known or (name in OTHER_MEANINGS and "strateg" not in code):
                continue
            if (inside, name) in ALLOWED:
                used.add((inside, name))
            else:
                faults.append(f'src/{inside}:{number}: "{name}": {code.strip()}')
if faults:
    print("strategies told apart by name outside src/collective; put what differs into the catalogue's row (src/collective/strategies.h):")
    print("\n".join(faults))
unused = set(ALLOWED) - used
if unused:
    print("allowed, but nowhere to be found:", *sorted(unused))
sys.exit(bool(faults or unused))
