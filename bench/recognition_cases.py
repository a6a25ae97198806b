# SPDX-License-Identifier: Apache-2.0
"""Labelled captures, drawn by seed. A case makes capture files in a folder and says what is true of them:

jobs: strategy (as analyze names it; None where packets cannot tell), order (rings, host numbers), bytes, steps, times of step ends; operation
slow: (host, direction, bits/s); straggler: host. None: there is none. `asks` has what the case is asked.
"""
import csv
import json
import pathlib
import random
import struct
import subprocess

import recognition_wire
from recognition_wire import Wire, ring_half

# What a strategy looks like from outside where hosts have one rank each.
SEEN_AS = {"hierarchical": "ring", "tree": "star", "folded_halving_doubling": "halving_doubling", "opposite_rings": "ring"}
PLAIN = ["ring", "ring", "ring", "star", "clique", "binary_tree_star", "halving_doubling", "folded_halving_doubling", "recursive_doubling",
         "reduce_broadcast", "opposite_rings", "double_tree", "ps", "ps"]


def simulate(program, folder, text):
    (folder / "experiment.toml").write_text(text)
    done = subprocess.run([program, "sim", "experiment.toml", "--pcap", "-o", "run", "--no-page", "-q"], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr + text)
    return sorted((folder / "run").glob("host*.pcap"), key=lambda path: int(path.stem[4:]))


def step_ends(folder, job="job0"):
    with open(folder / "run" / "steps.csv") as file:
        return [int(row["end_ns"]) / 1e9 for row in csv.DictReader(file) if row["rank"] == "0" and row["phase"] == "step" and row["job"] == job]


def cut(path, first, last):
    """Leaves the packets of [first, last), in seconds after the first packet of all simulations."""
    data, at, kept = path.read_bytes(), 24, []
    unit = 1e-9 if struct.unpack("<I", data[:4])[0] == 0xA1B23C4D else 1e-6
    while at < len(data):
        seconds, part, length, _ = struct.unpack("<IIII", data[at:at + 16])
        if first <= seconds - 946684800 + part * unit < last:
            kept.append(data[at:at + 16 + length])
        at += 16 + length
    path.write_bytes(data[:24] + b"".join(kept))


def job_text(strategy, ranks, draw, hosts=None, servers=1, more=""):
    """A [[job]] and what is true of it, without its steps' times."""
    size = draw.choice([200_000, 500_000, 1_000_000, 2_000_000, 3_000_000, 4_000_000])
    steps = draw.choice([4, 6, 8, 12, 20, 40]) if size <= 2_000_000 else draw.choice([4, 6, 8, 12])
    compute = draw.choice([0.005, 0.02, 0.05, 0.1])
    text = (f'[[job]]\nstrategy = "{strategy}"\nranks = {ranks}\nparameters = "{size}B"\ncompute_time = "{compute * 1000:g}ms"\n'
            f'steps = {steps}\nbroadcast = {"true" if draw.random() < 0.3 else "false"}\ncompute_jitter = {draw.choice([0, 0.02, 0.1])}\n{more}')
    if draw.random() < 0.3:
        text += f'bucket = "{size // draw.choice([2, 3])}B"\noverlap = {draw.choice(["true", "false"])}\n'
    if strategy == "ps":
        text += f"servers = {servers}\n"
    if hosts:
        text += "hosts = [" + ", ".join(f'"host{host}"' for host in hosts) + "]\n"
    return text, {"bytes": size, "steps": steps, "compute": compute}


def network_text(hosts, draw):
    rate = draw.choice([100, 200, 500, 1000])
    delay = draw.choice([20, 100, 500])
    loss = draw.choice([0, 0, 0, 0, 0.0001, 0.001])
    return f'[network]\nhosts = {hosts}\nrate = "{rate}Mbit"\ndelay = "{delay}us"\nloss = {loss}\n', rate * 1e6


def truth_of(strategy, hosts, job, ranks=None):
    order = list(hosts) if strategy in ("ring", "hierarchical", "opposite_rings") else None
    seen = SEEN_AS.get(strategy, strategy)
    if strategy == "binary_tree_star" and len(hosts) == 3:
        seen = "star"
    if strategy in ("halving_doubling", "recursive_doubling") and len(hosts) == 2 or len(hosts) == 2:
        seen, order = None, None
    return {"strategy": seen, "order": order, "hosts": list(hosts), "operation": "parameter_server" if strategy == "ps" and len(hosts) > 2 else "all_reduce", **job}


def plain(program, folder, draw, trouble=None):
    """One job with one rank on each host."""
    strategy = draw.choice(PLAIN)
    hosts = draw.randint(2, 9) if strategy not in ("ps",) else draw.randint(3, 7)
    if trouble and trouble != "loss":
        hosts = max(hosts, 3)
    servers = draw.randint(1, max(1, hosts // 3))
    network, rate = network_text(hosts, draw)
    more, truth = "", {"slow": None, "straggler": None, "asks": {"steps", "strategy", "bytes", "period", "order", "slow", "straggler"}}
    workers = hosts - servers if strategy == "ps" else hosts
    if trouble == "straggler":
        strategy = draw.choice(["ring", "ring", "clique", "halving_doubling", "ps", "opposite_rings"])
        late = draw.randrange(workers)
        truth["straggler"] = late
        more = f'straggler = "host{late}"\nstraggler_factor = {draw.choice([2, 3])}\n'
    if trouble == "slow":
        strategy = draw.choice(["ring", "ring", "ring", "clique", "opposite_rings", "halving_doubling"])
        host, direction, share = draw.randrange(hosts), draw.choice(["from_host", "to_host"]), draw.choice([0.1, 0.2, 0.4])
        truth["slow"] = (host, direction, rate * share)
        network += f'[[network.link]]\nat = "host{host}"\ndirection = "{direction}"\nrate = "{rate * share:.0f}bit"\n'
    text, job = job_text(strategy, hosts, draw, servers=servers, more=more)
    if trouble == "straggler":
        text = text.replace(f'compute_time = "{job["compute"] * 1000:g}ms"', 'compute_time = "60ms"')
    if trouble == "cross":
        a, b = draw.sample(range(hosts), 2)
        kind = draw.choice(["websearch", "long", "burst", "constant"])
        text += f'[[traffic]]\nkind = "{kind}"\nfrom = "host{a}"\nto = "host{b}"\nload = {draw.choice([0.1, 0.3, 0.5])}\n'
        truth["asks"] = truth["asks"] - {"slow", "straggler"}
    if not trouble and truth["slow"] is None:
        pass
    captures = simulate(program, folder, network + text)
    job["ends"] = step_ends(folder)
    truth["jobs"] = [truth_of(strategy, range(hosts), job)]
    if trouble == "part":
        ends = job["ends"]
        cut_at = draw.uniform(ends[0], ends[len(ends) // 2]), draw.uniform(ends[-2], ends[-1] + 0.1)
        for path in captures:
            cut(path, *cut_at)
        job["ends"] = truth["jobs"][0]["ends"] = [end for end in ends if cut_at[0] < end < cut_at[1]]
        truth["jobs"][0]["steps"] = len(job["ends"])
        truth["asks"] = truth["asks"] - {"slow", "straggler"} if len(job["ends"]) >= 3 else set()
    if trouble == "one_side":
        captures = [captures[draw.randrange(hosts)]]
        truth["asks"] = {"steps", "period"}
    return captures, truth


def packed(program, folder, draw):
    """Several ranks on each host."""
    strategy = draw.choice(["ring", "hierarchical", "star", "binary_tree_star", "halving_doubling", "double_tree", "ps", "clique", "recursive_doubling"])
    hosts, each = draw.randint(2, 5), draw.choice([2, 2, 3, 4])
    network, _ = network_text(hosts, draw)
    text, job = job_text(strategy, hosts * each, draw, servers=each)
    captures = simulate(program, folder, network + text)
    job["ends"] = step_ends(folder)
    job = truth_of(strategy, range(hosts), job)
    if hosts > 2 and strategy == "star":
        job["strategy"] = "star"
    return captures, {"jobs": [job], "slow": None, "straggler": None, "asks": {"steps", "strategy", "bytes", "period", "slow", "straggler"}}


def two(program, folder, draw):
    """Two jobs, on hosts of their own or on the same."""
    shared = draw.random() < 0.5
    first = draw.randint(2, 4)
    second = draw.randint(2, 4)
    hosts = max(first, second) if shared else first + second
    groups = [list(range(first)), list(range(hosts - second, hosts))]
    if shared and groups[0] == groups[1] and first > 2:
        groups[1] = groups[1][:1] + groups[1][:0:-1]
    network, _ = network_text(hosts, draw)
    text, jobs = network, []
    for number, group in enumerate(groups):
        strategy = draw.choice(["ring", "ring", "clique", "halving_doubling", "ps"])
        if len(group) == 2 or shared:
            strategy = "ring"
        one, job = job_text(strategy, len(group), draw, hosts=group, more=f'start = "{draw.choice([0, 0, 30])}ms"\n')
        text += one
        jobs.append(truth_of(strategy, group, job))
    captures = simulate(program, folder, text)
    for number, job in enumerate(jobs):
        job["ends"] = step_ends(folder, f"job{number}")
    return captures, {"jobs": jobs, "slow": None, "straggler": None, "asks": {"jobs"}, "shared": shared}


def pipelined(program, folder, draw):
    """A ring as NCCL makes it: pieces of at most 512 KiB; buckets; sometimes a slow link or a late host."""
    hosts = draw.randint(2, 8)
    rate = draw.choice([500e6, 1e9, 5e9])
    wire = Wire(hosts, rate, draw.random())
    truth = {"slow": None, "straggler": None, "asks": {"steps", "strategy", "bytes", "period", "order", "slow", "straggler"}}
    trouble = draw.choice([None, None, "slow", "late"]) if hosts > 2 else None
    if trouble == "slow":
        host, direction, share = draw.randrange(hosts), draw.choice(["from_host", "to_host"]), draw.choice([0.1, 0.2, 0.4])
        (wire.out if direction == "from_host" else wire.into)[host] = rate * share
        truth["slow"] = (host, direction, rate * share)
    size = draw.choice([1, 4, 8, 20]) * 1_000_000
    buckets = draw.choice([[1.0], [0.1, 0.9], [0.05, 0.6, 0.35]])
    steps = draw.choice([4, 6, 10, 20])
    order = list(range(hosts))
    draw.shuffle(order)
    compute, late = draw.choice([0.02, 0.06, 0.15]), draw.randrange(hosts)
    if trouble == "late":
        truth["straggler"] = late
    after, ends = [[] for _ in range(hosts)], []
    for _ in range(steps):
        for number, part in enumerate(buckets):
            time = compute * draw.choice([0.4, 0.6]) if number == 0 else compute * 0.4 / len(buckets)
            begun = [[wire.add(host, None, 0, after[host], time * draw.gauss(1, 0.02) * (2.5 if trouble == "late" and host == late else 1))]
                     for host in range(hosts)]
            after = ring_half(wire, order, int(size * part) // 4 // hosts * 4 * hosts, begun, 524288, rounds=2 * (hosts - 1))
        ends.append(after[order[0]])
    times = wire.play()
    wire.write(folder / "wire.pcap")
    job = {"strategy": "ring" if hosts > 2 else None, "order": order if hosts > 2 else None, "hosts": order, "operation": "all_reduce", "bytes": size,
           "steps": steps, "ends": [max(times[one][1] for one in end) for end in ends]}
    return [folder / "wire.pcap"], {**truth, "jobs": [job]}


def sharded(program, folder, draw):
    """Every layer gathered forwards and again backwards, its gradients scattered: rings, as FSDP does over NCCL."""
    hosts, layers = draw.randint(3, 8), draw.randint(2, 6)
    wire = Wire(hosts, draw.choice([500e6, 1e9, 5e9]), draw.random())
    size = draw.choice([400_000, 1_000_000, 3_000_000]) // 4 // hosts * 4 * hosts
    head = int(draw.choice([0.6, 1.7, 3]) * size) // 4 // hosts * 4 * hosts
    steps = draw.choice([4, 6, 10, 20])
    order = list(range(hosts))
    compute = draw.choice([0.002, 0.005, 0.02])
    after, ends = [[] for _ in range(hosts)], []
    sizes = ([head] if head else []) + [size] * layers

    def half(one, pause):
        nonlocal after
        begun = [[wire.add(host, None, 0, after[host], pause * draw.gauss(1, 0.05))] for host in range(hosts)]
        after = ring_half(wire, order, one, begun, 524288)

    for _ in range(steps):
        for number, one in enumerate(sizes):
            half(one, compute if number else 3 * compute)
        for one in reversed(sizes):
            half(one, compute)
            half(one, compute)
        ends.append(after[0])
    times = wire.play()
    wire.write(folder / "wire.pcap")
    job = {"strategy": "ring", "order": order, "hosts": order, "operation": "sharded", "bytes": sum(sizes), "steps": steps,
           "ends": [max(times[one][1] for one in end) for end in ends]}
    return [folder / "wire.pcap"], {"jobs": [job], "slow": None, "straggler": None, "asks": {"steps", "strategy", "bytes", "period", "order", "operation"}}


def fsdp(program, folder, draw):
    """As PyTorch's fully_shard does over NCCL: the root is kept, or gathered again first, or everything is kept (ZeRO-2). Layers are gathered one
    ahead of what is computed, and collectives follow one another: there are only the pauses that computing leaves."""
    hosts, layers, way = draw.choice([2, 3, 4, 6, 8]), draw.randint(2, 6), draw.choice(["root kept", "root again", "all kept"])
    wire = Wire(hosts, draw.choice([1e9, 2e9, 5e9]), draw.random())
    unit = 4 * hosts
    layer = draw.choice([1_000_000, 3_000_000, 7_000_000]) // unit * unit
    head = int(draw.choice([0.3, 0.67, 1.7, 2.66]) * layer) // unit * unit
    forwards = [head] + [layer] * layers
    steps, compute, pause = draw.choice([6, 10, 16]), draw.choice([0.0005, 0.002, 0.01]), draw.choice([0, 0.02, 0.08])
    order = list(range(hosts))
    sent, done, ends = [[] for _ in order], [[] for _ in order], []  # the last collective, the last that was computed

    def wait(after, time):
        return [[wire.add(host, None, 0, after[host], time * draw.gauss(1, 0.05))] for host in order]

    def exchange(size, after):
        nonlocal sent
        sent = ring_half(wire, order, size, [sent[host] + after[host] for host in order], 524288)

    for _ in range(steps):
        done = wait([sent[host] + done[host] for host in order], pause + compute)
        before = done
        for size in forwards:
            exchange(size, before)
            before, done = done, wait([sent[host] + done[host] for host in order], compute * size / layer)
        back = list(range(layers, -1, -1))
        again = {"root kept": back[:-1], "root again": [0] + back[:-1], "all kept": []}[way]
        done = wait(done, compute * head / layer)
        if again:
            exchange(forwards[again[0]], done)
        for number, place in enumerate(back):
            if number + 1 < len(again):
                exchange(forwards[again[number + 1]], before)
            before, done = done, wait([sent[host] + done[host] for host in order], 2 * compute * forwards[place] / layer)
            exchange(forwards[place], done)
        ends.append(sent[0])
    times = wire.play()
    wire.write(folder / "wire.pcap")
    job = {"strategy": "ring" if hosts > 2 else None, "order": order if hosts > 2 else None, "hosts": order,
           "operation": "either" if way == "all kept" else "sharded", "way": way, "bytes": sum(forwards), "steps": steps,
           "ends": [max(times[one][1] for one in end) for end in ends]}
    return [folder / "wire.pcap"], {"jobs": [job], "slow": None, "straggler": None, "asks": {"steps", "strategy", "bytes", "period", "order", "operation"}}


def trees(program, folder, draw):
    """NCCL's two trees, half of the payload through each, in pieces."""
    hosts, steps = draw.choice([3, 4, 5, 6, 7, 8]), draw.choice([4, 6, 10, 20])
    wire = Wire(hosts, draw.choice([500e6, 1e9, 5e9]), draw.random())
    size, compute = draw.choice([1, 4, 12]) * 1_000_000, draw.choice([0.02, 0.06, 0.15])
    buckets = draw.choice([[1.0], [0.1, 0.9], [0.05, 0.6, 0.35]])
    moved = (lambda rank: hosts - 1 - rank) if hosts % 2 == 0 else (lambda rank: (rank + 1) % hosts)

    def above(rank):
        bit = rank & -rank
        return (rank ^ bit) | (bit << 1) if ((rank ^ bit) | (bit << 1)) < hosts else rank ^ bit

    def tree(number, share, begun, last):
        name = moved if number else (lambda rank: rank)
        below = {rank: [one for one in range(1, hosts) if above(one) == rank] for rank in range(hosts)}
        pieces = max(1, -(-share // 524288))
        for piece in range(pieces):
            part, came = share // pieces + (1 if piece < share % pieces else 0), {}

            def up(rank):
                waits = [wire_up for one in below[rank] for wire_up in up(one)] + list(begun[name(rank)])
                return [wire.add(name(rank), name(above(rank)), part, waits, flow=number)] if rank else waits

            def down(rank, waits):
                for one in below[rank]:
                    came[one] = wire.add(name(rank), name(one), part, waits, flow=number)
                    last[name(one)].append(came[one])
                    down(one, [came[one]])

            all_up = up(0)
            last[name(0)] += all_up
            down(0, all_up)

    after, ends = [[] for _ in range(hosts)], []
    for _ in range(steps):
        for number, part in enumerate(buckets):
            time = compute * (0.6 if number == 0 else 0.4 / len(buckets))
            begun = [[wire.add(host, None, 0, after[host], time * draw.gauss(1, 0.02))] for host in range(hosts)]
            after = [[] for _ in range(hosts)]
            for which in (0, 1):
                tree(which, int(size * part) // 8 * 4, begun, after)
        ends.append(after[0])
    times = wire.play()
    wire.write(folder / "wire.pcap")
    job = {"strategy": "double_tree", "order": None, "hosts": list(range(hosts)), "operation": "all_reduce", "bytes": size, "steps": steps,
           "ends": [max(times[one][1] for one in end) for end in ends]}
    return [folder / "wire.pcap"], {"jobs": [job], "slow": None, "straggler": None, "asks": {"steps", "strategy", "bytes", "period", "slow", "straggler"}}


def nothing(program, folder, draw):
    """Traffic that is no training."""
    hosts = draw.randint(3, 6)
    wire = Wire(hosts, draw.choice([200e6, 1e9]), draw.random())
    kind = draw.choice(["token", "echo", "calls", "timer", "bulk", "gossip", "line", "backup", "replicas", "walk"])
    {"token": token, "echo": echo, "calls": calls, "timer": timer, "bulk": bulk, "gossip": gossip, "line": line, "backup": backup,
     "replicas": replicas, "walk": walk}[kind](wire, hosts, draw)
    wire.play()
    wire.write(folder / "wire.pcap")
    return [folder / "wire.pcap"], {"jobs": [], "slow": None, "straggler": None, "asks": {"none"}, "kind": kind}


def token(wire, hosts, draw):
    """Something goes round and round, one link at a time."""
    size, last = draw.choice([20_000, 200_000, 1_000_000]), []
    for i in range(draw.choice([20, 60, 100])):
        last = [wire.add(i % hosts, (i + 1) % hosts, size, last, draw.choice([0.0005, 0.001, 0.01]))]


def echo(wire, hosts, draw):
    """Clients send, a server sends the same back, each at his own pace."""
    size, count, pause = draw.choice([10_000, 64_000, 300_000]), draw.choice([20, 60]), draw.choice([0.001, 0.01, 0.03])
    for client in range(1, hosts):
        last, own = [], draw.uniform(0.6, 1.5)
        for _ in range(count):
            there = wire.add(client, 0, size, last, pause * own * draw.expovariate(1))
            last = [wire.add(0, client, size, [there], 0.0002)]


def calls(wire, hosts, draw):
    """Small questions, answers of random sizes."""
    for client in range(1, hosts):
        last = []
        for _ in range(80):
            there = wire.add(client, 0, draw.randint(200, 3000), last, draw.expovariate(1 / 0.01))
            last = [wire.add(0, client, int(draw.lognormvariate(10, 1)), [there], 0.0005)]


def timer(wire, hosts, draw):
    """Everybody reports to one, or to all, by the clock."""
    period, size, to_all = draw.choice([0.05, 0.2]), draw.choice([2_000, 50_000]), draw.random() < 0.5
    for tick in range(40):
        for host in range(hosts):
            for target in range(hosts) if to_all else [0]:
                if target != host:
                    wire.add(host, target, size, [], tick * period + 0.001 * host + draw.uniform(0, 0.0005))


def bulk(wire, hosts, draw):
    for host in range(hosts):
        last = []
        for _ in range(100):
            last = [wire.add(host, (host + 1) % hosts, 400_000, last, 0)]


def gossip(wire, hosts, draw):
    for host in range(hosts):
        last = []
        for _ in range(60):
            other = draw.choice([one for one in range(hosts) if one != host])
            last = [wire.add(host, other, draw.choice([3_000, 8_000, 20_000]), last, draw.expovariate(1 / 0.02))]


def line(wire, hosts, draw):
    """Blocks are handed on from host to host."""
    last = []
    for _ in range(30):
        last = [wire.add(0, 1, 1_000_000, last, draw.uniform(0.001, 0.03))]
        at = last
        for host in range(1, hosts - 1):
            at = [wire.add(host, host + 1, 1_000_000, at, 0.0002)]


def backup(wire, hosts, draw):
    last = []
    for _ in range(20):
        for host in range(1, hosts):
            last = [wire.add(host, 0, draw.randint(200_000, 3_000_000), last, draw.uniform(0.01, 0.2))]


def replicas(wire, hosts, draw):
    """A client writes in batches; the first host sends each to its copies, which answer shortly."""
    last = []
    for _ in range(60):
        write = wire.add(hosts - 1, 0, draw.choice([60_000, 120_000]), last, draw.expovariate(1 / 0.02))
        copies = [wire.add(0, host, 60_000, [write], 0.0002) for host in range(1, hosts - 1)]
        last = [wire.add(0, hosts - 1, 500, [wire.add(host, 0, 300, [copy]) for host, copy in zip(range(1, hosts - 1), copies)])]


def walk(wire, hosts, draw):
    """Two at a time, by chance, send each other something of one size."""
    last = [[] for _ in range(hosts)]
    for _ in range(150):
        a, b = draw.sample(range(hosts), 2)
        done = wire.add(a, b, 150_000, last[a] + last[b], draw.expovariate(1 / 0.01))
        last[a] = last[b] = [done]


FAMILIES = {
    "plain": plain,
    "slow": lambda *words: plain(*words, trouble="slow"),
    "straggler": lambda *words: plain(*words, trouble="straggler"),
    "cross": lambda *words: plain(*words, trouble="cross"),
    "part": lambda *words: plain(*words, trouble="part"),
    "one_side": lambda *words: plain(*words, trouble="one_side"),
    "packed": packed, "two": two, "pipelined": pipelined, "sharded": sharded, "nothing": nothing, "fsdp": fsdp, "trees": trees,
}
NAMES = ["plain", "plain", "slow", "straggler", "cross", "part", "one_side", "packed", "two", "pipelined", "sharded", "nothing", "nothing"]
BY_NAME = ["fsdp", "trees"]  # only where --only names them: what a seed draws beside them stays as it was


def make(program, folder, family, seed):
    return FAMILIES[family](program, pathlib.Path(folder), random.Random(f"{family} {seed}"))
