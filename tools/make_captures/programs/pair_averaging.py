# SPDX-License-Identifier: Apache-2.0
"""Asynchronous pair averaging over plain sockets: each step pulls the model of one random peer.

No rank waits for a step of another; a thread per peer answers pulls with whatever the model is now.
"""

import random
import threading
import time

import numpy

import steps
import wire

PORT = 10000


def answer(connection, model):
    while wire.receive_number(connection) is not None:
        connection.sendall(memoryview(model).cast("B"))


def serve(listener, model, peers):
    for _ in range(peers):
        threading.Thread(target=answer, args=(wire.accept(listener), model), daemon=True).start()


def finish(connections, server_thread):
    """Leaves only after a pause in which slower peers may still pull."""
    server_thread.join()
    time.sleep(4)
    for connection in connections.values():
        connection.close()


def main():
    parser = steps.parser()
    parser.add_argument("--bytes", type=int, default=4_000_000)
    parser.add_argument("--compute-seconds", type=float, default=0.1)
    options = parser.parse_args()
    model = numpy.zeros(options.bytes // 4, numpy.float32)
    other = numpy.zeros_like(model)
    source = options.addresses[options.rank]
    peers = [r for r in range(len(options.addresses)) if r != options.rank]
    server_thread = threading.Thread(target=serve, args=(wire.listen(source, PORT), model, len(peers)))
    server_thread.start()
    connections = {r: wire.connect(options.addresses[r], PORT, source) for r in peers}
    choice = random.Random(options.rank)
    with steps.StepLog(options) as log:
        for number in range(options.steps):
            with log.step(number):
                time.sleep(options.compute_seconds * choice.uniform(0.9, 1.1))
                steps.delay_straggler(options)
                peer = choice.choice(peers)
                wire.send_number(connections[peer], number)
                wire.receive_into(connections[peer], memoryview(other).cast("B"))
                model += (other - model) / 2
    finish(connections, server_thread)


main()
