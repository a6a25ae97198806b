#!/usr/bin/env python3
"""Captures of the tree, changed as clocks, cables and attackers change them, through analyze: mutants.py TRAINWIRE MUTANTS COMPARED.

Whole stretches are moved in time, put elsewhere, repeated or dropped, bytes of headers change, records lie about their lengths. Each of MUTANTS takes
bounded time and memory and ends with 0 or 3. COMPARED of them go through tshark too: packets, and packets and bytes of every pair, must agree.
"""
import collections
import json
import os
import pathlib
import random
import resource
import shutil
import struct
import subprocess
import sys
import tempfile

PROGRAM = os.path.realpath(sys.argv[1])
MUTANTS, COMPARED = int(sys.argv[2]), int(sys.argv[3])
CAPTURES = pathlib.Path(__file__).resolve().parent / "captures"
MOST_MEMORY = 700_000_000
MOST_SECONDS = 20
SMALL = ["ddp2_mlp", "ddp3_mlp", "ddp4_cross_traffic", "ddp4_mid_training", "ddp6_mlp"]

if shutil.which("tshark") is None:
    print("skipped: tshark is not installed")
    sys.exit(77)
top = pathlib.Path(tempfile.mkdtemp(prefix="mutants-"))
dice = random.Random(7)


class Capture:
    """Records of a classic pcap file in nanoseconds: [time, captured bytes, length on the wire]."""

    def __init__(self, path):
        data = path.read_bytes()
        assert struct.unpack("<I", data[:4])[0] in (0xa1b2c3d4, 0xa1b23c4d), path
        unit = 1 if data[:4] == b"\x4d\x3c\xb2\xa1" else 1000
        self.link = data[20:24]
        self.records, at = [], 24
        while at + 16 <= len(data):
            seconds, part, held, wire = struct.unpack("<IIII", data[at:at + 16])
            self.records.append([seconds * 10**9 + part * unit, data[at + 16:at + 16 + held], wire])
            at += 16 + held

    def write(self, path, records):
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiII", 0xa1b23c4d, 2, 4, 0, 0, 262144) + self.link)
            for time, held, wire in records:
                time = max(0, min(time, (2**32 - 1) * 10**9))
                file.write(struct.pack("<IIII", time // 10**9, time % 10**9, len(held), wire) + held)


def stretch(records):
    a, b = sorted((dice.randrange(len(records)), dice.randrange(len(records))))
    return a, b + 1


def move_in_time(records):
    """A clock that was set, a capture that was stopped and resumed."""
    a, b = stretch(records)
    by = dice.choice([-1, 1, 1, 1]) * int(10 ** dice.uniform(3, 17.5))
    return [[time + by if a <= i < b else time, held, wire] for i, (time, held, wire) in enumerate(records)]


def move_all_after(records):
    a = dice.randrange(len(records))
    by = dice.choice([3600, 86400, 10 * 86400, 100 * 86400, 10 * 365 * 86400]) * 10**9
    return [[time + by if i >= a else time, held, wire] for i, (time, held, wire) in enumerate(records)]


def stretch_time(records):
    factor = 10 ** dice.uniform(-3, 3)
    begin = records[0][0]
    return [[begin + int((time - begin) * factor), held, wire] for time, held, wire in records]


def put_elsewhere(records):
    a, b = stretch(records)
    part, rest = records[a:b], records[:a] + records[b:]
    at = dice.randrange(len(rest) + 1)
    return rest[:at] + part + rest[at:]


def repeat(records):
    a, b = stretch(records)
    by = records[-1][0] - records[0][0] + int(10 ** dice.uniform(6, 17))
    return records + [[time + by, held, wire] for time, held, wire in records[a:b]]


def drop(records):
    a, b = stretch(records)
    return records[:a] + records[b:] or records[:1]


def drop_a_host(records):
    address = dice.choice(records)[1][26:30]
    return [record for record in records if record[1][26:30] != address] or records[:1]


def change_bytes(records):
    """In headers: types, lengths, addresses, ports, flags."""
    changed = list(records)
    for _ in range(dice.choice([1, 10, 100])):
        i = dice.randrange(len(changed))
        time, held, wire = changed[i]
        held = bytearray(held)
        if held:
            held[dice.randrange(min(len(held), 60))] = dice.randrange(256)
        changed[i] = [time, bytes(held), wire]
    return changed


def cut_packets(records):
    length = dice.choice([0, 10, 14, 33, 34, 53, 54, 66])
    return [[time, held[:length] if dice.random() < 0.3 else held, wire] for time, held, wire in records]


def lie_about_length(records):
    return [[time, held, dice.choice([0, 1, 64, 2**16, 2**31]) if dice.random() < 0.05 else wire] for time, held, wire in records]


CHANGES = [move_in_time, move_in_time, move_all_after, stretch_time, put_elsewhere, repeat, drop, drop_a_host, change_bytes, cut_packets, lie_about_length]
# Where tshark and we are asked the same question: what a packet with a broken header or length is, is a matter of opinion.
COMPARABLE = [move_all_after, stretch_time, repeat, drop, drop_a_host, move_in_time]


def limit():
    resource.setrlimit(resource.RLIMIT_DATA, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (MOST_SECONDS, MOST_SECONDS))


def analysed(path):
    return subprocess.run([PROGRAM, "analyze", path, "--no-folder", "--json"], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          preexec_fn=limit, timeout=10 * MOST_SECONDS)


def tsharks(path):
    """Packets in all, and by pair of addresses packets and bytes on the wire."""
    lines = subprocess.run(["tshark", "-n", "-r", path, "-o", "ip.defragment:FALSE", "-T", "fields", "-E", "separator= ", "-E", "occurrence=f",
                            "-e", "frame.len", "-e", "ip.src", "-e", "ip.dst"], capture_output=True, text=True, check=True).stdout.splitlines()
    pairs = collections.defaultdict(lambda: [0, 0])
    for words in (line.split() for line in lines):
        if len(words) == 3:
            pairs[words[1], words[2]][0] += 1
            pairs[words[1], words[2]][1] += int(words[0])
    return len(lines), {pair: tuple(sums) for pair, sums in pairs.items()}


def compare(path, document, history):
    packets, theirs = tsharks(path)
    ours = {(pair["from"], pair["to"]): (pair["packets"], pair["wire_bytes"]) for pair in document["pairs"]}
    assert document["capture"]["packets"] == packets, (history, document["capture"]["packets"], packets)
    assert ours == theirs, (history, {pair: (ours.get(pair), theirs.get(pair)) for pair in set(ours) | set(theirs) if ours.get(pair) != theirs.get(pair)})


def mutate(capture, changes, most):
    history, records = [], capture.records
    for _ in range(dice.randint(1, most)):
        change = dice.choice(changes)
        records, history = change(records), history + [change.__name__]
    return records, history


try:
    captures = []
    for name in SMALL:
        plain = top / f"{name}.pcap"
        subprocess.run(["tshark", "-r", CAPTURES / f"{name}.pcap.zst", "-F", "nsecpcap", "-w", plain], check=True, capture_output=True)
        captures.append(Capture(plain))
    codes = collections.Counter()
    path = top / "mutant.pcap"
    for i in range(MUTANTS + COMPARED):
        capture = dice.choice(captures)
        is_compared = i >= MUTANTS
        records, history = mutate(capture, COMPARABLE if is_compared else CHANGES, 2 if is_compared else 4)
        capture.write(path, records)
        ended = analysed(path)
        if ended.returncode not in (0, 3):
            shutil.copy(path, pathlib.Path(tempfile.gettempdir()) / "trainwire-mutant.pcap")
        assert ended.returncode in (0, 3), (i, history, ended.returncode, ended.stderr[-300:])
        assert "out of memory" not in ended.stderr, (i, history, ended.stderr)
        assert ended.returncode == 0 or len(ended.stderr.splitlines()) == 1, (i, history, ended.stderr)
        codes[ended.returncode] += 1
        if is_compared and ended.returncode == 0:
            compare(path, json.loads(ended.stdout), history)
    print(f"{MUTANTS + COMPARED} mutants: {codes[0]} analysed, {codes[3]} refused; {COMPARED} as tshark counts them")
finally:
    shutil.rmtree(top, ignore_errors=True)
