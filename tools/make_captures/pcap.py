# SPDX-License-Identifier: Apache-2.0
"""Reads just enough of an Ethernet pcap to check a capture against the truth: who sent how much to whom."""

import collections
import struct

Packet = collections.namedtuple("Packet", "time frame_bytes src dst protocol sport dport seq payload_bytes flags")


def read(path):
    """Yields a Packet per record; fields beyond frame_bytes are None where the frame is not IPv4."""
    with open(path, "rb") as file:
        header = file.read(24)
        scale = {b"\xd4\xc3\xb2\xa1": 1e-6, b"\x4d\x3c\xb2\xa1": 1e-9}[header[:4]]
        while record := file.read(16):
            seconds, fraction, caught, original = struct.unpack("<IIII", record)
            yield parse(seconds + fraction * scale, original, file.read(caught))


def parse(time, frame_bytes, data):
    if len(data) < 34 or data[12:14] != b"\x08\x00":
        return Packet(time, frame_bytes, *[None] * 8)
    head = (data[14] & 15) * 4
    total = struct.unpack_from("!H", data, 16)[0] or frame_bytes - 14
    src, dst = (".".join(map(str, data[a:a + 4])) for a in (26, 30))
    transport = 14 + head
    if data[23] == 17:
        sport, dport = struct.unpack_from("!HH", data, transport)
        return Packet(time, frame_bytes, src, dst, "udp", sport, dport, None, total - head - 8, 0)
    if data[23] != 6:
        return Packet(time, frame_bytes, src, dst, str(data[23]), 0, 0, None, total - head, 0)
    sport, dport, seq = struct.unpack_from("!HHI", data, transport)
    payload = total - head - (data[transport + 12] >> 4) * 4
    return Packet(time, frame_bytes, src, dst, "tcp", sport, dport, seq, payload, data[transport + 13])


def sent_by(path, address):
    """The packets a host sent, from that host's own capture."""
    return (p for p in read(path) if p.src == address)


def pair_totals(files):
    """Sums over ordered pairs, each packet counted once, at its sender. `files` maps address to path."""
    totals = collections.defaultdict(lambda: {"packets": 0, "frame_bytes": 0, "payload_bytes": 0})
    for address, path in files.items():
        for packet in sent_by(path, address):
            row = totals[packet.src, packet.dst]
            row["packets"] += 1
            row["frame_bytes"] += packet.frame_bytes
            row["payload_bytes"] += packet.payload_bytes
    return [{"src": s, "dst": d, **row} for (s, d), row in sorted(totals.items())]


def connections(files):
    """Payload bytes of every TCP connection, each packet counted once, at its sender; `a` is whoever sent first."""
    totals = collections.Counter()
    first_time = {}
    for address, path in files.items():
        for packet in sent_by(path, address):
            if packet.protocol == "tcp":
                direction = (packet.src, packet.sport, packet.dst, packet.dport)
                totals[direction] += packet.payload_bytes
                first_time[direction] = min(packet.time, first_time.get(direction, packet.time))
    result = []
    for a, a_port, b, b_port in sorted(first_time, key=first_time.get):
        reverse = (b, b_port, a, a_port)
        if first_time.get(reverse, float("inf")) > first_time[a, a_port, b, b_port]:
            result.append({"a": a, "a_port": a_port, "b": b, "b_port": b_port,
                           "a_to_b_bytes": totals[a, a_port, b, b_port], "b_to_a_bytes": totals[reverse]})
    return result
