"""One rank of a job for tools/make_captures/nccl: a small transformer on random tokens over NCCL, all ranks on one GPU.

Rank 0 leaves what is true of the job in TRUTH_FOLDER: bytes of parameters, and when each step began and ended.
"""
import argparse
import json
import os
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

options = argparse.ArgumentParser()
options.add_argument("--mode", choices=("ddp", "fsdp", "zero2"), default="ddp")
options.add_argument("--steps", type=int, default=12)
options.add_argument("--width", type=int, default=512)
options.add_argument("--blocks", type=int, default=4)
options.add_argument("--bucket-mb", type=float, default=25)
options.add_argument("--pause-ms", type=float, default=0)
options.add_argument("--accumulate", type=int, default=1)
options.add_argument("--late-rank", type=int, default=-1)
options.add_argument("--late-ms", type=float, default=0)
options = options.parse_args()
VOCABULARY, LENGTH, BATCH = 2048, 64, 4


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
parameter_bytes = sum(p.numel() * p.element_size() for p in model.parameters())
if options.mode == "ddp":
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0], bucket_cap_mb=options.bucket_mb)
else:
    for block in model.blocks:
        fully_shard(block, reshard_after_forward=options.mode == "fsdp")
    fully_shard(model, reshard_after_forward=options.mode == "fsdp")
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
tokens = torch.randint(VOCABULARY, (BATCH, LENGTH), device="cuda")
marks = open(os.environ["TRAINWIRE_MARKS"], "a") if "TRAINWIRE_MARKS" in os.environ else None
starts, ends = [], []
for step in range(options.steps):
    starts.append(time.time())
    time.sleep((options.pause_ms + (options.late_ms if dist.get_rank() == options.late_rank else 0)) / 1000)
    for part in range(options.accumulate):
        last = part == options.accumulate - 1
        if options.mode == "ddp":
            model.require_backward_grad_sync = last
        nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.flatten()).backward()
    optimizer.step()
    optimizer.zero_grad()
    torch.cuda.synchronize()
    ends.append(time.time())
    if marks:
        marks.write(f"{dist.get_rank()},{step},{starts[-1]},{ends[-1]}\n")
        marks.flush()
if dist.get_rank() == 0 and "TRUTH_FOLDER" in os.environ:
    with open(os.path.join(os.environ["TRUTH_FOLDER"], f"job-{os.getpid()}.txt"), "w") as told:
        told.write("TRUTH " + json.dumps({"mode": options.mode, "parameter_bytes": parameter_bytes, "world": dist.get_world_size(),
                                          "starts": starts, "ends": ends}) + "\n")
dist.barrier()
dist.destroy_process_group()
