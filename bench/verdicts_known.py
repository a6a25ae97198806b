# SPDX-License-Identifier: Apache-2.0
"""Experiments of a known cause: what bench/verdicts runs.

Each has the text with the cause, the text without it, and what a verdict on it should name. Without it all else is the same, so
that the difference of two runs is what the cause costs. Small enough for a machine with two processors."""

import dataclasses


@dataclasses.dataclass
class Known:
    name: str
    cause: str
    where: tuple[str, ...]  # any of these; empty: no place is asked for
    text: str
    without: str = ""  # nothing where there is no other network to compare with


def network(rate="200Mbit", delay="500us", hosts=4, more="", links=()):
    text = f'[network]\nhosts = {hosts}\nrate = "{rate}"\ndelay = "{delay}"\n{more}'
    for link in links:
        text += f"[[network.link]]\n{link}"
    return text


def link(at, direction="", **settings):
    lines = [f'at = "{at}"'] + ([f'direction = "{direction}"'] if direction else [])
    return "\n".join(lines + [f'{key} = "{value}"' for key, value in settings.items()]) + "\n"


def job(strategy="ring", size="2MB", compute="20ms", steps=8, more=""):
    return f'[[job]]\nstrategy = "{strategy}"\nparameters = "{size}"\ncompute_time = "{compute}"\nsteps = {steps}\nwarmup = 1\n{more}'


def traffic(kind, source, sink, load, more=""):
    return f'[[traffic]]\nkind = "{kind}"\nfrom = "{source}"\nto = "{sink}"\nload = {load}\n{more}'


def slow(name, at, direction, rate, a_job, **of_network):
    where = (f"{at} {direction}",) if direction else (f"{at} from_host", f"{at} to_host")
    return Known(name, "slow_link", where, network(links=[link(at, direction, rate=rate)], **of_network) + a_job,
                 network(**of_network) + a_job)


def core(name, more, rate, a_job, **of_network):
    def text(core_rate):
        return network(more=f'{more}core_rate = "{core_rate}"\n', **of_network) + a_job
    return Known(name, "slow_link", ("core",), text(rate), text("800Mbit"))


def late(name, host, factor, strategy, size="1MB", compute="80ms"):
    more = f'straggler = "{host}"\nstraggler_factor = {factor}\n'
    return Known(name, "late_rank", (host,), network() + job(strategy, size, compute, more=more),
                 network() + job(strategy, size, compute))


def lossy(name, a_job, more="", links=(), where=(), **of_network):
    return Known(name, "loss", where, network(more=more, links=links, **of_network) + a_job, network(**of_network) + a_job)


def beside(name, crossing, where, a_job, **of_network):
    return Known(name, "cross_traffic", where, network(**of_network) + a_job + crossing, network(**of_network) + a_job)


def far(name, delay, a_job, **of_network):
    return Known(name, "latency", (), network(delay=delay, **of_network) + a_job, network(delay="20us", **of_network) + a_job)


def small_buffer(name, buffer, a_job, **of_network):
    return Known(name, "window", (), network(more=f'socket_buffer = "{buffer}"\n', **of_network) + a_job, network(**of_network) + a_job)


def two_jobs(name, first, second, **of_network):
    return Known(name, "other_job", (), network(**of_network) + first + second, network(**of_network) + first)


def hosts(*names, name):
    return f'name = "{name}"\nhosts = [{", ".join(chr(34) + each + chr(34) for each in names)}]\n'


KNOWN = [
    slow("slow-in-ring", "host1", "to_host", "50Mbit", job()),
    slow("slow-out-ring", "host2", "from_host", "60Mbit", job()),
    slow("slow-both-tree", "host3", "", "50Mbit", job("tree", "1MB")),
    slow("slow-in-server", "host3", "to_host", "50Mbit", job("ps", "1MB", more="servers = 1\n")),
    slow("slow-out-halving", "host1", "from_host", "50Mbit", job("halving_doubling")),
    core("core-ring", 'topology = "dumbbell"\n', "50Mbit", job()),
    core("core-all-to-all", 'topology = "dumbbell"\n', "60Mbit", job("all_to_all", "1MB")),
    core("core-leaves", 'topology = "leafspine"\nleaves = 2\nspines = 1\n', "50Mbit", job()),
    late("late-ring", "host2", 2, "ring"),
    late("late-server", "host1", 2.5, "ps", size="400kB"),
    late("late-halving", "host0", 2, "halving_doubling"),
    late("late-tree", "host3", 3, "tree", size="500kB"),
    lossy("loss-ring", job(size="400kB", compute="10ms", steps=20), more='loss = "1%"\n', rate="100Mbit", delay="1ms", hosts=3),
    lossy("loss-one-link", job(size="400kB", compute="10ms", steps=20), links=[link("host1", "to_host", loss="3%")],
          where=("host1 to_host", "host1"), rate="100Mbit", delay="1ms", hosts=3),
    lossy("loss-server", job("ps", "200kB", compute="10ms", steps=20, more="servers = 1\n"), more='loss = "1%"\n', rate="100Mbit",
          delay="2ms", hosts=3),
    beside("cross-long-ring", traffic("long", "host2", "host0", 1, "flows = 4\n"), ("host2 to host0",), job()),
    beside("cross-constant-ring", traffic("constant", "host3", "host1", 0.7), ("host3 to host1",), job()),
    beside("cross-long-server", traffic("long", "host0", "host3", 1, "flows = 6\n"), ("host0 to host3",),
           job("ps", "600kB", more="servers = 1\n")),
    far("latency-ring", "10ms", job(size="20kB", compute="10ms")),
    far("latency-halving", "15ms", job("halving_doubling", "20kB", compute="10ms")),
    far("latency-tree", "10ms", job("tree", "15kB", compute="10ms")),
    Known("compute-ring", "compute", (), network() + job(size="300kB", compute="300ms")),
    Known("compute-server", "compute", (), network() + job("ps", "200kB", compute="400ms", more="servers = 1\n")),
    Known("compute-clique", "compute", (), network() + job("clique", "100kB", compute="300ms")),
    Known("bandwidth-ring", "bandwidth", (), network() + job(size="4MB", compute="20ms")),
    small_buffer("window-ring", "64KB", job(size="1MB"), delay="5ms", hosts=2),
    small_buffer("window-server", "48KB", job("ps", "600kB", more="servers = 1\n"), delay="6ms", hosts=3),
    Known("idle-ring", "idle_restart", (), network(rate="200Mbit", delay="25ms", hosts=2) + job(size="1500kB", compute="2500ms", steps=4)),
    two_jobs("jobs-one-core", job(size="1500kB", more=hosts("host0", "host2", name="first")),
             job(size="1500kB", steps=8, more=hosts("host1", "host3", name="second")), more='topology = "dumbbell"\ncore_rate = "200Mbit"\n'),
    two_jobs("jobs-one-link", job(size="1500kB", more=hosts("host0", "host1", name="first")),
             job(size="3MB", steps=6, more=hosts("host2", "host1", name="second"))),
]
