# SPDX-License-Identifier: Apache-2.0
"""Captures every host of a cluster while a `with` block runs, and reads the interface counters around it.

Counters and captures describe the same interval: capture starts, counters are read, the block runs,
traffic dies away, counters are read, capture stops. Leaving the block throws if tcpdump dropped anything.
"""

import re
import signal
import subprocess
import time


class Recorder:
    SNAP_BYTES = 100
    BUFFER_KIB = 32768
    # tcpdump reads its ring in blocks that the kernel hands over at the latest after one second.
    DRAIN_SECONDS = 1.6

    def __init__(self, cluster, folder, nanoseconds=False):
        self.cluster = cluster
        self.folder = folder
        self.precision = "nano" if nanoseconds else "micro"
        self.before = []
        self.after = []
        self._processes = []

    def __enter__(self):
        try:
            for host in range(self.cluster.hosts):
                self._start(host)
        except BaseException:
            self._kill()
            raise
        self.before = self._counters()
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self._kill()
            return
        self._wait_for_silence()
        self._stop()

    def deltas(self):
        """Per host: what each counter grew by while the block ran."""
        return [{k: after[k] - before[k] for k in after} for before, after in zip(self.before, self.after)]

    def _counters(self):
        return [self.cluster.counters(host) for host in range(self.cluster.hosts)]

    def _wait_for_silence(self):
        """Waits until one drain time has passed without a packet, late ARP and FIN included."""
        self.after = self._counters()
        for _ in range(20):
            time.sleep(self.DRAIN_SECONDS)
            last, self.after = self.after, self._counters()
            if last == self.after:
                return
        raise RuntimeError("the hosts do not fall silent")

    def _start(self, host):
        command = ["tcpdump", "-i", "eth0", "-n", "-s", str(self.SNAP_BYTES), "-B", str(self.BUFFER_KIB), "-Z", "root",
                   "--time-stamp-precision", self.precision, "-w", str(self.folder / f"host{host}.pcap")]
        process = subprocess.Popen(self.cluster.inside(host, command), stderr=subprocess.PIPE, text=True,
                                   start_new_session=True)
        self._processes.append(process)
        line = process.stderr.readline()
        if "listening on eth0" not in line:
            raise RuntimeError(f"tcpdump on host {host} did not start: {line.strip()}")

    def _stop(self):
        for process in self._processes:
            process.send_signal(signal.SIGINT)
        for host, process in enumerate(self._processes):
            _, text = process.communicate(timeout=20)
            dropped = [int(n) for n in re.findall(r"(\d+) packets? dropped", text)]
            if not dropped or any(dropped):
                raise RuntimeError(f"tcpdump on host {host}: {text.strip()}")

    def _kill(self):
        for process in self._processes:
            process.kill()
            process.wait()
