# SPDX-License-Identifier: Apache-2.0
"""PyTorch DistributedDataParallel over Gloo: real training on synthetic data, default buckets."""

import os

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as functional
from torch.nn.parallel import DistributedDataParallel

import steps


class Block(nn.Module):
    """The basic residual block of ResNet-18."""

    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(outputs)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(outputs)
        self.skip = nn.Conv2d(inputs, outputs, 1, stride, bias=False) if inputs != outputs else nn.Identity()

    def forward(self, x):
        y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
        return torch.relu(y + self.skip(x))


def resnet(width):
    widths = [width, width, 2 * width, 4 * width, 8 * width]
    blocks = []
    for stage in range(4):
        blocks.append(Block(widths[stage], widths[stage + 1], 1 if stage == 0 else 2))
        blocks.append(Block(widths[stage + 1], widths[stage + 1], 1))
    stem = [nn.Conv2d(3, width, 3, 2, 1, bias=False), nn.BatchNorm2d(width), nn.ReLU()]
    return nn.Sequential(*stem, *blocks, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(8 * width, 10))


def mlp(*widths):
    layers = [nn.Flatten()]
    for inputs, outputs in zip(widths, widths[1:]):
        layers += [nn.Linear(inputs, outputs), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


MODELS = {
    "mlp_small": (lambda: mlp(784, 512, 512, 512, 10), (1, 28, 28)),
    "mlp_large": (lambda: mlp(784, 1536, 1536, 1536, 10), (1, 28, 28)),
    "resnet_narrow": (lambda: resnet(48), (3, 32, 32)),
    "resnet_tiny": (lambda: resnet(20), (3, 32, 32)),
}


def train(options, model, shape):
    optimiser = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    generator = torch.Generator().manual_seed(options.rank)
    with steps.StepLog(options) as log:
        for number in range(options.steps):
            with log.step(number):
                images = torch.randn(options.batch, *shape, generator=generator)
                labels = torch.randint(0, 10, (options.batch,), generator=generator)
                optimiser.zero_grad()
                loss = functional.cross_entropy(model(images), labels)
                steps.delay_straggler(options)
                loss.backward()
                optimiser.step()


def print_buckets(facts):
    """Bucket sizes of the first step, and of all others: DDP regroups by the order gradients became ready."""
    for name in ("bucket_sizes", "rebuilt_bucket_sizes"):
        print(name, facts.get(name, "").replace(" ", ""))


def main():
    parser = steps.parser()
    parser.add_argument("--model", choices=MODELS, required=True)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--store-port", type=int, default=29500)
    options = parser.parse_args()
    os.environ["GLOO_SOCKET_IFNAME"] = "eth0"
    torch.set_num_threads(1)
    torch.manual_seed(1)
    dist.init_process_group("gloo", init_method=f"tcp://{options.addresses[0]}:{options.store_port}",
                            rank=options.rank, world_size=len(options.addresses))
    make, shape = MODELS[options.model]
    model = DistributedDataParallel(make())
    if options.rank == 0:
        print("model_bytes", sum(p.numel() * p.element_size() for p in model.parameters()))
        print("buffer_bytes", sum(b.numel() * b.element_size() for b in model.buffers()))
    train(options, model, shape)
    if options.rank == 0:
        print_buckets(model._get_ddp_logging_data())
    dist.barrier()
    dist.destroy_process_group()


main()
