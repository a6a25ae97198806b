"""bench/kineto: makes a trace, and reads it with trainwire and with json.load in turn."""
import argparse
import os
import statistics
import subprocess
import sys
import tempfile

LOAD = "import json, sys; json.load(open(sys.argv[1]))"


def event(i):
    """What a step of a training is made of, in the shares that torch 2.11 writes: mostly calls that are of no interest here."""
    ts = f"{1000 + 25 * i}.{i % 1000:03d}"
    kind = i % 12
    if kind < 4:
        return (f'{{\n    "ph": "X", "cat": "cpu_op", "name": "aten::conv2d", "pid": 2, "tid": 45,\n    "ts": {ts}, "dur": 24.449,\n    "args": {{\n'
                f'      "External id": {i},"Record function id": 0, "Concrete Inputs": ["", "", "", "[2, 2]", "[3, 3]", "[1, 1]", "1"], '
                f'"Input type": ["float", "float", "", "ScalarList", "ScalarList", "ScalarList", "Scalar"], '
                f'"Input Strides": [[150528, 50176, 224, 1], [147, 49, 7, 1], [], [], [], [], []], '
                f'"Input Dims": [[32, 3, 224, 224], [64, 3, 7, 7], [], [], [], [], []], "Ev Idx": {i}\n    }}\n  }}')
    if kind < 8:
        return (f'{{\n    "ph": "{"s" if kind % 2 else "f"}", "id": {i}, "pid": 2, "tid": 45, "ts": {ts},\n'
                f'    "cat": "ac2g", "name": "ac2g", "bp": "e"\n  }}')
    if kind < 11:
        return (f'{{\n    "ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 2, "tid": 45,\n    "ts": {ts}, "dur": 7.1,\n'
                f'    "args": {{\n      "External id": {i}, "cbid": 211, "correlation": {i}\n    }}\n  }}')
    if i % 2400 == 11:
        return (f'{{\n    "ph": "X", "cat": "kernel", "name": "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "pid": 0, '
                f'"tid": 18,\n    "ts": {ts}, "dur": 500.5,\n    "args": {{\n      "External id": {i}, "Collective name": "allreduce", "In msg nelems": 4096, '
                f'"Out msg nelems": 4096, "Group size": 4, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1, 2, 3]"\n    }}\n  }}')
    return (f'{{\n    "ph": "X", "cat": "kernel", "name": "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, '
            f'std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)", "pid": 0, "tid": 7,\n    "ts": {ts}, "dur": 12.5,\n'
            f'    "args": {{\n      "External id": {i}, "queued": 0, "device": 0, "context": 1, "stream": 7, "correlation": {i}, "registers per thread": 32, '
            f'"shared memory": 0, "blocks per SM": 1.5, "warps per SM": 6, "grid": [198, 1, 1], "block": [128, 1, 1], "est. achieved occupancy %": 9\n    }}\n  }}')


def make(path, megabytes):
    with open(path, "w", encoding="ascii") as out:
        out.write('{"schemaVersion": 1, "distributedInfo": {"rank": 0, "world_size": 4}, "baseTimeNanoseconds": 1790857026000000000,\n  "traceEvents": [\n  ')
        i = 0
        while out.tell() < megabytes * 1_000_000:
            out.write(",\n  ".join(event(j) for j in range(i, i + 2400)) + ",\n  ")
            i += 2400
        out.write(event(i) + "\n  ]\n}\n")


def once(command):
    start = os.times().elapsed
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    assert status == 0, command
    return os.times().elapsed - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--megabytes", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--trace")
    parser.add_argument("--alone", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.trace or f"{folder}/rank0.json"
        if not options.trace:
            make(path, options.megabytes)
        size = os.path.getsize(path) / 1e6
        commands = {"trainwire analyze": [options.program, "analyze", "--no-folder", "--quiet", path]}
        if not options.alone:
            commands["json.load"] = [sys.executable, "-c", LOAD, path]
        found = {name: [] for name in commands}
        for _ in range(options.rounds):
            for name, command in commands.items():
                found[name].append(once(command))
        print(f"{size:.0f} MB, medians of {options.rounds}, in turn\n\n| | time | processor time | rate | memory |\n|---|---|---|---|---|")
        processor = {}
        for name, runs in found.items():
            time, processor[name], memory = (statistics.median(each) for each in zip(*runs))
            print(f"| {name} | {time:.3f} s | {processor[name]:.3f} s | {size / processor[name]:,.0f} MB/s | {memory:,.0f} MB |")
        if len(processor) == 2:
            times = processor["json.load"] / processor["trainwire analyze"]
            print(f"\n{times:.1f} times as fast, by processor time")


main()
