#!/usr/bin/env python3
"""Names that lie in wait, in every field that takes one: hostile_names.py TRAINWIRE.

Whatever a job, a host, an experiment, a capture, a setting or a folder is called: nothing appears outside of the folder that was asked for, no cell is a formula,
no page runs or shows what a name says as anything but text, and what is refused is refused in one sentence.
"""
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAM = os.path.realpath(sys.argv[1])
SOURCE = pathlib.Path(__file__).resolve().parent.parent
CAPTURE = SOURCE / "tests/captures/ddp2_mlp.pcap.zst"
MARK = "tw5ecret"
# What names are made of: a path, a formula, markup, a quote, a control character, something long.
NAMES = ["../../" + MARK, "/tmp/" + MARK, "..", ".", "a/b", "a\\b", "-o" + MARK, "--help", "=1+1", "+1+1", "-1+1", "@SUM(1)", "\t=1", "=cmd|'/c calc'!A0",
         f"<script>{MARK}()</script>", f"</script><img src=x onerror={MARK}()>", f"\"'><b>{MARK}", "'; DROP TABLE steps; --", "$(touch " + MARK + ")",
         "`touch " + MARK + "`", "a\nb: " + MARK, "a\r\nX-Injected: " + MARK, "\x1b[2J" + MARK, "%s%n%x", "{0}{}", "a" * 4000, "\u202e" + MARK, "é" * 60, "NUL", "con", " "]
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?%?|[+-]?(inf|nan)|-|\+", re.IGNORECASE)

top = pathlib.Path(tempfile.mkdtemp(prefix="names-"))
work = top / "a/b/work"
work.mkdir(parents=True)
environment = dict(os.environ, TRAINWIRE_STATE=str(top / "state"))


def run(*words, codes=(0, 2, 3)):
    ended = subprocess.run([PROGRAM, *words], cwd=work, env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    errors = ended.stderr.decode()
    assert ended.returncode in codes, (words, ended.returncode, errors)
    told = [line for line in errors.splitlines() if line.startswith("trainwire: ")]
    assert ended.returncode == 0 or len(told) == 1 or "problems" in errors, (words, errors)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", errors.replace("\r", "")), (words, errors)
    return ended


def all_files():
    return {str(path.relative_to(top)) for path in top.rglob("*") if not path.is_relative_to(top / "state")}


def check_tables(folder, name):
    for path in folder.rglob("*.csv"):
        with open(path, newline="") as file:
            for row in csv.reader(file):
                for cell in row:
                    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r")) or NUMBER.fullmatch(cell), (path.name, name, cell)


def check_page(path, name):
    page = path.read_text()
    for raw in (f"<script>{MARK}", f"<b>{MARK}", "<img src=x"):
        assert raw not in page, (name, raw)


def toml(name):
    return '"' + "".join(c if c.isprintable() and c not in '"\\' else f"\\u{ord(c):04X}" for c in name) + '"'


def only_inside(before, allowed):
    new = {path for path in all_files() - before if not path.startswith(allowed)}
    assert not new, new


def results(name, folder):
    check_tables(folder, name)
    check_page(folder / "report.html", name)


def exported(name, folder):
    run("export", str(folder), "--to", "csv,json,sqlite", "-o", "exported", "--force", codes=(0,))
    check_tables(work / "exported", name)


def write_experiment(name, key):
    """A job's or the experiment's own name; a straggler, a host, a load file."""
    text = [f"name = {toml(name)}"] if key == "name" else []
    text += ["[network]", "hosts = 2", "[[job]]", 'parameters = "20KB"', 'compute = "none"', "steps = 2", "warmup = 0"]
    if key.startswith("job."):
        value = toml(name)
        text.append(f"{key[4:]} = " + (f"[{value}]" if key == "job.hosts" else value))
    if key.startswith("traffic."):
        text += ["[[traffic]]", 'kind = "file"' if key == "traffic.file" else 'kind = "long"', 'from = "host0"' if key != "traffic.from" else f"from = {toml(name)}",
                 'to = "host1"' if key != "traffic.to" else f"to = {toml(name)}"]
        if key == "traffic.file":
            text.append(f"file = {toml(name)}")
        else:
            text.append('load = 0.1')
    (work / "e.toml").write_text("\n".join(text) + "\n")


def in_experiment(name, key):
    write_experiment(name, key)
    return run("plan", "e.toml").returncode == 0


def references(name, number):
    """Names of what must exist: each is refused. A few fields for each name, in turns."""
    fields = ("job.hosts", "job.model", "job.strategy", "job.device", "job.straggler", "traffic.from", "traffic.to", "traffic.file")
    for i in range(2):
        key = fields[(2 * number + i) % len(fields)]
        assert not in_experiment(name, key) or key in ("job.straggler", "traffic.file"), (name, key)


def runs(name, key):
    write_experiment(name, key)
    before = all_files()
    ended = run("run", "e.toml", "--on", "loopback", "-q", "-o", "r.run", "--force")
    if ended.returncode == 0:
        only_inside(before, ("a/b/work/r.run", ))
        results(name, work / "r.run")
    return ended.returncode == 0


def hosts_files(name):
    """Names of hosts reach every table."""
    quoted = name.replace('"', '""')
    for text in (f'"10.44.0.1" = {toml(name)}\n', f'10.44.0.1,"{quoted}"\n'):
        (work / "hosts").write_text(text)
        before = all_files()
        if run("analyze", str(CAPTURE), "--hosts", "hosts", "-q", "-o", "h.run", "--force").returncode == 0:
            only_inside(before, ("a/b/work/h.run", ))
            results(name, work / "h.run")


def file_names(name):
    """A capture, a folder, an experiment of that name."""
    if "/" in name or name in (".", "..") or len(name.encode()) > 200:
        return
    folder = work / "files"
    folder.mkdir()
    shutil.copy(CAPTURE, folder / f"{name}.pcap.zst")
    before = all_files()
    assert run("analyze", f"files/{name}.pcap.zst", "-q", "-o", "f.run", "--force").returncode == 0
    only_inside(before, ("a/b/work/f.run", ))
    results(name, work / "f.run")
    exported(name, work / "f.run")
    shutil.rmtree(folder)


try:
    ran = 0
    for number, name in enumerate(NAMES):
        references(name, number)
        ran += sum(runs(name, key) for key in ("name", "job.name"))
        hosts_files(name)
        file_names(name)
    assert not list(top.rglob(f"{MARK}*")) and not pathlib.Path(f"/tmp/{MARK}").exists(), "a name became a file"
    print(f"{len(NAMES)} names in 13 fields; with {ran} a run was made")
finally:
    shutil.rmtree(top, ignore_errors=True)
