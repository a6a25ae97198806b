#!/usr/bin/env python3
"""A changed constant in a strategy is noticed: tests/reproduce_mutated.py TRAINWIRE BUILD ROOT.

The ring's source is changed so that each of its two trips has one hop too many, compiled and linked in front of the libraries
of the program; that program's `reproduce` must exit with 1 and say what became worse, and the unchanged one's with 0.
"""
import pathlib
import shlex
import subprocess
import sys
import tempfile

TRAINWIRE, BUILD, ROOT = (pathlib.Path(word).resolve() for word in sys.argv[1:4])
SOURCE = ROOT / "src/collective/ring.cc"
BEFORE, AFTER = "trip.count = place.size - 1;", "trip.count = place.size;"
IDS = ["OR-1", "S2-T3.1"]


def reproduced(program):
    done = subprocess.run([program, "reproduce", *IDS, "--folder", ROOT / "reproductions"], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, timeout=120, check=False)
    return done.returncode, done.stderr


def command_with(part):
    """The build's own command line that makes `part`."""
    text = subprocess.run(["ninja", "-C", BUILD, "-t", "commands", "trainwire"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return [line for line in text.splitlines() if part(line)]


def compiled(changed, folder):
    """The changed source alone, by the compiler and options of its module."""
    line = next(line for line in command_with(lambda line: "/tw_collective.dir/" in line and " -c " in line))
    words = shlex.split(line)
    words = words[next(i for i, word in enumerate(words) if word.endswith(("g++", "clang++", "c++"))):]
    target = folder / "ring.o"
    for option, value in (("-o", target), ("-c", changed), ("-MF", folder / "ring.d")):
        words[words.index(option) + 1] = str(value)
    subprocess.run(words, cwd=BUILD, check=True, timeout=300)
    return target


def linked(program, ring):
    line = command_with(lambda line: " -o trainwire " in line)[-1]
    line = line.replace(" -o trainwire ", f" -Wl,--allow-multiple-definition {shlex.quote(str(ring))} -o {shlex.quote(str(program))} ")
    subprocess.run(line, cwd=BUILD, check=True, shell=True, timeout=300)


def main():
    code, told = reproduced(TRAINWIRE)
    assert code == 0, f"unchanged: {code}: {told}"
    text = SOURCE.read_text()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        changed = folder / "ring.cc"
        assert BEFORE in text, f"{SOURCE} has no \"{BEFORE}\" any more"
        changed.write_text(text.replace(BEFORE, AFTER, 1))
        program = folder / "trainwire"
        linked(program, compiled(changed, folder))
        code, told = reproduced(program)
    assert code == 1, f"changed: exit code {code}, not 1: {told}"
    assert "WORSE THAN RECORDED: OR-1" in told, told
    print(f"a changed ring is noticed: {len(told.splitlines())} numbers worse")


main()
