#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Perfetto trace read by its published field numbers: export_trace.py TRACE RUN_FOLDER.

Checks that packets are well-formed, that every slice that begins also ends, that the times of each
track rise, and that slices are those of the run's steps.csv. Prints what there is as JSON. The numbers are
from protos/perfetto/trace of google/perfetto (trace_packet.proto, track_event/*.proto,
interned_data/interned_data.proto, clock_snapshot.proto).
"""

import csv
import json
import os
import struct
import sys
from collections import Counter, defaultdict


def fields(data):
    """(number, value) of a message: int for varints, bytes for the rest."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            assert shift < 70, "a varint is too long"

    while at < len(data):
        key = varint()
        number, kind = key >> 3, key & 7
        assert number > 0, "field 0"
        if kind == 0:
            yield number, varint()
            continue
        size = {1: 8, 2: None, 5: 4}[kind]
        if size is None:
            size = varint()
        assert at + size <= len(data), f"field {number} ends behind its message"
        yield number, data[at : at + size]
        at += size


def one(message, number, default=None):
    found = [value for n, value in message if n == number]
    assert len(found) <= 1, f"field {number} comes {len(found)} times"
    return found[0] if found else default


def text(value):
    return None if value is None else value.decode("utf-8")  # fails on what is no UTF-8


def signed(value):
    return value - (1 << 64) if value >> 63 else value


class Trace:
    def __init__(self, data):
        self.tracks = {}  # uuid -> name, process, counter's unit
        self.names, self.annotations = {}, {}
        self.slices = []  # (track uuid, name, start, end, arguments)
        self.values = defaultdict(list)
        open_slices, last = defaultdict(list), defaultdict(int)
        self.clocks = {}
        cleared = False
        for number, packet in fields(data):
            assert number == 1, "a trace is a list of packets"
            packet = list(fields(packet))
            assert one(packet, 10) == 1, "all packets are of one sequence"
            flags = one(packet, 13, 0)
            cleared = cleared or flags & 1
            time = one(packet, 8)
            # Of a field that is not repeated, readers keep the last.
            for interned in [list(fields(v)) for n, v in packet if n == 12][-1:]:
                for n, entry in interned:
                    entry = list(fields(entry))
                    {2: self.names, 3: self.annotations}[n][one(entry, 1)] = text(one(entry, 2))
            if one(packet, 6):
                for _, clock in fields(one(packet, 6)):
                    clock = list(fields(clock))
                    self.clocks[one(clock, 1)] = one(clock, 2)
            if one(packet, 60):
                self.describe(list(fields(one(packet, 60))))
            if one(packet, 11) is None:
                continue
            assert cleared and flags & 2, "interned names need the state that was cleared before"
            event = list(fields(one(packet, 11)))
            track = one(event, 11)
            assert track in self.tracks, "an event of a track that was not described before"
            assert time >= last[track], f"time goes back on {self.tracks[track]}"
            last[track] = time
            kind = one(event, 9)
            if kind == 1:
                arguments = {}
                for argument in [list(fields(v)) for n, v in event if n == 4]:
                    arguments[self.annotations[one(argument, 1)]] = signed(one(argument, 4))
                open_slices[track].append((self.names[one(event, 10)], time, arguments))
            elif kind == 2:
                name, start, arguments = open_slices[track].pop()
                self.slices.append((track, name, start, time, arguments))
            elif kind == 4:
                assert self.tracks[track]["unit"], "a counter has a unit"
                self.values[track].append((time, struct.unpack("<d", one(event, 44))[0]))
            else:
                raise AssertionError(f"an event of type {kind}")
        assert not any(open_slices.values()), "a slice does not end"

    def describe(self, track):
        uuid = one(track, 1)
        assert uuid and uuid not in self.tracks, "a track is described once"
        process, thread, counter = one(track, 3), one(track, 4), one(track, 8)
        assert sum(part is not None for part in (process, thread, counter)) == 1
        if counter is not None:
            assert one(track, 5) in self.tracks, "a counter's process comes first"
        unit = text(one(list(fields(counter)), 6)) if counter else None
        kind = "process" if process else "thread" if thread else "counter"
        self.tracks[uuid] = {"name": text(one(track, 2)), "kind": kind, "unit": unit}


def slices_of_steps(run):
    path = os.path.join(run, "steps.csv")
    found = Counter()
    if os.path.exists(path):
        for row in csv.DictReader(open(path, newline="")):
            name = f"step {row['step']}" if row["phase"] == "step" else row["phase"]
            found[(int(row["rank"]), name, int(row["start_ns"]), int(row["end_ns"]))] += 1
    return found


def main():
    trace = Trace(open(sys.argv[1], "rb").read())
    assert trace.clocks.keys() == {1, 6} and trace.clocks[1] == trace.clocks[6], trace.clocks
    of_ranks = Counter()
    for track, name, start, end, _ in trace.slices:
        words = trace.tracks[track]["name"].split()
        if words[0] == "rank":
            of_ranks[(int(words[1].rstrip(",")), name, start, end)] += 1
    wanted = slices_of_steps(sys.argv[2])
    assert of_ranks == wanted, f"{sum(of_ranks.values())} slices of ranks, {sum(wanted.values())} rows of steps.csv"
    print(
        json.dumps(
            {
                "slices": len(trace.slices),
                "of_steps": sum(of_ranks.values()),
                "values": sum(len(values) for values in trace.values.values()),
                "tracks": Counter(track["kind"] for track in trace.tracks.values()),
                "first_ns": str(min([s[2] for s in trace.slices] + [v[0][0] for v in trace.values.values()])),
                "names": sorted({track["name"] for track in trace.tracks.values()}),
            }
        )
    )


main()
