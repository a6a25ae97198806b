"""PyTorch's DistributedDataParallel over NCCL, all ranks on one GPU: a convolutional network on random pictures.

    train.py [--steps 20] [--batch 32] [--width 64]

Width 64 has the shape of ResNet-18 without its shortcuts: 11 million parameters, 44 MB of gradients a step.
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=20)
options.add_argument("--batch", type=int, default=32)
options.add_argument("--width", type=int, default=64)
options = options.parse_args()


def network(width):
    layers, channels = [], 3
    for stage, blocks in enumerate((2, 4, 4, 4)):
        for block in range(blocks):
            wide = width << stage
            layers += [nn.Conv2d(channels, wide, 3, stride=2 if block == 0 else 1, padding=1, bias=False), nn.BatchNorm2d(wide), nn.ReLU()]
            channels = wide
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, 1000))


# All ranks have the same GPU, which is why its number is not LOCAL_RANK here.
torch.cuda.set_device(0)
dist.init_process_group("nccl")
torch.manual_seed(dist.get_rank())
model = nn.parallel.DistributedDataParallel(network(options.width).cuda(), device_ids=[0])
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
loss_of = nn.CrossEntropyLoss()
pictures = torch.randn(options.batch, 3, 128, 128, device="cuda")
labels = torch.randint(1000, (options.batch,), device="cuda")
marks = open(os.environ["TRAINWIRE_MARKS"], "a") if "TRAINWIRE_MARKS" in os.environ else None
if dist.get_rank() == 0:
    bytes_of = sum(p.numel() * p.element_size() for p in model.parameters())
    print(f"{bytes_of} bytes of gradients, NCCL {'.'.join(map(str, torch.cuda.nccl.version()))}", flush=True)
for step in range(options.steps):
    start = time.time()
    loss = loss_of(model(pictures), labels)
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
    if marks:
        marks.write(f"{dist.get_rank()},{step},{start},{time.time()}\n")
        marks.flush()
    if dist.get_rank() == 0:
        print(f"step {step}: loss {loss.item():.3f}, {1000 * (time.time() - start):.0f} ms", flush=True)
dist.barrier()
dist.destroy_process_group()
