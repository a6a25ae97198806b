"""PyTorch's fully_shard (FSDP2) over NCCL, all ranks on one GPU: a small transformer on random tokens.

    train.py [--steps 20] [--batch 8] [--blocks 4] [--width 512]
"""
import argparse
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

options = argparse.ArgumentParser()
options.add_argument("--steps", type=int, default=20)
options.add_argument("--batch", type=int, default=8)
options.add_argument("--blocks", type=int, default=4)
options.add_argument("--width", type=int, default=512)
options = options.parse_args()
VOCABULARY, LENGTH = 8192, 128


class Transformer(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, options.width)
        self.blocks = nn.ModuleList(
            nn.TransformerEncoderLayer(options.width, 8, 4 * options.width, dropout=0, batch_first=True) for _ in range(options.blocks))
        self.head = nn.Linear(options.width, VOCABULARY)

    def forward(self, tokens):
        x = self.words(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(x)


torch.cuda.set_device(0)
dist.init_process_group("nccl")
torch.manual_seed(0)
model = Transformer().cuda()
if dist.get_rank() == 0:
    print(f"{sum(p.numel() * p.element_size() for p in model.parameters())} bytes of parameters", flush=True)
for block in model.blocks:
    fully_shard(block)
fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
tokens = torch.randint(VOCABULARY, (options.batch, LENGTH), device="cuda")
marks = open(os.environ["TRAINWIRE_MARKS"], "a") if "TRAINWIRE_MARKS" in os.environ else None
for step in range(options.steps):
    start = time.time()
    loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten())
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
