# SPDX-License-Identifier: Apache-2.0
"""No training and no TCP: ICMP echo requests to the next rank, 20 a second; the kernel answers."""

import socket
import struct
import time

import steps


def checksum(data):
    """RFC 1071, for an even number of bytes."""
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def request(identifier, sequence):
    body = struct.pack("!HH", identifier, sequence) + bytes(200)
    return struct.pack("!BBH", 8, 0, checksum(struct.pack("!BBH", 8, 0, 0) + body)) + body


def main():
    options = steps.parser().parse_args()
    following = options.addresses[(options.rank + 1) % len(options.addresses)]
    own = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    for sequence in range(options.steps):
        own.sendto(request(options.rank + 1, sequence), (following, 0))
        time.sleep(0.05)


main()
