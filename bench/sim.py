#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bench/sim runs and prints: sim.py TRAINWIRE PEERS_FOLDER --rounds N --limit-s S --parts LIST.

Times are of whole commands, from start to exit: reading the experiment and writing the run folder (without its page) included. A
simulation that ends with an error or takes longer than the limit has that in its place."""

import argparse
import csv
import json
import os
import pathlib
import random
import resource
import statistics
import subprocess
import tempfile
import time

RATE_BPS, DELAY_S = 10e9, 1e-6
RING_BYTES, BULK_BYTES, QUEUE_BYTES = 100_000_000, 100_000_000, 262_144
# Of an Ethernet frame, as trainwire counts a link's rate.
PAYLOAD_SHARE = 1448 / 1514
# ns-3's point-to-point link has a header of 2 bytes instead of 14: it gets a line that carries as much payload.
NS3_RATE_BPS = RATE_BPS * 1502 / 1514
SIMGRID_LEAN = ("--cfg=network/model:CM02", "--cfg=network/crosstraffic:0", "--cfg=network/TCP-gamma:0",
                f"--cfg=network/bandwidth-factor:{PAYLOAD_SHARE:.6f}")
QUIET_SIMGRID = "--log=root.thres:error"
MEMORY_LIMIT_BYTES = 12 << 30

FAT_TREE = """[network]
topology = "fattree"
hosts = {hosts}
rate = "10Gbit"
delay = "1us"
"""
STEP = """
[[job]]
{job}
parameters = "{size}"
compute = "none"
broadcast = false
steps = 1
"""
TWO_HOPS = f"""[network]
hosts = 2
rate = "10Gbit"
delay = "10us"
queue = {QUEUE_BYTES}

[[job]]
strategy = "broadcast"
connections = {{flows}}
parameters = "{BULK_BYTES}B"
compute = "none"
broadcast = false
steps = 1
"""


class Timing:
    """Of a command's rounds: seconds of each, what the last one printed, or the sentence that ended it."""

    def __init__(self) -> None:
        self.elapsed_s: list[float] = []
        self.result: dict = {}
        self.sentence = ""

    def middle(self) -> float:
        return statistics.median(self.elapsed_s)

    def text(self) -> str:
        if self.sentence:
            return self.sentence
        if len(self.elapsed_s) == 1:
            return f"{self.middle():.3g}"
        return f"{self.middle():.3g} ({min(self.elapsed_s):.3g} to {max(self.elapsed_s):.3g})"


def execute(timing: Timing, command: list, limit_s: int) -> str:
    """What it prints; nothing when it failed."""
    if timing.sentence:
        return ""
    start = time.monotonic()
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=limit_s, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        timing.sentence = f"not done after {limit_s} s"
        return ""
    elapsed = time.monotonic() - start
    if done.returncode != 0:
        lines = (done.stderr or done.stdout).strip().splitlines()
        timing.sentence = lines[-1].removeprefix("trainwire: ") if lines else f"ended with {done.returncode}"
        return ""
    timing.elapsed_s.append(elapsed)
    return done.stdout


def limit_memory() -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT_BYTES, MEMORY_LIMIT_BYTES))


class Bench:
    def __init__(self, options: argparse.Namespace, folder: pathlib.Path):
        self.trainwire = options.trainwire.absolute()
        self.peers = options.peers.absolute()
        self.rounds = options.rounds
        self.limit_s = options.limit_s
        self.folder = folder
        help_text = subprocess.run([self.trainwire, "sim", "--help"], capture_output=True, text=True, check=True).stdout
        self.has_levels = "--level" in help_text

    def sim(self, timing: Timing, text: str, level: str) -> None:
        """Leaves the document of the run, and the packets that links carried, in the timing's result."""
        if level == "packet" and not self.has_levels:
            timing.sentence = "this program has no --level"
            return
        experiment, run = self.folder / "experiment.toml", self.folder / "run"
        experiment.write_text(text, encoding="utf-8")
        out = execute(timing, [self.trainwire, "sim", experiment, "--json", "--no-page", "--force", "-o", run,
                               *(["--level", level] if self.has_levels else [])], self.limit_s)
        if out:
            document = json.loads(out)
            steps = run / "steps.csv"
            seconds = last_end_s(steps) if steps.exists() else document["jobs"][0]["step"]["median_s"]
            timing.result = {"seconds": seconds, "engine": document["engine"], "packet_hops": packets_over(run / "links.csv")}

    def simgrid(self, timing: Timing, ranks: int, settings: tuple[str, ...]) -> None:
        program = self.peers / "simgrid_ring"
        if not program.exists():
            timing.sentence = "not built"
            return
        out = execute(timing, [program, ranks, RING_BYTES, RATE_BPS, DELAY_S, *settings, QUIET_SIMGRID], 4 * self.limit_s)
        if out:
            timing.result = {"seconds": float(out)}

    def ns3(self, timing: Timing, flows: int) -> None:
        program = self.peers / "ns3_bulk"
        if not program.exists():
            timing.sentence = "not built"
            return
        out = execute(timing, [program, flows, BULK_BYTES, round(NS3_RATE_BPS), 10e-6, QUEUE_BYTES], self.limit_s)
        if out:
            timing.result = json.loads(out)


def last_end_s(steps: pathlib.Path) -> float:
    """When the last rank was done; the step of the record is the mean of all, and a sender is done before its receiver."""
    with steps.open(encoding="ascii") as file:
        return max(int(row["end_ns"]) for row in csv.DictReader(file)) / 1e9


def packets_over(links: pathlib.Path) -> int:
    if not links.exists():
        return 0
    with links.open(encoding="ascii") as file:
        return sum(int(link["packets"] or 0) for link in csv.DictReader(file))


def ring(ranks: int) -> str:
    return FAT_TREE.format(hosts=ranks) + STEP.format(job='strategy = "ring"', size="100MB")


def ratio(peer: Timing, own: Timing) -> str:
    return "" if peer.sentence or own.sentence else f"{peer.middle() / own.middle():.0f}x"


def simulated(timing: Timing) -> str:
    return f"{1e3 * timing.result['seconds']:.1f}" if timing.result else ""


def flow_level(bench: Bench) -> None:
    print("\n### Flow level: one ring all-reduce of 100 MB on a fat tree of 10 Gbit/s, seconds\n")
    print("| ranks | trainwire | goal | SimGrid, lean | ratio | SimGrid, as it comes | ratio | goal | step in ms: trainwire, SimGrid lean, "
          "as it comes |\n|---|---|---|---|---|---|---|---|---|")
    for ranks in (64, 256, 1024):
        own, lean, full = Timing(), Timing(), Timing()
        for _ in range(bench.rounds):
            bench.sim(own, ring(ranks), "flow")
            bench.simgrid(lean, ranks, SIMGRID_LEAN)
            bench.simgrid(full, ranks, ())
        goals = ("< 0.1", "≥ 300x") if ranks == 1024 else ("", "")
        print(f"| {ranks:,} | {own.text()} | {goals[0]} | {lean.text()} | {ratio(lean, own)} | {full.text()} | {ratio(full, own)} | "
              f"{goals[1]} | {simulated(own)}, {simulated(lean)}, {simulated(full)} |", flush=True)
    print("\nLean: CM02 without acknowledgements and window, headers as trainwire counts them. As it comes: LV08. A message of "
          "SimGrid begins when its receiver waits for it, so the longest way sets the pace of all rounds; one of trainwire begins when it is sent.")


def slow_links(count: int, hosts: int) -> str:
    chosen = random.Random(1).sample(range(hosts), count)
    return "".join(f'\n[[network.link]]\nat = "host{host}"\ndirection = "to_host"\nrate = "{rate}Gbit"\n'
                   for host, rate in zip(chosen, [2, 4, 5, 8] * count))


def scale(bench: Bench) -> None:
    print("\n### Flow level, trainwire alone: one exchange on a fat tree of 10 Gbit/s\n")
    print("| strategy | ranks | | seconds | goal | step in ms | engine |\n|---|---|---|---|---|---|---|")
    many = 100_000
    rows = [("ring", 10_000, "", "", 2), ("ring", 30_000, "", "", None), ("ring", many, "", "", 10),
            ("ring", many, "100 slow links", "", 10)]
    rows += [(strategy, many, what, keys, 10) for strategy, what, keys in (
        ("hierarchical", "8 ranks a host", "ranks = 100000"), ("halving_doubling", "", ""), ("double_tree", "4 pieces", "pieces = 4"),
        ("ps", "100 servers", "servers = 100"))]
    for strategy, ranks, what, keys, goal in rows:
        hosts = ranks // 8 if strategy == "hierarchical" else ranks
        text = FAT_TREE.format(hosts=hosts) + (slow_links(100, hosts) if "slow" in what else "")
        text += STEP.format(job=f'strategy = "{strategy}"\n{keys}', size="1GB")
        own = Timing()
        for _ in range(bench.rounds):
            bench.sim(own, text, "flow")
        print(f"| {strategy} | {ranks:,} | {what} | {own.text()} | {f'< {goal}' if goal else ''} | {simulated(own)} | "
              f"{own.result.get('engine', '')} |", flush=True)


def packet_level(bench: Bench) -> None:
    print("\n### Packet level: 100 MB over two hops of 10 Gbit/s, 10 us each, queues of 256 KiB, CUBIC\n")
    print("| flows | | seconds | goal | ratio | packet-hops | million a second | ratio | goal | goodput in Gbit/s | over ns-3's | goal |\n"
          "|---|---|---|---|---|---|---|---|---|---|---|---|")
    for flows in (1, 8):
        own, peer = Timing(), Timing()
        for _ in range(bench.rounds):
            bench.sim(own, TWO_HOPS.format(flows=flows), "packet")
            bench.ns3(peer, flows)
        print(f"| {flows} | trainwire | {own.text()} | < 0.15 | {ratio(peer, own)} | {hops(own)} | {over(speed(own), speed(peer), 'x')} | ≥ 20x | "
              f"{gigabits(own)} | {over(goodput(own), goodput(peer), '')} | 0.99 to 1.01 |")
        print(f"| | ns-3 | {peer.text()} | | | {hops(peer)} | | | {gigabits(peer)} | | |", flush=True)
    print(f"\nns-3's lines are {NS3_RATE_BPS / 1e9:.3f} Gbit/s: its frames have 12 bytes less around the same payload. A packet-hop is a packet "
          "on a link, data or acknowledgement (hosts that merge segments acknowledge less often); a second is one of the whole command.")


def speed(timing: Timing) -> float:
    """Packet-hops a second."""
    return timing.result["packet_hops"] / timing.middle() if timing.result else 0.0


def goodput(timing: Timing) -> float:
    return BULK_BYTES * 8 / timing.result["seconds"] if timing.result else 0.0


def hops(timing: Timing) -> str:
    return f"{timing.result['packet_hops']:,} | {speed(timing) / 1e6:.3g}" if timing.result else " | "


def gigabits(timing: Timing) -> str:
    return f"{goodput(timing) / 1e9:.3f}" if timing.result else ""


def over(own: float, peer: float, unit: str) -> str:
    return f"{own / peer:.{1 if unit else 4}f}{unit}" if own and peer else ""


def sweep(bench: Bench) -> None:
    print("\n### 10,000 what-ifs of a job with 1,000 ranks, flow level\n")
    text = FAT_TREE.format(hosts=1000) + STEP.format(job='strategy = "ring"', size="100MB")
    text += '\n[sweep]\n"network.rate" = "1Gbit..100Gbit in 100"\n"job.parameters" = "10MB..1000MB in 100"\n'
    experiment = bench.folder / "sweep.toml"
    experiment.write_text(text, encoding="utf-8")
    own = Timing()
    execute(own, [bench.trainwire, "sim", experiment, "--no-page", "--quiet", "--force", "-o", bench.folder / "sweep",
                  *(["--level", "flow"] if bench.has_levels else [])], 5 * bench.limit_s)
    print(f"seconds: {own.text()} (goal < 60)")


def main() -> None:
    parts = {"flow": flow_level, "scale": scale, "packet": packet_level, "sweep": sweep}
    arguments = argparse.ArgumentParser(description="times simulations of trainwire, SimGrid and ns-3 in turn")
    arguments.add_argument("trainwire", type=pathlib.Path)
    arguments.add_argument("peers", type=pathlib.Path)
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--limit-s", type=int, default=60)
    arguments.add_argument("--parts", default=",".join(parts))
    options = arguments.parse_args()
    if options.rounds < 1:
        arguments.error("--rounds: at least one is needed")
    unknown = [part for part in options.parts.split(",") if part not in parts]
    if unknown:
        arguments.error(f"--parts: no part is named {unknown[0]}; there are {', '.join(parts)}")
    print(f"{options.rounds} rounds in turn, median (least to most); {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f} before")
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(options, pathlib.Path(folder))
        for part in options.parts.split(","):
            parts[part](bench)
    print(f"\nload {os.getloadavg()[0]:.1f} after")


if __name__ == "__main__":
    main()
