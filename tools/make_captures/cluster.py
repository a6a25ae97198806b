# SPDX-License-Identifier: Apache-2.0
"""A cluster of network namespaces joined by one bridge, gone again when its `with` block ends.

    host k: namespace <prefix>h<k>, interface eth0, address 10.44.0.(k+1)/24
    switch: namespace <prefix>sw, bridge br0 with one port p<k> per host

No namespace has a default route, so nothing can leave. Names carry the process id, and only names
this object created are removed.
"""

import contextlib
import os
import signal
import subprocess


def run(arguments):
    """Runs a command to its end. Throws CalledProcessError, with its message, if it fails."""
    return subprocess.run(arguments, check=True, capture_output=True, text=True).stdout


class Shaper:
    """A token bucket on one host's egress. Bursts and frames are small against the rate, so that the
    pace is the link's and not that of 64 KB lumps: gso_max_size = 125 us of line time."""

    def __init__(self, rate_bps):
        self.rate_bps = rate_bps
        self.gso_bytes = int(min(65536, max(6000, rate_bps / 8 * 125e-6)))
        self.burst_bytes = int(max(2 * self.gso_bytes, rate_bps / 8 * 1e-3))
        self.limit_bytes = self.burst_bytes + 400_000


class Cluster:
    def __init__(self, hosts, shapers=None, segmentation_offload=True, congestion="cubic"):
        self.hosts = hosts
        self.shapers = shapers or {}
        self.segmentation_offload = segmentation_offload
        self.congestion = congestion
        self.prefix = f"twc{os.getpid()}"
        self._created = []

    def address(self, host):
        return f"10.44.0.{host + 1}"

    def namespace(self, host):
        return f"{self.prefix}h{host}"

    def __enter__(self):
        try:
            self._build()
        except BaseException:
            self._remove()
            raise
        return self

    def __exit__(self, *_):
        self._remove()

    def inside(self, host, arguments):
        """The command that runs `arguments` in the host's namespace."""
        return ["ip", "netns", "exec", self.namespace(host), *arguments]

    def counters(self, host):
        """The interface counters of the host's eth0."""
        base = "/sys/class/net/eth0/statistics/"
        names = ["tx_bytes", "rx_bytes", "tx_packets", "rx_packets", "tx_dropped", "rx_dropped"]
        values = run(self.inside(host, ["cat", *[base + n for n in names]])).split()
        return dict(zip(names, map(int, values)))

    def _build(self):
        switch = self._add_namespace("sw")
        run(["ip", "-n", switch, "link", "add", "br0", "type", "bridge", "mcast_snooping", "0"])
        run(["ip", "-n", switch, "link", "set", "br0", "up"])
        for host in range(self.hosts):
            self._add_host(host, switch)

    def _add_namespace(self, suffix):
        name = self.prefix + suffix
        run(["ip", "netns", "add", name])
        self._created.append(name)
        for scope in ("all", "default"):  # no router solicitations in the captures
            run(["ip", "netns", "exec", name, "sysctl", "-qw", f"net.ipv6.conf.{scope}.disable_ipv6=1"])
        return name

    def _add_host(self, host, switch):
        name = self._add_namespace(f"h{host}")
        address = self.address(host)
        run(["ip", "-n", switch, "link", "add", f"p{host}", "type", "veth", "peer", "name", "eth0", "netns", name])
        run(["ip", "-n", switch, "link", "set", f"p{host}", "master", "br0", "up"])
        run(["ip", "-n", name, "link", "set", "lo", "up"])
        run(["ip", "-n", name, "link", "set", "eth0", "up"])
        run(["ip", "-n", name, "address", "add", f"{address}/24", "dev", "eth0"])
        run(["ip", "-n", name, "route", "replace", "10.44.0.0/24", "dev", "eth0", "src", address,
             "congctl", self.congestion])
        if not self.segmentation_offload:
            run(["ip", "-n", name, "link", "set", "eth0", "gso_max_segs", "1"])
        if host in self.shapers:
            self._shape(name, self.shapers[host])

    def _shape(self, name, shaper):
        if self.segmentation_offload:
            run(["ip", "-n", name, "link", "set", "eth0", "gso_max_size", str(shaper.gso_bytes)])
        run(["tc", "-n", name, "qdisc", "add", "dev", "eth0", "root", "tbf", "rate", f"{shaper.rate_bps}bit",
             "burst", str(shaper.burst_bytes), "limit", str(shaper.limit_bytes)])

    def _remove(self):
        while self._created:
            name = self._created.pop()
            for pid in subprocess.run(["ip", "netns", "pids", name], capture_output=True, text=True,
                                      check=False).stdout.split():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
            subprocess.run(["ip", "netns", "delete", name], check=False)
