#!/usr/bin/env python3
"""What a simulation says of experiments at their edges, and of things that break: sim_edges.py TRAINWIRE."""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

PROGRAM = os.path.realpath(sys.argv[1])
folder = pathlib.Path(tempfile.mkdtemp(prefix="sim-edges"))
JOB = '[[job]]\nparameters = "1MB"\nsteps = 10\ncompute_time = "100ms"\n'
NETWORK = "[network]\nhosts = 3\n"


def program(command, text, *words, level="flow"):
    (folder / "e.toml").write_text(text)
    if command == "sim":
        words = ("--level", level, *words)
    return subprocess.run([PROGRAM, command, "e.toml", *words], cwd=folder, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=60)


def refused(text, sentence, code=2, level="flow"):
    """One line that says so, and that exit code."""
    done = program("sim", text, "-o", "x", "--force", level=level)
    assert done.returncode == code, (text, done.returncode, done.stderr, done.stdout[-500:])
    assert done.stderr.count("\n") == 1 and sentence in done.stderr, (text, done.stderr)


def simulated(text, level="flow"):
    done = program("sim", text, "-o", "x", "--force", "--json", "--no-page", level=level)
    assert done.returncode == 0, (text, done.returncode, done.stderr)
    found = json.loads(done.stdout)
    assert all(check["ok"] for check in found["checks"]), found["checks"]
    return found


# The edges.
refused(NETWORK + JOB.replace('"1MB"', "0"), "job.parameters: 0 is not a size from 4B")
refused(NETWORK.replace("3", "3\nrate = \"0bit\"") + JOB, "is not a rate above 0")
refused(NETWORK + '[[network.link]]\nat = "host0"\nrate = "0bit"\n' + JOB, "is not a rate above 0")
refused(NETWORK + JOB + "ranks = 1000000000\n", "is not a whole number from 1 to 1000000")
refused(NETWORK, "no jobs")
LOAD = '[[traffic]]\nfrom = "host1"\nto = "host0"\nload = "%s"\n'
refused(NETWORK + JOB + LOAD % "11Gbit",
        "traffic 0: 11 Gbit/s is more than the 1 Gbit/s that the way from host1 to host0 carries; ask for less")
one = simulated("[network]\nhosts = 1\n" + JOB)
assert abs(one["jobs"][0]["step"]["median_s"] - 0.1) < 1e-6, one["jobs"][0]["step"]
# Networks are joined by their topology; what is parted from the beginning is a link that is down.
DOWN = '[[fault]]\nkind = "link-down"\nlink = "host1"\n'
refused(NETWORK + JOB + DOWN + "at = 0\n", "host1 has been down since 0", code=4)
refused(NETWORK + JOB + DOWN + "at = 0\n", "rank 1 for rank 0 (the first model of job0)", code=4)
# Traffic that goes on for ever does not keep it going.
refused(NETWORK + JOB + LOAD % "100Mbit" + DOWN + "at = 0\n[run]\ntimeout = \"5s\"\n", "host1 has been down", code=4)

# What leaves others nothing for ever.
for level in ("flow", "packet"):
    refused(NETWORK.replace("3", "3\nrate = \"10Mbit\"") + JOB + LOAD % "10Mbit" + 'kind = "constant"\npriority = 1\n[run]\ntimeout = "5s"\n',
            "traffic that goes first leaves them nothing", code=4, level=level)
refused(NETWORK + JOB + 'congestion_control = "vegas"\n', "there are reno, cubic, dctcp, bbr, mltcp")
done = program("run", NETWORK.replace("3", '3\ncongestion_control = "mltcp"') + JOB)
assert done.returncode == 2 and "run cannot have mltcp, which no kernel has" in done.stderr, done.stderr

# Cross traffic is part of the record, as of a run.
text = NETWORK + JOB + LOAD % "400Mbit" + 'kind = "websearch"\n'
cross = simulated(text)["cross_traffic"]
assert cross["entries"][0]["name"] == "websearch from host1 to host0", cross
assert cross["requested_bps"] == 400e6 and 0 < cross["achieved_bps"] < 500e6, cross
rows = (folder / "x" / "cross_flows.csv").read_text().splitlines()
assert len(rows) == 1 + cross["entries"][0]["flows"]["started"], (len(rows), cross)
assert "cross traffic websearch" in program("sim", text, "-o", "x", "--force").stdout

# A second down costs a second, whether it comes by the clock or by the step.
usual = simulated(NETWORK + JOB)["duration_s"]
for when in ('at = "350ms"', "step = 3"):
    found = simulated(NETWORK + JOB + DOWN + when + '\nfor = "1s"\n')
    fault = found["faults"][0]
    assert fault["kind"] == "link-down" and fault["where"] == "host1", fault
    assert abs(fault["end_s"] - fault["begin_s"] - 1) < 1e-9 and 0.3 < fault["begin_s"] < 0.4, fault
    cost = fault["costs"][0]
    assert cost["job"] == "job0" and 0.8 < cost["cost_s"] < 1.01 and cost["steps"] in (1, 2), fault
    assert abs(found["duration_s"] - usual - cost["cost_s"]) < 0.02, (found["duration_s"], usual, cost)
done = program("sim", NETWORK + JOB + DOWN + 'step = 3\nfor = "1s"\n', "-o", "x", "--force")
assert "fault link-down host1, " in done.stdout and "of job0 took" in done.stdout, done.stdout

# Ranks.
RANK = '[[fault]]\nkind = "%s"\nrank = 1\nstep = 3\n'
refused(NETWORK + JOB + RANK % "stop",
        "rank 1 of job0 on host1 was stopped at", code=4)
refused(NETWORK + JOB + RANK % "stop", "for good: ranks 0 and 2 wait for it", code=4)
refused(NETWORK + JOB + RANK % "kill", "rank 1 of job0 on host1 was killed at", code=4)

# Packet by packet TCP has to notice that the link is up again: its timer may have doubled.
found = simulated(NETWORK + JOB + DOWN + 'step = 3\nfor = "1s"\n', level="packet")
assert 0.85 < found["faults"][0]["costs"][0]["cost_s"] < 3, found["faults"]
refused(NETWORK + JOB + DOWN + 'at = "300ms"\n[run]\ntimeout = "20s"\n', "host1 has been down since 300 ms", code=4, level="packet")
refused(NETWORK + JOB + RANK % "stop", "for good: ranks 0 and 2 wait for it", code=4, level="packet")
loss = simulated(NETWORK + JOB + '[[fault]]\nkind = "loss"\nlink = "host1"\nloss = "2%"\nstep = 3\nfor = "300ms"\n', level="packet")
assert loss["faults"][0]["costs"][0]["cost_s"] > 0, loss["faults"]
cross = simulated(text, level="packet")["cross_traffic"]
assert cross["requested_bps"] == 400e6 and 0 < cross["achieved_bps"] < 500e6, cross

# What would never end, or is longer than can be counted.
refused(NETWORK + 'loss = "99%"\n' + JOB, "have not ended after 2000 h of virtual time; ask for less loss", code=4, level="packet")
refused(NETWORK + 'rate = "1bit"\n' + JOB, "have not ended after", code=4, level="packet")
FAR = NETWORK + 'delay = "1h"\n' + JOB
refused(FAR, "link host0: a delay of 1 h is longer than can be simulated packet by packet; ask for 10 min at most, or simulate with "
        "--level flow", level="packet")
refused(FAR.replace("1h", "2400h"), "longer than can be simulated flow by flow; ask for 100 h at most")
assert simulated(FAR, level="auto")["engine"] == "flow"
# Ten milliseconds a link and 1 % loss are no edge.
for level in ("flow", "packet"):
    simulated(NETWORK + 'delay = "10ms"\nloss = "1%"\n' + JOB, level=level)
# Odd sizes, more ranks than bytes for them, several ranks a host, IPv6-sized frames.
simulated(NETWORK + 'mtu = 1280\n' + JOB.replace('"1MB"', "4") + "ranks = 7\n", level="packet")
# A point that a fault ends fails alone.
done = program("sim", NETWORK + JOB + RANK % "kill" + '[sweep]\n"fault.rank" = [1, 2]\n"fault.step" = [3]\n', "-o", "y", "--no-page", "--json")
assert done.returncode == 4, (done.returncode, done.stderr)
assert [point["complete"] for point in json.loads(done.stdout)["points"]] == [False, False], done.stdout
assert done.stderr.count("the others cannot go on without it") == 2, done.stderr
# Captures are kept until a fault ends them; nothing else leaves a folder behind.
assert not (folder / "z").exists()
done = program("sim", NETWORK + JOB + RANK % "kill", "-o", "z", "--pcap", level="packet")
assert done.returncode == 4 and (folder / "z" / "host0.pcap").stat().st_size > 24, done.stderr
done = program("sim", NETWORK + JOB + RANK % "kill", "-o", "zz", level="packet")
assert done.returncode == 4 and not (folder / "zz").exists(), done.stderr

# Ctrl-C: what there was is kept, and nobody is blamed for what did not come.
(folder / "long.toml").write_text(NETWORK + JOB.replace("10\n", "1000000\n"))
going = subprocess.Popen([PROGRAM, "sim", "long.toml", "--level", "packet", "-o", "long", "--no-page"], cwd=folder,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
time.sleep(1)
going.send_signal(signal.SIGINT)
out, err = going.communicate(timeout=60)
assert going.returncode == 130 and "interrupted; long holds what there was until then" in err and "FAIL" not in out, (going.returncode, out, err)

# Whoever cannot make faults says so.
(folder / "down.toml").write_text(NETWORK + JOB + DOWN + "at = 0\n")
done = subprocess.run([PROGRAM, "bench", "exchange", "down.toml"], cwd=folder, capture_output=True, text=True, timeout=60)
assert done.returncode == 2 and "cannot break links or stop ranks" in done.stderr, done.stderr
refused(NETWORK + JOB + DOWN, "fault: needs at = \"3s\" or step = 12")
print("sim_edges: all is said")
