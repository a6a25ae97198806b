#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures `trainwire traffic` between two network namespaces: traffic.py TRAINWIRE [--rounds N] [--parts LIST].

Expects to be in a network namespace of its own (bench/traffic sees to that); the other one lives in a child."""

import argparse
import ctypes
import json
import os
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE, THERE = "10.94.0.1", "10.94.0.2"
PORT = 5209
TOKEN = "00112233445566778899aabbccddeeff"
PAYLOAD_SHARE = 1448 / 1514
LINK_BPS = 1e9


def die_with_parent() -> None:
    ctypes.CDLL("libc.so.6").prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


class Network:
    """Two namespaces: ours, and that of a child that sleeps."""

    def __init__(self) -> None:
        self.other = subprocess.Popen(["unshare", "--net", "sleep", "infinity"], preexec_fn=die_with_parent)
        own = os.readlink("/proc/self/ns/net")
        while os.readlink(f"/proc/{self.other.pid}/ns/net") == own:
            time.sleep(0.01)
        self.here("ip link set lo up")
        self.here(f"ip link add twa type veth peer name twb netns {self.other.pid}")
        self.here(f"ip addr add {HERE}/24 dev twa")
        self.here("ip link set twa up")
        self.there("ip link set lo up")
        self.there(f"ip addr add {THERE}/24 dev twb")
        self.there("ip link set twb up")

    def here(self, command: str) -> None:
        subprocess.run(command.split(), check=True)

    def there(self, command: str) -> None:
        subprocess.run([*self.inside(), *command.split()], check=True)

    def inside(self) -> list[str]:
        return ["nsenter", "-t", str(self.other.pid), "-n"]

    def shape(self) -> None:
        self.here(f"tc qdisc replace dev twa root tbf rate {LINK_BPS:.0f}bit burst 64kb limit 1mb")

    def sent_bytes(self) -> int:
        # /sys still shows the namespace that this one was made from.
        with open("/proc/self/net/dev", encoding="ascii") as file:
            line = next(line for line in file if line.strip().startswith("twa:"))
        return int(line.split(":")[1].split()[8])

    def close(self) -> None:
        self.other.kill()
        self.other.wait()


class Sink:
    def __init__(self, network: Network, program: str, *words: str) -> None:
        self.process = subprocess.Popen(
            [*network.inside(), *words, program, "traffic", "sink", "--bind", THERE, "--port", str(PORT), "--json"],
            env=os.environ | {"TRAINWIRE_TOKEN": TOKEN}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            preexec_fn=die_with_parent)
        self.process.stderr.readline()  # it listens

    def close(self) -> dict:
        self.process.send_signal(signal.SIGINT)
        return json.loads(self.process.communicate(timeout=20)[0])


def send(program: str, options: list[str], words: tuple[str, ...] = ()) -> dict:
    """What `traffic send` reports, with the processor time that it took."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run([*words, program, "traffic", "send", "--to", f"{THERE}:{PORT}", "--json", *options],
                         env=os.environ | {"TRAINWIRE_TOKEN": TOKEN}, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"traffic send {' '.join(options)}: {run.stderr.strip()}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    result = json.loads(run.stdout)
    result["cpu_s"] = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return result


def iperf(network: Network, flows: int, seconds: int) -> float:
    server = subprocess.Popen([*network.inside(), "iperf3", "-s", "-1", "-p", str(PORT + 1)],
                              stdout=subprocess.DEVNULL, preexec_fn=die_with_parent)
    time.sleep(0.5)
    run = subprocess.run(["iperf3", "-c", THERE, "-p", str(PORT + 1), "-P", str(flows), "-t", str(seconds), "-J"],
                         capture_output=True, text=True, check=True)
    server.wait(timeout=20)
    return json.loads(run.stdout)["end"]["sum_received"]["bits_per_second"]


def spread(values: list[float], unit: float) -> str:
    return f"{statistics.median(values) / unit:.2f} ({min(values) / unit:.2f} to {max(values) / unit:.2f})"


def long_flows(network: Network, program: str, rounds: int) -> None:
    print("\n### Long flows without a rate, unshaped veth, Gbit/s of payload\n")
    print("| connections | trainwire | iperf3 | ratio of medians | processor s/GB of the sender |\n|---|---|---|---|---|")
    for flows in (1, 4):
        ours, theirs, cost = [], [], []
        for _ in range(rounds):
            sink = Sink(network, program)
            result = send(program, ["--kind", "long", "--flows", str(flows), "--duration", "5s"])
            sink.close()
            ours.append(result["achieved_bps"])
            cost.append(result["cpu_s"] / (result["sent_bytes"] / 1e9))
            theirs.append(iperf(network, flows, 5))
        ratio = statistics.median(ours) / statistics.median(theirs)
        print(f"| {flows} | {spread(ours, 1e9)} | {spread(theirs, 1e9)} | **{ratio:.2f}** | "
              f"{statistics.median(cost):.2f} |", flush=True)


def starts(network: Network, program: str, folder: str) -> None:
    print("\n### Web-search flows started per second by one thread on one processor (sizes divided by 1000, mean 1.7 kB)\n")
    print("| asked | reuse | started per second | unfinished | late p50 | p99 | processor |\n|---|---|---|---|---|---|---|")
    table = os.path.join(folder, "small.txt")
    mean = 0.0
    rows = [(0, 0), (10, .15), (20, .2), (30, .3), (50, .4), (80, .53), (200, .6), (1000, .7), (2000, .8), (5000, .9),
            (10000, .97), (30000, 1)]
    for (a, p), (b, q) in zip(rows, rows[1:]):
        mean += (q - p) * (a + b) / 2
    with open(table, "w", encoding="ascii") as file:
        file.writelines(f"{size} {share}\n" for size, share in rows)
    for reuse, asked in ((True, 20000), (True, 30000), (True, 40000), (True, 60000), (False, 5000), (False, 10000),
                         (False, 20000)):
        sink = Sink(network, program, "taskset", "-c", "1")
        options = ["--kind", "websearch", "--rate", f"{asked * mean * 8:.0f}bit", "--duration", "3s", "--distribution",
                   table, "--threads", "1", *([] if reuse else ["--no-reuse"])]
        result = send(program, options, ("taskset", "-c", "0"))
        sink.close()
        flows = result["flows"]
        print(f"| {asked:,} | {'yes' if reuse else 'no'} | {flows['started'] / result['elapsed_s']:,.0f} | "
              f"{flows['unfinished'] + flows['unstarted']:,} | {1e6 * result['lateness']['p50_s']:.0f} us | "
              f"{1e6 * result['lateness']['p99_s']:.0f} us | "
              f"{100 * result['cpu_s'] / (result['elapsed_s'] + result['drain_s']):.0f} % |", flush=True)


def load(network: Network, program: str) -> None:
    network.shape()
    print("\n### Web-search load on a link of 1 Gbit/s (tbf), 20 s each\n")
    print("| share of the link | requested payload | achieved | of requested | link counted | late p50, p99 | "
          "unfinished at the end |\n|---|---|---|---|---|---|---|")
    for share in (0.2, 0.4, 0.6, 0.8, 0.9):
        sink = Sink(network, program)
        before = network.sent_bytes()
        result = send(program, ["--kind", "websearch", "--rate", f"{share * LINK_BPS * PAYLOAD_SHARE:.0f}bit", "--duration",
                                "20s", "--seed", str(round(100 * share))])
        wire = 8 * (network.sent_bytes() - before) / (result["elapsed_s"] + result["drain_s"])
        sink.close()
        print(f"| {100 * share:.0f} % | {result['requested_bps'] / 1e6:.1f} Mbit/s | {result['achieved_bps'] / 1e6:.1f} Mbit/s | "
              f"**{100 * result['achieved_bps'] / result['requested_bps']:.1f} %** | {wire / 1e6:.1f} Mbit/s | "
              f"{1e6 * result['lateness']['p50_s']:.0f}, {1e6 * result['lateness']['p99_s']:.0f} us | "
              f"drained in {result['drain_s']:.2f} s |", flush=True)
    network.here("tc qdisc del dev twa root")


def lateness(network: Network, program: str) -> None:
    print("\n### Lateness of starts, unshaped\n")
    print("| load | flows | p50 | p99 |\n|---|---|---|---|")
    for name, options in (("websearch 6 Gbit/s", ["--kind", "websearch", "--rate", "6Gbit"]),
                          ("burst 2 Gbit/s", ["--kind", "burst", "--rate", "2Gbit"])):
        sink = Sink(network, program)
        result = send(program, [*options, "--duration", "5s"])
        sink.close()
        print(f"| {name} | {result['flows']['started']:,} | {1e6 * result['lateness']['p50_s']:.0f} us | "
              f"{1e6 * result['lateness']['p99_s']:.0f} us |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--parts", default="long,starts,load,lateness")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    parts = options.parts.split(",")
    network = Network()
    print(f"load of the machine before: {os.getloadavg()[0]:.1f}", flush=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            if "long" in parts:
                long_flows(network, program, options.rounds)
            if "starts" in parts:
                starts(network, program, folder)
            if "load" in parts:
                load(network, program)
            if "lateness" in parts:
                lateness(network, program)
    finally:
        network.close()


if __name__ == "__main__":
    main()
