# SPDX-License-Identifier: Apache-2.0
"""Captures of programs that the simulator has not: operations that wait for one another, on hosts with one link each way.

A wire is a list of operations (from, to, bytes, what must be over before, time after that). Each host's link sends and receives one operation after
the other at its rate, in the order in which they may begin. Packets are spread evenly over an operation's time. Limits: no loss, no TCP.
"""
import heapq
import random
import struct

FRAME = 1448
LATENCY_S = 100e-6


class Wire:
    def __init__(self, hosts, rate_bps, seed):
        self.hosts, self.rate, self.random = hosts, rate_bps, random.Random(seed)
        self.out = [rate_bps] * hosts
        self.into = [rate_bps] * hosts
        self.operations = []

    def add(self, source, target, size, after=(), pause=0.0, flow=0):
        """Number of the operation; `target` None only waits (at `source`)."""
        self.operations.append((source, target, size, tuple(after), pause, flow))
        return len(self.operations) - 1

    def play(self):
        """(start, end) of each operation, as its receiver has it."""
        waiting = [len(operation[3]) for operation in self.operations]
        ready = [operation[4] for operation in self.operations]
        followers = [[] for _ in self.operations]
        for number, operation in enumerate(self.operations):
            for before in operation[3]:
                followers[before].append(number)
        queue = [(ready[i], i) for i in range(len(waiting)) if waiting[i] == 0]
        heapq.heapify(queue)
        out_free, in_free = [0.0] * self.hosts, [0.0] * self.hosts
        self.times = [None] * len(self.operations)
        while queue:
            at, number = heapq.heappop(queue)
            source, target, size, _, _, _ = self.operations[number]
            if target is None:
                self.times[number] = (at, at)
            else:
                begin = max(at, out_free[source], in_free[target] - LATENCY_S)
                end = begin + size * 8 / min(self.out[source], self.into[target])
                out_free[source], in_free[target] = end, end + LATENCY_S
                self.times[number] = (begin, end)
            done = self.times[number][1] + (LATENCY_S if target is not None else 0)
            for follower in followers[number]:
                waiting[follower] -= 1
                ready[follower] = max(ready[follower], done + self.operations[follower][4])
                if waiting[follower] == 0:
                    heapq.heappush(queue, (ready[follower], follower))
        return self.times

    def write(self, path, first=0.0, last=1e9):
        """Headers of all packets of [first, last), acknowledgements of every second one included."""
        packets = []
        sent = {}
        for (source, target, size, _, _, flow), times in zip(self.operations, self.times):
            if target is None or size == 0:
                continue
            begin, end = times
            count = -(-size // FRAME)
            for i in range(count):
                payload = min(FRAME, size - i * FRAME)
                at = begin + (end - begin) * (i + 1) / count
                packets.append((at, source, target, flow, payload))
        packets.sort()
        with open(path, "wb") as file:
            file.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 96, 1))
            acknowledged = []
            for number, (at, source, target, flow, payload) in enumerate(packets):
                while acknowledged and acknowledged[0][0] <= at:
                    back, who, whom, which, upto = heapq.heappop(acknowledged)
                    if first <= back < last:
                        record(file, back, who, whom, which, sent.get((who, whom, which), 1), upto, 0)
                key = (source, target, flow)
                sequence = sent.get(key, 1)
                sent[key] = sequence + payload
                if first <= at < last:
                    record(file, at, source, target, flow, sequence, sent.get((target, source, flow), 1), payload)
                if number % 2:
                    heapq.heappush(acknowledged, (at + LATENCY_S, target, source, flow, sent[key]))


def address(host):
    return bytes((10, 77, 0, host + 1))


def record(file, at, source, target, flow, sequence, acknowledges, payload):
    low, high = min(source, target), max(source, target)
    ports = (20000 + 100 * low + high + 7000 * flow, 5000 + flow)
    ports = ports if source == low else ports[::-1]
    tcp = struct.pack(">HHIIBBHHH", *ports, sequence & 0xFFFFFFFF, acknowledges & 0xFFFFFFFF, 0x50, 0x10, 512, 0, 0)
    file_id = (sequence // 1448 + payload) & 0xFFFF
    ip = struct.pack(">BBHHHBBH4s4s", 0x45, 0, 40 + payload, file_id, 0x4000, 64, 6, 0, address(source), address(target))
    frame = b"\x02\0\0\0\0" + bytes((target,)) + b"\x02\0\0\0\0" + bytes((source,)) + b"\x08\0" + ip + tcp
    nanoseconds = round((at + 1e9) * 1e9)
    file.write(struct.pack("<IIII", nanoseconds // 10**9, nanoseconds % 10**9, len(frame), len(frame) + payload) + frame)


def ring_half(wire, order, size, after, chunk, flow=0, rounds=None):
    """Reduce-scatter or all-gather of `size` bytes along `order`, in pieces of at most `chunk` that make all their rounds one after the other, as NCCL
    does: a host sends in order, and passes on what came. `after` has what each host waits for. Returns what each host has to wait for to have
    it all. `rounds` of 2(N-1) make an all-reduce."""
    n = len(order)
    rounds = rounds or n - 1
    share = size // n
    pieces = max(1, -(-share // chunk))
    last = [[] for _ in range(wire.hosts)]
    previous = [None] * n
    for piece in range(pieces):
        part = share // pieces + (1 if piece < share % pieces else 0)
        came = [None] * n
        for _ in range(rounds):
            now = []
            for i in range(n):
                waits = list(after[order[i]]) if came[i] is None else [came[i]]
                waits += [previous[i]] if previous[i] is not None else []
                now.append(wire.add(order[i], order[(i + 1) % n], part, waits, flow=flow))
            previous = now
            came = [now[i - 1] for i in range(n)]
        for i in range(n):
            last[order[i]] = [came[i]]
    return last
