# SPDX-License-Identifier: Apache-2.0
"""Synchronous parameter servers over plain sockets. Ranks 0..servers-1 serve, the others train.

A step of a worker: pull each tensor (an 8-byte request, then the tensor), compute, push each tensor's
gradient. A server answers the pulls of step s+1 when the pushes of step s are in from every worker.
Tensors go to the servers round-robin, in pieces of equal size.
"""

import socket
import threading
import time

import numpy

import steps
import wire

PORT = 2222


class Server:
    def __init__(self, options):
        self._workers = len(options.addresses) - options.servers
        self._steps = options.steps
        count = len(range(options.rank, options.tensors, options.servers))
        self._parameters = [numpy.zeros(options.bytes // options.tensors // 4, numpy.float32) for _ in range(count)]
        self._lock = threading.Lock()
        self._all_pushed = threading.Barrier(self._workers)

    def serve(self, address):
        listener = wire.listen(address, PORT)
        threads = [threading.Thread(target=self._serve_worker, args=(wire.accept(listener),))
                   for _ in range(self._workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def _serve_worker(self, connection):
        gradient = numpy.zeros_like(self._parameters[0])
        for _ in range(self._steps):
            for parameter in self._parameters:
                wire.receive_number(connection)
                connection.sendall(memoryview(parameter).cast("B"))
            for parameter in self._parameters:
                wire.receive_into(connection, memoryview(gradient).cast("B"))
                with self._lock:
                    parameter -= gradient
            self._all_pushed.wait()


def train(options):
    size = options.bytes // options.tensors // 4
    tensors = [numpy.zeros(size, numpy.float32) for _ in range(options.tensors)]
    source = options.addresses[options.rank]
    servers = [wire.connect(a, PORT, source) for a in options.addresses[:options.servers]]
    with steps.StepLog(options) as log:
        for number in range(options.steps):
            with log.step(number):
                for index, tensor in enumerate(tensors):
                    wire.send_number(servers[index % options.servers], index)
                    wire.receive_into(servers[index % options.servers], memoryview(tensor).cast("B"))
                time.sleep(options.compute_seconds)
                steps.delay_straggler(options)
                for index, tensor in enumerate(tensors):
                    servers[index % options.servers].sendall(memoryview(tensor).cast("B"))
    for server in servers:
        server.shutdown(socket.SHUT_RDWR)


def main():
    parser = steps.parser()
    parser.add_argument("--servers", type=int, default=1)
    parser.add_argument("--bytes", type=int, default=4_000_000)
    parser.add_argument("--tensors", type=int, default=4)
    parser.add_argument("--compute-seconds", type=float, default=0.1)
    options = parser.parse_args()
    if options.rank < options.servers:
        Server(options).serve(options.addresses[options.rank])
    else:
        train(options)


main()
