# SPDX-License-Identifier: Apache-2.0
"""What is known about a run: from the scenario, from the program's own log, and, to check both, from the
packets each host sent."""

import csv
import statistics

import pcap


def read_log(folder, ranks):
    """Rows (rank, step, start, end) of every rank that logged, in time order."""
    rows = []
    for rank in range(ranks):
        path = folder / f"rank{rank}.csv"
        if path.exists():
            with open(path, encoding="ascii") as file:
                rows += [(int(r), int(s), float(a), float(b)) for r, s, a, b in csv.reader(file)]
    return sorted(rows, key=lambda row: row[2])


def write_log(path, rows):
    with open(path, "w", encoding="ascii") as file:
        file.write("rank,step,start,end\n")
        file.writelines(f"{r},{s},{a:.6f},{b:.6f}\n" for r, s, a, b in rows)


def iterations(rows):
    """The period as the lowest logging rank saw it; steady = without the first two steps."""
    if not rows:
        return {"iterations": 0}
    first_rank = min(row[0] for row in rows)
    own = [row for row in rows if row[0] == first_rank]
    starts = [row[2] for row in own]
    gaps = [b - a for a, b in zip(starts, starts[1:])]
    return {
        "iterations": len(own),
        "logged_by_rank": first_rank,
        "starts": starts,
        "ends": [row[3] for row in own],
        "period_mean_s": round(statistics.mean(gaps), 6) if gaps else None,
        "period_steady_s": round(statistics.mean(gaps[2:]), 6) if len(gaps) > 3 else None,
        "period_stdev_s": round(statistics.stdev(gaps), 6) if len(gaps) > 1 else None,
    }


def ring(scenario, cluster):
    """Addresses in the order the data travels, beginning at the lowest address; None if it is no ring."""
    ranks = len(scenario.placement)
    if scenario.ring_step == 0:
        return None
    order = [cluster.address(scenario.placement[(i * scenario.ring_step) % ranks]) for i in range(ranks)]
    first = order.index(min(order))
    return order[first:] + order[:first]


def ring_share(order, pairs):
    """The share of all payload bytes that travels along the ring's edges."""
    edges = set(zip(order, order[1:] + order[:1]))
    total = sum(row["payload_bytes"] for row in pairs)
    return round(sum(row["payload_bytes"] for row in pairs if (row["src"], row["dst"]) in edges) / total, 5)


def shaped(scenario, cluster, order):
    result = []
    for host, rate in sorted(scenario.shaped.items()):
        address = cluster.address(host)
        to = order[(order.index(address) + 1) % len(order)] if order else None
        result.append({"src": address, "dst": to, "rate_bps": rate})
    return result


def printed_number(folder, name):
    """The number a program printed after `name`, or 0."""
    for line in (folder / "output.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(name + " "):
            return int(line.split()[1])
    return 0


def printed_list(folder, name):
    """The comma-separated numbers a program printed after `name`."""
    for line in (folder / "output.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith(name + " "):
            return [int(number) for number in line.split()[1].split(",")]
    return []


def assemble(scenario, cluster, folder, rows):
    order = ring(scenario, cluster)
    files = {cluster.address(h): folder / f"host{h}.pcap" for h in range(cluster.hosts)}
    pairs = pcap.pair_totals(files)
    rank_address = [cluster.address(host) for host in scenario.placement]
    return {
        "name": scenario.name,
        "framework": scenario.framework,
        "strategy": scenario.strategy,
        "note": scenario.note,
        "program": scenario.program or scenario.runner,
        "arguments": scenario.arguments,
        "rank_address": rank_address,
        "ring": order,
        "ring_share_of_payload": ring_share(order, pairs) if order else None,
        "roots": [rank_address[r] for r in scenario.root_ranks],
        "model_bytes": scenario.model_bytes or printed_number(folder, "model_bytes"),
        "first_step_bucket_bytes": printed_list(folder, "bucket_sizes"),
        "bucket_bytes": printed_list(folder, "rebuilt_bucket_sizes"),
        "buffer_bytes": printed_number(folder, "buffer_bytes"),
        "shaped": shaped(scenario, cluster, order),
        "straggler": {"address": rank_address[scenario.straggler[0]], "extra_s": scenario.straggler[1]}
                     if scenario.straggler else None,
        "cross_traffic": [{"src": cluster.address(s), "dst": cluster.address(d), "port": port}
                          for s, d, port, _ in scenario.streams],
        "control_ports": scenario.control_ports,
        "congestion_control": cluster.congestion,
        "segmentation_offload": cluster.segmentation_offload,
        **iterations(rows if scenario.strategy != "none" else []),
        "pairs": pairs,
        "connections": pcap.connections(files),
    }
