# SPDX-License-Identifier: Apache-2.0
"""A ring all-reduce as NCCL does it over sockets: each edge is several one-way connections that share
every message, a bootstrap connection per edge stays open and idle, and large buffers go in slices so that
rounds of different slices overlap.
"""

import threading
import time

import numpy

import steps
import wire

DATA_PORT = 41000
BOOTSTRAP_PORT = 40999


class Edge:
    """One direction of a ring edge: messages are cut into equal stripes, one per connection."""

    def __init__(self, connections):
        self._connections = connections

    def stripes(self, view):
        size = -(-len(view) // len(self._connections))
        return [(c, view[i * size:(i + 1) * size]) for i, c in enumerate(self._connections)]

    def send(self, view):
        for connection, stripe in self.stripes(view):
            connection.sendall(stripe)

    def receive(self, view):
        for connection, stripe in self.stripes(view):
            wire.receive_into(connection, stripe)


def open_edges(options):
    """Accepts from the previous rank while connecting to the next."""
    ranks = len(options.addresses)
    source = options.addresses[options.rank]
    following = options.addresses[(options.rank + 1) % ranks]
    listeners = [wire.listen(source, DATA_PORT), wire.listen(source, BOOTSTRAP_PORT)]
    bootstrap = wire.connect(following, BOOTSTRAP_PORT, source)
    accepted_bootstrap = wire.accept(listeners[1])
    bootstrap.sendall(bytes(128))
    wire.receive_into(accepted_bootstrap, memoryview(bytearray(128)))
    outgoing = [wire.connect(following, DATA_PORT, source) for _ in range(options.sockets)]
    incoming = [wire.accept(listeners[0]) for _ in range(options.sockets)]
    return Edge(incoming), Edge(outgoing), [bootstrap, accepted_bootstrap]


def all_reduce(options, edges, chunks):
    """`chunks` are views of one buffer, one per rank."""
    receiving, sending = edges
    ranks = len(chunks)
    scratch = numpy.empty_like(chunks[0])
    for round_ in range(2 * (ranks - 1)):
        out = chunks[(options.rank - round_) % ranks]
        into = chunks[(options.rank - round_ - 1) % ranks]
        sender = threading.Thread(target=sending.send, args=(memoryview(out).cast("B"),))
        sender.start()
        receiving.receive(memoryview(scratch).cast("B"))
        sender.join()
        if round_ < ranks - 1:
            into += scratch
        else:
            into[:] = scratch


def main():
    parser = steps.parser()
    parser.add_argument("--bytes", type=int, default=8_000_000)
    parser.add_argument("--slice-bytes", type=int, default=4_000_000)
    parser.add_argument("--sockets", type=int, default=4)
    parser.add_argument("--compute-seconds", type=float, default=0.1)
    options = parser.parse_args()
    *edges, bootstrap = open_edges(options)
    ranks = len(options.addresses)
    slices = [numpy.zeros((ranks, options.slice_bytes // 4 // ranks), numpy.float32)
              for _ in range(options.bytes // options.slice_bytes)]
    with steps.StepLog(options) as log:
        for number in range(options.steps):
            with log.step(number):
                time.sleep(options.compute_seconds)
                steps.delay_straggler(options)
                for part in slices:
                    all_reduce(options, edges, part)
    for connection in bootstrap:
        connection.close()


main()
