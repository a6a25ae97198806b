"""A small model, trained by PyTorch's DistributedDataParallel over Gloo: 15 steps."""
import os
import time

import torch
import torch.distributed as dist

dist.init_process_group("gloo")
torch.set_num_threads(1)
model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(8)])
model = torch.nn.parallel.DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
marks = open(os.environ["TRAINWIRE_MARKS"], "a")
for step in range(15):
    start = time.time()
    model(torch.randn(32, 512)).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
    marks.write(f"{dist.get_rank()},{step},{start},{time.time()}\n")
    marks.flush()
