#!/usr/bin/env python3
"""Filters of findings, and what is cut out of captures, against tshark: tests/wireshark.py TRAINWIRE.

Every filter parses; the packets that tshark selects by it are those that --cut writes; the slow link's are of that link.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

TRAINWIRE = sys.argv[1]
CAPTURES = pathlib.Path(__file__).resolve().parent / "captures"
# What is found differs: a slow link, a straggler, packets sent again, other traffic.
NAMES = ["ddp3_slow_ingress", "ddp4_straggler", "ddp4_cross_traffic"]


def frames(path, *filters):
    words = ["tshark", "-n", "-r", str(path), "-T", "fields", "-e", "frame.number", "-e", "ip.src", "-e", "ip.dst"]
    if filters:
        words += ["-Y", filters[0]]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 0, f"tshark -Y {filters}: {done.stderr}"
    return [line.split("\t") for line in done.stdout.splitlines()]


def packets(path):
    words = [TRAINWIRE, "info", str(path), "--json"]
    document = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    return document["files"][0]["packets"]


def check(name, folder):
    capture = folder / f"{name}.pcap"
    subprocess.run(["zstd", "-q", "-d", str(CAPTURES / f"{name}.pcap.zst"), "-o", str(capture)], check=True)
    words = [TRAINWIRE, "analyze", str(capture), "--no-folder", "--json", "-q"]
    document = json.loads(subprocess.run(words, stdout=subprocess.PIPE, check=True).stdout)
    findings = document["findings"]
    assert any("filter" in finding for finding in findings), f"{name}: no finding has a filter"
    cuts = [f"finding:{i + 1}={folder}/{name}-{i + 1}.pcapng" for i in range(len(findings))]
    cuts.append(f"step:1={folder}/{name}-step.pcapng")
    subprocess.run([*words, *(word for cut in cuts for word in ("--cut", cut))], stdout=subprocess.DEVNULL, check=True)
    whole = packets(capture)
    for i, finding in enumerate(findings):
        # What was sent again takes whole flows to see: they are cut out, and the filter shows less.
        words = finding.get("filter", "frame").replace(" && tcp.analysis.retransmission", "")
        selected = frames(capture, words)
        cut = packets(folder / f"{name}-{i + 1}.pcapng")
        assert len(selected) == cut, f"{name}: {words}: tshark has {len(selected)} packets, the cut {cut}"
        if finding["kind"] == "slow_link":
            slow = document["bottleneck"]
            rows = frames(folder / f"{name}-{i + 1}.pcapng")
            assert rows and {(row[1], row[2]) for row in rows} == {(slow["from"], slow["to"])}, f"{name}: {words}"
            assert cut < whole
        if finding["kind"] == "sent_again":
            assert frames(folder / f"{name}-{i + 1}.pcapng", finding["filter"]), f"{name}: {words}: nothing sent again"
    step = packets(folder / f"{name}-step.pcapng")
    assert 0 < step < whole, f"{name}: a step of {step} of {whole} packets"
    return [finding["kind"] for finding in findings]


def main():
    missing = [program for program in ("tshark", "zstd") if shutil.which(program) is None]
    if missing:
        print(f"skipped: {', '.join(missing)} not installed")
        sys.exit(77)
    kinds = set()
    with tempfile.TemporaryDirectory() as folder:
        for name in NAMES:
            kinds |= set(check(name, pathlib.Path(folder)))
    assert "slow_link" in kinds and "straggler" in kinds, kinds
    print(f"wireshark: {len(NAMES)} captures, findings {', '.join(sorted(kinds))}")


main()
