#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One rank of real_training_measure.py: real_training_rank.py MODEL BATCH STEPS nccl|gloo|alone FOLDER.

Trains on random input and writes a line a step, its time in ms, into FOLDER/RANK; "alone" has no exchange, and begins when all ranks
are there."""

import os
import pathlib
import sys
import time

import torch
import torch.distributed as dist

model_name, batch, steps, manner, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4], pathlib.Path(sys.argv[5])
rank, ranks = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
os.environ.setdefault("GLOO_SOCKET_IFNAME", "eth0")
torch.cuda.set_device(0)
torch.backends.cudnn.benchmark = True
torch.backends.cudnn.allow_tf32 = False


def made():
    if model_name == "gpt2":
        from transformers import GPT2Config, GPT2LMHeadModel
        return GPT2LMHeadModel(GPT2Config(use_cache=False))
    import torchvision
    names = {"mobilenetv2-torchvision": "mobilenet_v2"}
    return getattr(torchvision.models, names.get(model_name, model_name.removesuffix("-torchvision")))()


def meet() -> None:
    (folder / f"there-{rank}").touch()
    while not all((folder / f"there-{other}").exists() for other in range(ranks)):
        time.sleep(0.001)


torch.manual_seed(rank)
network = made().cuda()
if manner != "alone":
    dist.init_process_group(manner)
    network = torch.nn.parallel.DistributedDataParallel(network, device_ids=[0])
optimizer = torch.optim.SGD(network.parameters(), lr=0.01, momentum=0.9)
loss_of = torch.nn.CrossEntropyLoss()
if model_name == "gpt2":
    data = torch.randint(0, 50257, (batch, 1024), device="cuda")
else:
    data, labels = torch.randn(batch, 3, 224, 224, device="cuda"), torch.randint(1000, (batch,), device="cuda")
meet()
times = []
for _ in range(steps):
    begin = time.perf_counter()
    optimizer.zero_grad()
    loss = network(data, labels=data).loss if model_name == "gpt2" else loss_of(network(data), labels)
    loss.backward()
    optimizer.step()
    torch.cuda.synchronize()
    times.append(1e3 * (time.perf_counter() - begin))
(folder / str(rank)).write_text("\n".join(map(str, times)) + "\n", encoding="utf-8")
if manner != "alone":
    dist.barrier()
    dist.destroy_process_group()
