#!/usr/bin/env python3
"""Ranks start where the program needs help to start: given to a loader, or with its libraries elsewhere: loader.py TRAINWIRE."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PROGRAM = pathlib.Path(sys.argv[1])
folder = pathlib.Path(tempfile.mkdtemp(prefix="loader"))
(folder / "e.toml").write_text('[network]\nhosts = 2\nrate = "100Mbit"\n[[job]]\nparameters = "100KB"\nsteps = 2\ncompute = "none"\n')
listed = subprocess.run(["ldd", str(PROGRAM)], capture_output=True, text=True)
if listed.returncode != 0 or "=>" not in listed.stdout:
    print("skipped: the program has no libraries")
    sys.exit(77)
lines = [line.split() for line in listed.stdout.splitlines()]
loader = next((word for line in lines for word in line if word.startswith("/") and "/ld-" in word), None)
libraries = folder / "lib"
libraries.mkdir()
for words in lines:
    if "=>" in words and len(words) > 2 and words[2].startswith("/"):
        shutil.copy(words[2], libraries)
WHERE = [["--on", "loopback"]] + ([["--no-check", "--no-page"]] if os.geteuid() == 0 else [])


def run(words, **environment):
    result = subprocess.run(words, env=dict(os.environ, TRAINWIRE_STATE=str(folder / "state"), **environment), cwd=folder,
                            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, (words, result.returncode, result.stderr, result.stdout)


for i, where in enumerate(WHERE):
    run([loader, "--library-path", str(libraries), str(PROGRAM), "run", "e.toml", "--keep-going", "-o", f"loader{i}", *where])
# A program that lacks a library, which only LD_LIBRARY_PATH finds: its name is changed in the program itself.
hidden = folder / "trainwire"
name = next(words[0] for words in lines if words[0].startswith("libfmt.so"))
other = name.replace("libfmt", "libfmx")
hidden.write_bytes(PROGRAM.read_bytes().replace(name.encode() + b"\0", other.encode() + b"\0"))
hidden.chmod(0o755)
os.rename(libraries / name, libraries / other)
if subprocess.run([str(hidden), "--version"], capture_output=True).returncode != 127:
    print("not tried: a library that is not found")
else:
    for i, where in enumerate(WHERE):
        run([str(hidden), "run", "e.toml", "--keep-going", "-o", f"elsewhere{i}", *where], LD_LIBRARY_PATH=str(libraries))
print("ok")
