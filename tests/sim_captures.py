#!/usr/bin/env python3
"""`analyze` finds in captures of simulations what their experiments say: sim_captures.py TRAINWIRE.

Strategy, members in order, bytes and iterations of twelve experiments; two jobs are written as well, and every packet once in the
capture of who sends it and of who gets it, unless it was lost.
"""
import collections
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

PROGRAM = sys.argv[1]
top = pathlib.Path(tempfile.mkdtemp(prefix="sim_captures"))

# Strategy in the experiment, ranks, more keys, what is recognised, whether members have an order.
RING = [
    ("ring", 4, "", "ring", True),
    ("ring", 3, "bucket = \"500KB\"\noverlap = true\n", "ring", True),
    ("ring", 6, "", "ring", True),
    ("ring", 4, "straggler = \"host2\"\n", "ring", True),
]
OTHERS = [
    ("double_tree", 4, "", "double_tree", False),
    ("halving_doubling", 4, "", "halving_doubling", False),
    ("halving_doubling", 8, "", "halving_doubling", False),
    ("clique", 4, "", "clique", False),
    ("binary_tree_star", 8, "", "binary_tree_star", False),
    ("ps", 6, "servers = 2\n", "ps", False),
    ("ps", 5, "servers = 2\n", "ps", False),
    ("broadcast", 4, "", "broadcast", False),
]


def trainwire(*words):
    done = subprocess.run([PROGRAM, *map(str, words)], capture_output=True, text=True, cwd=top, timeout=120)
    assert done.returncode == 0, (words, done.returncode, done.stderr)
    return done.stdout


def simulated(name, text):
    (top / f"{name}.toml").write_text(text)
    trainwire("sim", f"{name}.toml", "--pcap", "-o", f"{name}.run", "--no-page", "-q")
    return sorted((top / f"{name}.run").glob("host*.pcap"))


def experiment(strategy, ranks, keys, steps=6):
    return (f'[network]\nhosts = {ranks}\nrate = "200Mbit"\ndelay = "500us"\n[[job]]\nstrategy = "{strategy}"\nranks = {ranks}\n'
            f'parameters = "2MB"\ncompute_time = "60ms"\nsteps = {steps}\nbroadcast = false\n{keys}')


def packets_of(path):
    """(time in nanoseconds, headers) of every packet."""
    data, at = path.read_bytes(), 24
    while at < len(data):
        seconds, nanoseconds, kept = struct.unpack("III", data[at:at + 12])
        yield seconds * 1_000_000_000 + nanoseconds, data[at + 16:at + 16 + kept]
        at += 16 + kept


for number, (strategy, ranks, keys, expected, ordered) in enumerate(RING + OTHERS):
    captures = simulated(f"e{number}", experiment(strategy, ranks, keys))
    assert len(captures) == ranks, captures
    document = json.loads(trainwire("analyze", *captures, "--json", "--no-page", "-o", f"a{number}.run"))
    assert document["iterations"]["count"] == 6, (strategy, ranks, document["iterations"]["count"])
    found = document["collectives"][0]
    assert found["strategy"] == expected, (strategy, ranks, found)
    assert abs(found["bytes_per_iteration"] / 2e6 - 1) < 0.02, (strategy, found["bytes_per_iteration"])
    if ordered:
        around = [int(address.rpartition(".")[2]) for address in found["order"]]
        first = around.index(1)
        assert around[first:] + around[:first] == list(range(1, ranks + 1)), around

# Without loss each packet is in two captures, but for those still on their way when the simulation ends.
seen = collections.defaultdict(list)
for capture in sorted((top / "e0.run").glob("*.pcap")):
    for time, headers in packets_of(capture):
        seen[headers].append(time)
end = max(map(max, seen.values()))
odd = [min(times) for times in seen.values() if len(times) % 2]
assert all(time > end - 2_000_000 for time in odd), (len(odd), len(seen), end)
assert len(odd) < len(seen) / 10, (len(odd), len(seen))


def segments_of(path):
    """(source, destination, flags, sequence, payload bytes) of every packet; addresses are last bytes with their port."""
    data, at = path.read_bytes(), 24
    while at < len(data):
        kept, original = struct.unpack("II", data[at + 8:at + 16])
        frame = data[at + 16:at + 16 + kept]
        ports = struct.unpack(">HH", frame[34:38])
        yield ((frame[29], ports[0]), (frame[33], ports[1]), frame[47], struct.unpack(">I", frame[38:42])[0],
               original - 34 - 4 * (frame[46] >> 4))
        at += 16 + kept


SYN, ACK = 2, 16
two = experiment("ring", 2, 'hosts = ["host0", "host1"]\n').replace("hosts = 2\n", "hosts = 4\n", 1)
two += ('[[job]]\nstrategy = "ring"\nranks = 2\nhosts = ["host2", "host3"]\nparameters = "1MB"\ncompute_time = "90ms"\nsteps = 6\n'
        'broadcast = false\n')
captures = simulated("two", two)
assert len(captures) == 4
# Two ranks exchange half of the gradients each way, twice a step, over one connection that one of them opens.
for host, members, gradients in ((0, {1, 2}, 2e6), (1, {1, 2}, 2e6), (2, {3, 4}, 1e6), (3, {3, 4}, 1e6)):
    segments = list(segments_of(captures[host]))
    assert {side[0] for segment in segments for side in segment[:2]} == members, host
    assert len({frozenset(segment[:2]) for segment in segments}) == 1, host
    assert [segment[2] for segment in segments[:3]] == [SYN, SYN | ACK, ACK], segments[:3]
    for sender in (segments[0][0], segments[0][1]):
        sent = [(sequence, sequence + size) for source, _, flags, sequence, size in segments if source == sender and not flags & SYN]
        assert min(sent)[0] == 1 and max(sent)[1] == 1 + 6 * gradients, (host, sender, min(sent), max(sent))

print(f"{len(RING + OTHERS)} simulated captures recognised, one of two jobs written")
