"""Four ranks that train over Gloo, each with a trace of torch.profiler; LATE_RANK names one that sleeps before each step.

  LATE_RANK=1 TRACES=late trainwire exec late.toml --keep -- python3 train.py       # needs python3-torch
  TRACES=slow trainwire exec slow.toml --keep -- python3 train.py

Of the captures each host's own packets were taken and merged; of the traces operations under 40 us were left out.
"""
import os
import time

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile, schedule

late, out = int(os.environ.get("LATE_RANK", "-1")), os.environ["TRACES"]
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.set_num_threads(1)
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*[torch.nn.Linear(128, 128) for _ in range(4)]))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
marks = open(os.environ["TRAINWIRE_MARKS"], "a") if "TRAINWIRE_MARKS" in os.environ else None
os.makedirs(out, exist_ok=True)
with profile(activities=[ProfilerActivity.CPU], record_shapes=True, schedule=schedule(wait=1, warmup=1, active=6, repeat=1),
             on_trace_ready=lambda trace: trace.export_chrome_trace(f"{out}/rank{rank}.json")) as trace:
    for step in range(9):
        start = time.time()
        if rank == late:
            time.sleep(0.1)
        model(torch.randn(32, 128)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
        if marks:
            marks.write(f"{rank},{step},{start},{time.time()}\n")
            marks.flush()
        trace.step()
