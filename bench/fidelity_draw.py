#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws experiments over the ranges of bench/fidelity.d: fidelity_draw.py SEED [LEAST MOST] prints them, on so many hosts (2 to 6); the same
draws the same.

Payloads are sized by a rough estimate so that a run takes a few seconds: nothing else depends on it. Rates are what two
processors can emulate."""

import math
import random
import sys

COUNT = 40
MOST_BPS_OF_ALL_HOSTS = 2e9
RUN_S = 10.0
MSS = 1448

RATES_MBIT = (50, 100, 150, 200, 300, 500, 1000)
DELAYS_US = (50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000)
# (rounds, bytes over the busiest link for a byte of payload), of P ranks.
STRATEGIES = {
    "ring": lambda p: (2 * (p - 1), 2 * (p - 1) / p),
    "opposite_rings": lambda p: (2 * (p - 1), 2 * (p - 1) / p),
    "hierarchical": lambda p: (2 * (p - 1), 2 * (p - 1) / p),
    "double_tree": lambda p: (2 * math.log2(p), 3),
    "halving_doubling": lambda p: (2 * math.log2(p), 3),
    "tree": lambda p: (2, 2 * (p - 1)),
    "binary_tree_star": lambda p: (2 * math.log2(p), 4),
    "star": lambda p: (2, 2 * (p - 1)),
    "clique": lambda p: (2, 2 * (p - 1) / p),
    "ps": lambda p: (2, 2 * (p - 1)),
    "pair_averaging": lambda p: (1, 1.5),
    "all_to_all": lambda p: (1, 1),
}


def draw(seed: int, least: int = 2, most: int = 6) -> dict[str, str]:
    """Texts of experiment files by name."""
    names = list(STRATEGIES)
    # Strategies take turns; ring and parameter server, which most jobs use, have more of them.
    turns = [*names, "ring", "ring", "ps", "ps"]
    random.Random(f"{seed} strategies").shuffle(turns)
    texts = {}
    for number in range(COUNT):
        strategy = turns[number % len(turns)]
        texts[f"drawn-{seed}-{number + 1:02}-{strategy.replace('_', '-')}"] = experiment(random.Random(f"{seed} {number}"), strategy, (least, most))
    return texts


def experiment(dice: random.Random, strategy: str, hosts: tuple[int, int]) -> str:
    network = draw_network(dice, hosts)
    jobs = [draw_job(dice, strategy, network["hosts"])]
    links, traffic = [], []
    disturbance = dice.choice(("none", "none", "slow link", "traffic", "traffic", "straggler", "two jobs"))
    share = 1.0
    if disturbance == "slow link":
        share = dice.choice((0.25, 0.5))
        links.append({"at": f"host{dice.randrange(network['hosts'])}", "direction": dice.choice(("to_host", "from_host", "both")),
                      "rate": f"{share * mbit_of(network):g}Mbit"})
    elif disturbance == "traffic":
        share = 0.5
        traffic.append(draw_traffic(dice, network["hosts"]))
    elif disturbance == "straggler":
        jobs[0] |= {"straggler": f"host{dice.randrange(network['hosts'] - 1)}", "straggler_factor": dice.choice((1.5, 2, 3))}
    elif disturbance == "two jobs" and network["hosts"] > 3:
        share = 0.5
        jobs = two_jobs(dice, jobs[0], network["hosts"])
    for job in jobs:
        set_amount(dice, job, network, share)
    return text_of(network, links, jobs, traffic)


def draw_network(dice: random.Random, least_most: tuple[int, int]) -> dict:
    hosts = dice.randint(*least_most)
    rates = [rate for rate in RATES_MBIT if rate * 1e6 * hosts <= MOST_BPS_OF_ALL_HOSTS]
    network = {"hosts": hosts, "rate": f"{dice.choice(rates)}Mbit", "delay": f"{dice.choice(DELAYS_US)}us"}
    loss = dice.choice((0, 0, 0, 0, 0.001, 0.01))
    if loss:
        network["loss"] = loss
    queue = dice.choice(("default", "default", "default", "deep", "shallow"))
    if queue == "deep":
        network["queue"] = "1MB"
    if queue == "shallow":
        network["queue"] = dice.choice(("15KB", "30KB", "64KB"))
    if queue != "default":
        network["allow_shallow_queue"] = True
    control = dice.choice(("cubic", "cubic", "cubic", "reno", "bbr"))
    if control != "cubic":
        network["congestion_control"] = control
    if hosts >= 4 and dice.random() < 0.2:
        network |= {"topology": "dumbbell", "core_rate": network["rate"]}
    return network


def draw_job(dice: random.Random, strategy: str, hosts: int) -> dict:
    job = {"strategy": strategy}
    if strategy == "ps":
        job["servers"] = dice.choice((1, 1, 2)) if hosts > 3 else 1
        if dice.random() < 0.3:
            job["asynchronous"] = True
    elif dice.random() < 0.15 or strategy == "hierarchical":
        job["ranks"] = 2 * hosts
    if "tree" in strategy:
        job["pieces"] = dice.choice((1, 4, 8))
    job["compute_time"] = f"{dice.choice((0, 10, 30, 100, 300))}ms"
    if dice.random() < 0.2:
        job["compute_jitter"] = 0.1
    return job


def draw_traffic(dice: random.Random, hosts: int) -> dict:
    sender, receiver = dice.sample(range(hosts), 2)
    kind = dice.choice(("long", "websearch", "constant"))
    traffic = {"kind": kind, "from": f"host{sender}", "to": f"host{receiver}", "load": 1.0 if kind == "long" else dice.choice((0.2, 0.4, 0.6))}
    if kind == "long":
        traffic["flows"] = dice.choice((1, 2, 4))
    return traffic


def two_jobs(dice: random.Random, job: dict, hosts: int) -> list[dict]:
    """The job on every second host beside a ring on the others."""
    job.pop("ranks", None)
    job.pop("servers", None)
    first = {"name": "first", **job, "hosts": [f"host{host}" for host in range(0, hosts, 2)]}
    second = {"name": "second", "strategy": "ring", "compute_time": f"{dice.choice((10, 30, 100))}ms",
              "hosts": [f"host{host}" for host in range(1, hosts, 2)]}
    return [first, second]


def set_amount(dice: random.Random, job: dict, network: dict, share: float) -> None:
    """Bytes for a step of 0.05 to 0.4 s on the line, and steps for a run of seconds, twenty at least: under loss the median of four is
    chance (a star of 40 kB under 1 % of loss: 276 to 1,009 ms)."""
    ranks = job.get("ranks", len(job.get("hosts", [])) or network["hosts"])
    rounds, bytes_moved = STRATEGIES[job["strategy"]](max(2, ranks))
    on_the_line_s = 0.05 * 8 ** dice.random()
    size = max(40e3, on_the_line_s * rate_bps(network) * share / 8 / bytes_moved)
    step_s = (bytes_moved * size * 8 / rate_bps(network) / share + rounds * 2 * delay_s(network)
              + float(job["compute_time"].removesuffix("ms")) / 1e3 * job.get("straggler_factor", 1))
    job["parameters"] = f"{max(1, round(size / 1e4)) * 10}kB"
    if dice.random() < 0.2 and not job.get("asynchronous") and job["strategy"] not in ("pair_averaging", "all_to_all"):
        job |= {"bucket": f"{max(1, round(size / 4e4)) * 10}kB", "overlap": dice.random() < 0.5}
    job |= {"steps": max(20, min(60, int(RUN_S / step_s))), "warmup": 1}


def mbit_of(network: dict) -> float:
    return float(network["rate"].removesuffix("Mbit"))


def delay_s(network: dict) -> float:
    return float(network["delay"].removesuffix("us")) / 1e6


def rate_bps(network: dict) -> float:
    """The line's, or what loss leaves of it by 1.22 MSS / (RTT sqrt(p)); loss and delay are of two links."""
    line = mbit_of(network) * 1e6
    if "loss" not in network or network.get("congestion_control") == "bbr":
        return line
    return min(line, 1.22 * 8 * MSS / (4 * delay_s(network) + 0.5e-3) / math.sqrt(2 * network["loss"]))


def text_of(network: dict, links: list[dict], jobs: list[dict], traffic: list[dict]) -> str:
    sections = [("[network]", network), *(("[[network.link]]", link) for link in links), *(("[[job]]", job) for job in jobs),
                *(("[[traffic]]", entry) for entry in traffic)]
    return "\n".join(f"{heading}\n" + "".join(f"{key} = {value_of(value)}\n" for key, value in table.items())
                     for heading, table in sections)


def value_of(value) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(value_of(entry) for entry in value) + "]"
    return f'"{value}"' if isinstance(value, str) else f"{value:g}"


if __name__ == "__main__":
    for drawn, file_text in draw(*map(int, sys.argv[1:])).items():
        print(f"# {drawn}\n{file_text}")
