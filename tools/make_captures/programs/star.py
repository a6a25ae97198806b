# SPDX-License-Identifier: Apache-2.0
"""A star all-reduce over torch.distributed send/recv: all send to rank 0, it adds and sends back."""

import os
import time

import torch
import torch.distributed as dist

import steps


def reduce_at_root(gradients, ranks):
    incoming = [torch.empty_like(gradients) for _ in ranks]
    for work in [dist.irecv(buffer, src=r) for r, buffer in zip(ranks, incoming)]:
        work.wait()
    for buffer in incoming:
        gradients += buffer
    for work in [dist.isend(gradients, dst=r) for r in ranks]:
        work.wait()


def exchange(options, gradients):
    if options.rank == 0:
        reduce_at_root(gradients, range(1, len(options.addresses)))
    else:
        dist.send(gradients, dst=0)
        dist.recv(gradients, src=0)


def main():
    parser = steps.parser()
    parser.add_argument("--bytes", type=int, default=4_000_000)
    parser.add_argument("--compute-seconds", type=float, default=0.1)
    options = parser.parse_args()
    os.environ["GLOO_SOCKET_IFNAME"] = "eth0"
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://{options.addresses[0]}:29511", rank=options.rank,
                            world_size=len(options.addresses))
    gradients = torch.zeros(options.bytes // 4)
    with steps.StepLog(options) as log:
        for number in range(options.steps):
            with log.step(number):
                time.sleep(options.compute_seconds)
                steps.delay_straggler(options)
                exchange(options, gradients)
    dist.barrier()


main()
