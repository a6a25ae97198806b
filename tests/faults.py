#!/usr/bin/env python3
"""Every system call and allocation of analyze, report and run fails once, and every change of a file is the last one:
faults.py TRAINWIRE SHIM [SAMPLES].

After SQLite's and LevelDB's tests. Whatever fails, the program ends by itself with 0, 3 or 4. It says so in one sentence unless it was 0; then the
result is the one without faults (a run without its page says so). A crash leaves what is readable or refused in one sentence. SAMPLES faults of each kind, spread over all of
them (seeded), are tried; 0 tries every one.
"""
import filecmp
import json
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.realpath(sys.argv[1])
SHIM = os.path.realpath(sys.argv[2])
SAMPLES = int(sys.argv[3]) if len(sys.argv) > 3 else 25
SOURCE = pathlib.Path(__file__).resolve().parent.parent
TABLES_OF_TIMES = {"report.html", "run.json", "live.jsonl"}
ERRORS = {"EIO": 5, "ENOSPC": 28, "EMFILE": 24, "ENOMEM": 12}

top = pathlib.Path(tempfile.mkdtemp(prefix="faults-"))
environment = dict(os.environ, TRAINWIRE_STATE=str(top / "state"))
random.seed(7)
troubles = []


def run(words, fault=None, seconds=20):
    """The ended process, with what the shim counted."""
    state = top / "count"
    state.unlink(missing_ok=True)
    with_fault = dict(environment, LD_PRELOAD=SHIM, TW_FAULT=f"{fault} {state}") if fault else environment
    try:
        ended = subprocess.run([PROGRAM, *words], env=with_fault, cwd=top, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        ended = subprocess.CompletedProcess(words, None, "", "no end")
    ended.count, ended.fired, ended.name = 0, False, ""
    if fault and state.exists():
        count, fired, name = struct.unpack("QQ48s", state.read_bytes()[:64])
        ended.count, ended.fired, ended.name = count, fired != 0, name.rstrip(b"\0").decode()
    return ended


def sentences(errors):
    return [line for line in errors.splitlines() if line.startswith("trainwire: ")]


def trouble(what, fault, ended):
    troubles.append(f"{what}, {fault} ({ended.name}): exit {ended.returncode}: {ended.stderr.strip()[-300:]!r}")


def same_tables(folder, reference):
    def tables(of):
        return sorted(path.name for path in of.iterdir() if path.name not in TABLES_OF_TIMES and not path.name.endswith(".part"))

    names = tables(reference)
    return tables(folder) == names and all(filecmp.cmp(folder / name, reference / name, shallow=False) for name in names)


def is_complete(folder):
    return json.loads((folder / "run.json").read_text())["complete"] is True


class Analysis:
    name = "analyze"
    reference = top / "reference.run"
    words = ["analyze", str(SOURCE / "tests/captures/ddp2_mlp.pcap.zst"), "-q", "-o"]

    def prepare(self):
        ended = run([*self.words, str(self.reference)])
        assert ended.returncode == 0, ended.stderr

    def command(self, place):
        return [*self.words, str(place)]

    def is_right(self, place):
        return is_complete(place) and same_tables(place, self.reference)

    def is_readable(self, place):
        """After a crash: None when fine, else what is wrong."""
        if not place.exists():
            return None
        ended = run(["report", str(place), "-o", str(top / "after.html")])
        return None if ended.returncode == 0 or (ended.returncode == 3 and len(sentences(ended.stderr)) == 1) else ended


class Report(Analysis):
    name = "report"

    def prepare(self):
        pass

    def command(self, place):
        return ["report", str(self.reference), "-o", str(place)]

    def is_right(self, place):
        return place.stat().st_size > 100_000 and place.read_text().rstrip().endswith("</html>")

    def is_readable(self, place):
        whole = not place.exists() or self.is_right(place)
        return None if whole else subprocess.CompletedProcess([], 0, "", "half a page is under its final name")


class Run(Analysis):
    name = "run"
    words = ["run", str(top / "e.toml"), "--on", "loopback", "-q", "-o"]
    reference = top / "loopback.run"

    def prepare(self):
        (top / "e.toml").write_text('[network]\nhosts = 2\n[[job]]\nparameters = "20KB"\ncompute = "none"\nsteps = 3\nwarmup = 1\n')
        super().prepare()

    def is_right(self, place):
        rows = [len((folder / "steps.csv").read_text().splitlines()) for folder in (place, self.reference)]
        return is_complete(place) and rows[0] == rows[1]


def remove(place):
    shutil.rmtree(place, ignore_errors=True)
    place.unlink(missing_ok=True)


def leftovers(folder):
    return [path.name for path in folder.iterdir() if path.name.endswith(".part") or path.name.startswith("trainwire-")]


def one(what, kind, number, error):
    """One fault."""
    place = top / "x.run"
    remove(place)
    for path in top.glob("*.part"):  # of one that could not even remove it
        path.unlink()
    fault = f"{kind} {number} {error}"
    ended = run(what.command(place), fault)
    if kind == "kill":
        if ended.fired and ended.returncode != -9:
            trouble(what.name, fault, ended)
        elif (wrong := what.is_readable(place)) is not None:
            wrong.name = ended.name
            trouble(f"after {what.name}", fault, wrong)
        return
    told = sentences(ended.stderr)
    if ended.returncode == 0 and told and told[0].startswith("trainwire: no page was made: "):
        told.pop(0)  # the run is whole all the same
    if ended.returncode == 0 and len(told) == 1 and " is damaged at byte " in told[0]:
        return  # what could be read of the capture was used, and it says so
    if ended.returncode not in (0, 3, 4) or len(told) != (0 if ended.returncode == 0 else 1):
        trouble(what.name, fault, ended)
    elif ended.returncode == 0 and not what.is_right(place):
        trouble(f"{what.name} is done but not right", fault, ended)
    elif not kind.endswith("-on") and (left := leftovers(top) + (leftovers(place) if place.is_dir() else [])):
        trouble(f"{what.name} leaves {left}", fault, ended)


def numbers_up_to(count, samples):
    """All of them, or some of each stretch."""
    if samples == 0 or count <= samples:
        return range(1, count + 1)
    return sorted({random.randint(1 + i * count // samples, max(1, (i + 1) * count // samples)) for i in range(samples)})


def walk(what, kind, samples):
    remove(top / "x.run")
    count = run(what.command(top / "x.run"), f"{kind} 0 5").count
    assert count > 0, f"the shim sees nothing of {what.name}"
    remove(top / "x.run")
    tried = 0
    for i, number in enumerate(numbers_up_to(count, samples)):
        one(what, kind, number, list(ERRORS.values())[i % len(ERRORS)])
        tried += 1
    print(f"{what.name}: {tried} of {count} {kind}", flush=True)


try:
    for what in (Analysis(), Report(), Run()):
        what.prepare()
        for kind in ("calls", "calls-on", "allocations", "allocations-on", "kill"):
            walk(what, kind, SAMPLES)
    assert not troubles, "\n".join([f"{len(troubles)} troubles", *troubles[:40]])
    ledgers = list((top / "state").glob("*.json")) if (top / "state").exists() else []
    print(f"all ended as they should; {len(ledgers)} ledgers of killed runs")
finally:
    shutil.rmtree(top, ignore_errors=True)
