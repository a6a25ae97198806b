#!/usr/bin/env python3
"""One figure, one value: five runs, each read as text, JSON, tables, export and page, and compared. agreement.py TRAINWIRE CAPTURES

A ring, two jobs on a dumbbell, a parameter server under cross traffic, a program under exec, and a capture without log. What
a text rounds may differ from the JSON in its last digit; between JSON, tables and export there is no difference at all.
"""
import csv
import html
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

PROGRAM, CAPTURES = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).absolute()
if os.geteuid() != 0:
    print("skipped: needs root")
    sys.exit(77)

BROWSER = shutil.which("chromium")
folder = pathlib.Path(tempfile.mkdtemp(prefix="agreement"))
environment = dict(os.environ, TRAINWIRE_STATE=str(folder / "state"), HOME=str(folder))
UNITS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9,
         "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "%": 0.01, "": 1}
NUMBER = r"(\d[\d,]*\.?\d*) ?(ns|us|ms|s|min|h|[kMG]?bit/s|[kMG]?B|%)"
compared = 0


def call(*words, codes=(0,)):
    done = subprocess.run([PROGRAM, *map(str, words)], env=environment, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    assert done.returncode in codes, (words, done.returncode, done.stderr, done.stdout[-2000:])
    return done.stdout


def table(run, name):
    with open(folder / run / f"{name}.csv") as file:
        return list(csv.DictReader(file))


def page_text(run):
    """What a reader sees, a line for each piece of text."""
    if not BROWSER:
        return ""
    dom = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=4000", "--dump-dom",
                          f"file://{folder / run / 'report.html'}"], env=environment, capture_output=True, text=True, timeout=60).stdout
    body = re.sub(r"<(script|style|svg).*?</\1>", " ", dom[dom.find("<body"):], flags=re.S)
    return re.sub(r"\n\s*\n+", "\n", html.unescape(re.sub(r"<[^>]+>", "\n", body)))


def value(number, unit):
    return float(number.replace(",", "")) * UNITS[unit]


def same(told, known, what):
    """A rounded value: four digits in texts, three on the page."""
    global compared
    compared += 1
    assert abs(told - known) <= 6e-3 * abs(known) + 1e-12, (what, told, known)


def find(text, pattern, known, what, least=1):
    found = re.findall(pattern.replace("#", NUMBER), text)
    assert len(found) >= least, (what, pattern, text[:3000])
    for hit in found:
        same(value(hit[-2], hit[-1]), known, what)


def equal(a, b, what):
    global compared
    compared += 1
    assert a == b, (what, a, b)


def jobs_agree(run, found, text, page):
    """Step, exchange and bus bandwidth: ranks' log, text, findings, page."""
    for number, job in enumerate(found["jobs"]):
        steps = {}
        for row in table(run, "steps"):
            if row["job"] == job["name"] and row["phase"] == "step" and int(row["step"]) >= 0:
                steps.setdefault(int(row["step"]), []).append(1e-9 * (int(row["end_ns"]) - int(row["start_ns"])))
        workers = max(map(len, steps.values()))
        times = [statistics.fmean(each) for each in steps.values() if len(each) == workers]
        same(statistics.median(times), job["step"]["median_s"], "steps.csv")
        part = re.search(rf"^{job['name']}: .* ranks, .*\n(?:  .*\n)+", text, re.M)[0]  # not its verdict
        find(part, r"  step +#", job["step"]["median_s"], "step in the text")
        find(part, r"  exchange +#", job["exchange"]["median_s"], "exchange in the text")
        assert job["step"]["ci_low_s"] <= job["step"]["median_s"] <= job["step"]["ci_high_s"]
        prefix = f"{job['name']}: " if len(found["jobs"]) > 1 else ""
        for finding in found["findings"]:
            if re.match(re.escape(prefix) + r"\d+ iterations of ", finding["text"]):
                find(finding["text"], r"iterations of #", job["step"]["median_s"], "step in a finding")
        if page:
            of = f" of {job['name']}" if len(found["jobs"]) > 1 else ""
            find(page, rf"A step{of} takes #", job["step"]["median_s"], "step on the page")
            find(page, rf"A step{of} takes [\d.,]+ \S+, exchanging its gradients #", job["exchange"]["median_s"], "exchange on the page")
        if number == 0:
            equal(found["iterations"]["median_s"], job["step"]["median_s"], "iterations and job")
            if page:
                find(page, rf"Half of the steps{of} took no longer than #", job["step"]["median_s"], "step in a title")


def links_agree(run, found, text, page):
    """The busiest link and what was lost where: counters, record, text, page."""
    rows = {(row["link"], row["direction"]): row for row in table(run, "links")}
    for link in found["network"]["links"]:
        row, counted = rows[link["name"], link["direction"]], link["counted"]
        for column, member in (("wire_bytes", "bytes"), ("packets", "packets"), ("dropped_packets", "dropped_packets"),
                               ("lost_packets", "lost_packets"), ("queue_peak_bytes", "queue_peak_bytes")):
            equal(int(row[column]), counted[member], column)
        same(counted["rate_bps"] / link["requested"]["rate_bps"] if counted["rate_bps"] else 0, counted["share"], "share")
    last = {}
    for row in table(run, "samples"):
        last.setdefault(row["host"], []).append(row)
    for (name, direction), row in rows.items():
        column = "sent_bytes" if direction == "from_host" else "received_bytes"
        equal(int(last[name][-1][column]) - int(last[name][0][column]), int(row["wire_bytes"]), "samples.csv and links.csv")
    fullest = max(link["counted"]["share"] for link in found["network"]["links"])
    if found.get("utilisation"):
        equal(found["utilisation"]["share"], fullest, "busiest link")
        find(text, r"busiest link: .*, (\d+) (%) full", round(fullest, 2), "busiest link in the text")
        if page:
            find(page, r"was used to #", fullest, "busiest link on the page")
            find(page, r"\nbusiest link\n#", fullest, "busiest link among the figures")
    lost = {name: int(row["dropped_packets"]) for name, row in rows.items() if int(row["dropped_packets"]) > 0}
    for way, count in re.findall(r"(?:packets lost at |; )([^:;]+): (\d+) found the queue full", text):
        assert int(count) in lost.values(), (way, count, lost)


def pairs_agree(run, found, text):
    """Bytes per pair: text, JSON, table."""
    told = {(row["from"], row["to"]): row for row in table(run, "pairs")}
    for pair in found["pairs"]:
        equal(int(told[pair["from"], pair["to"]]["stream_bytes"]), pair["stream_bytes"], "pairs.csv")
    for source, to, number, unit in re.findall(rf"  (\S+) > (\S+) +{NUMBER}", text):
        known = [pair["stream_bytes"] for pair in found["pairs"] if (pair["from"], pair["to"]) == (source, to)]
        if known:
            same(value(number, unit), known[0], "pairs in the text")


def iterations_agree(run, found, exact):
    """iterations.csv adds up to what pairs carried in them; where a schedule says so, every pair carries the same in all."""
    rows = table(run, "iterations")
    equal(len(rows), found["iterations"]["count"], "iterations.csv")
    carried = {}
    for row in table(run, "iteration_pairs"):
        carried.setdefault(int(row["iteration"]), {})[row["from"], row["to"]] = int(row["gradient_bytes"])
    for number, row in enumerate(rows):
        if exact:
            equal(carried[number], carried[0], "every step carries the same")
            equal(sum(carried[number].values()), int(row["gradient_bytes"]), "iteration_pairs.csv")


def export_agrees(run):
    call("export", run, "--to", "csv", "-o", f"{run}.out")
    for file in sorted((folder / f"{run}.out").rglob("*.csv")):
        equal(file.read_text(), (folder / run / file.name).read_text(), f"export of {file.name}")


def checked(name, experiment, exact, *words):
    """A run of an experiment, compared with itself."""
    (folder / f"{name}.toml").write_text(experiment)
    run = f"{name}.run"
    text = call("run", f"{name}.toml", "--no-check", "--keep-going", "-o", run, *words)
    found = json.loads((folder / run / "run.json").read_text())["summary"]
    page = page_text(run)
    jobs_agree(run, found, text, page)
    links_agree(run, found, text, page)
    pairs_agree(run, found, text)
    iterations_agree(run, found, exact)
    export_agrees(run)
    return found


RING = checked("ring", '[network]\nhosts = 4\nrate = "100Mbit"\n[[job]]\nparameters = "1MB"\ncompute_time = "20ms"\nsteps = 6\n', True)
equal(len(RING["jobs"]), 1, "jobs of the ring")

TWO = checked("two", '[network]\ntopology = "dumbbell"\nhosts = 4\nrate = "50Mbit"\ncore_rate = "25Mbit"\ndelay = "1ms"\n'
                     '[[job]]\nname = "alpha"\nhosts = ["host0", "host2"]\nparameters = "400KB"\nsteps = 5\ncompute_time = "20ms"\n'
                     '[[job]]\nname = "beta"\nhosts = ["host1", "host3"]\nparameters = "400KB"\nsteps = 5\ncompute_time = "20ms"\n', True, "--alone")
equal(TWO["utilisation"]["link"], "core", "the busiest link of a dumbbell")
for job in TWO["jobs"]:
    same(job["step"]["median_s"] / job["alone"]["step"]["median_s"], job["alone"]["slowdown"], "slow-down")
    assert job["alone"]["slowdown"] > 1.2, job["alone"]
core = next(link for link in TWO["network"]["links"] if link["name"] == "core" and link["direction"] == "from_host")
equal({share["of"] for share in core["shares"]}, {"alpha", "beta"}, "who used the core")
for share in core["shares"]:
    assert 0.4 < share["share"] < 0.6, core["shares"]
assert all(finding["text"].startswith(finding["job"] + ": ") for finding in TWO["findings"]), TWO["findings"]
assert not any("not part of the exchanges" in finding["text"] for finding in TWO["findings"]), TWO["findings"]

SERVED = checked("served", '[network]\nhosts = 4\nrate = "100Mbit"\n[[job]]\nstrategy = "ps"\nparameters = "500KB"\ncompute_time = "20ms"\nsteps = 6\n'
                           '[[traffic]]\nkind = "constant"\nfrom = "host1"\nto = "host0"\nload = "20Mbit"\n', True)
assert SERVED["cross_traffic"]["achieved_bps"] > 0

# A program of its own, and a capture without log: text, JSON, tables and page.
(folder / "net.toml").write_text('[network]\nhosts = 2\nrate = "50Mbit"\n')
SCRIPT = """
import os, socket, time
rank = int(os.environ["RANK"])
server = socket.create_server(("", 29000 + rank))
time.sleep(0.5)
out = socket.create_connection((f"host{1 - rank}", 29000 + 1 - rank))
back = server.accept()[0]
for step in range(12):
    time.sleep(0.05)
    out.sendall(bytes(60000))
    left = 60000
    while left > 0: left -= len(back.recv(left))
"""
text = call("exec", "net.toml", "--no-check", "--keep-going", "-o", "exec.run", "--", sys.executable, "-c", SCRIPT)
found = json.loads((folder / "exec.run/run.json").read_text())["summary"]
links_agree("exec.run", found, text, page_text("exec.run"))
pairs_agree("exec.run", found, text)
export_agrees("exec.run")
for pair in found["pairs"]:
    equal(pair["stream_bytes"], 12 * 60000, "what the program sent")

text = call("analyze", CAPTURES / "ddp4_resnet.pcap.zst", "-o", "capture.run")
found = json.loads((folder / "capture.run/run.json").read_text())["summary"]
page = page_text("capture.run")
period = found["iterations"]["median_s"]
assert found["iterations"]["ci_low_s"] <= period <= found["iterations"]["ci_high_s"]
find(text, r"iterations of #", period, "period in the text")
if page:
    find(page, r"iterations of #", period, "period on the page")
pairs_agree("capture.run", found, text)
iterations_agree("capture.run", found, False)
export_agrees("capture.run")

shutil.rmtree(folder)
print(f"{compared} comparisons of five runs: no contradiction{'' if BROWSER else ' (pages not read: there is no chromium)'}")
