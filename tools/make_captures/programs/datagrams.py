# SPDX-License-Identifier: Apache-2.0
"""No training and no TCP: every rank sends UDP datagrams of random size to random peers at random times."""

import random
import socket
import time

import steps

PORT = 5353


def main():
    options = steps.parser().parse_args()
    choice = random.Random(options.rank)
    own = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    own.bind((options.addresses[options.rank], PORT))
    peers = [a for r, a in enumerate(options.addresses) if r != options.rank]
    for _ in range(options.steps):
        own.sendto(bytes(choice.randint(20, 1400)), (choice.choice(peers), PORT))
        time.sleep(choice.expovariate(50.0))
    time.sleep(1)


main()
