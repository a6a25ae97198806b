# SPDX-License-Identifier: Apache-2.0
"""Runs a program on a cluster: one process per rank, or mpirun, or a few tools. Every run is bounded in time,
and whatever was started has ended when the call returns."""

import os
import pathlib
import signal
import subprocess
import time

PROGRAMS = pathlib.Path(__file__).parent / "programs"
PYTHON = "/usr/bin/python3"  # the one that has Debian's torch
LIMIT_SECONDS = 100
ENVIRONMENT = {"PATH": os.environ["PATH"], "HOME": "/root", "LANG": "C", "OMP_NUM_THREADS": "1",
               "OPENBLAS_NUM_THREADS": "1"}


class Processes:
    """Child processes, each the leader of its own group; the groups left at the end of the block are ended,
    by request first, so that mpirun can end its ranks."""

    def __init__(self):
        self._running = []

    def __enter__(self):
        return self

    def __exit__(self, *_):
        left = [process for process in self._running if process.poll() is None]
        for process in left:
            os.killpg(process.pid, signal.SIGTERM)
        for process in left:
            try:
                process.wait(3)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def start(self, command, output, environment=None):
        process = subprocess.Popen(command, stdout=output, stderr=output, start_new_session=True,
                                   env={**ENVIRONMENT, **(environment or {})})
        self._running.append(process)
        return process


def wait_all(processes, seconds=LIMIT_SECONDS):
    """Throws if one fails or time is up."""
    deadline = time.monotonic() + seconds
    for process in processes:
        code = process.wait(max(0.1, deadline - time.monotonic()))
        if code != 0:
            raise RuntimeError(f"{process.args[:8]} ended with code {code}")


def run_python(cluster, scenario, folder):
    """One interpreter per rank."""
    addresses = ",".join(cluster.address(host) for host in scenario.placement)
    with Processes() as processes, open(folder / "output.txt", "w", encoding="utf-8") as output:
        started = []
        for rank, host in enumerate(scenario.placement):
            command = [PYTHON, "-B", str(PROGRAMS / scenario.program), "--rank", str(rank), "--addresses", addresses,
                       "--log", str(folder / f"rank{rank}.csv"), *scenario.arguments]
            started.append(processes.start(cluster.inside(host, command), output))
        wait_all(started)


def run_mpi(cluster, scenario, folder):
    """mpirun inside rank 0's namespace; a wrapper moves every rank into its own."""
    namespaces = [cluster.namespace(host) for host in scenario.placement]
    environment = {"PMIX_MCA_ptl_base_if_include": "eth0", "TW_NAMESPACES": " ".join(namespaces)}
    command = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-np", str(len(namespaces)), "--mca", "pml", "ob1",
               "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", "eth0", *scenario.mpirun_arguments,
               str(PROGRAMS / "in_namespace"), str(build_mpi(folder)), *scenario.arguments, str(folder / "rank")]
    with Processes() as processes, open(folder / "output.txt", "w", encoding="utf-8") as output:
        wait_all([processes.start(cluster.inside(scenario.placement[0], command), output, environment)])


def build_mpi(folder):
    """Compiles the MPI program next to the capture folders."""
    binary = folder.parent / "mpi_loop"
    source = PROGRAMS / "mpi_loop.c"
    if not binary.exists() or binary.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["mpicc", "-O2", "-Wall", "-Wextra", "-o", str(binary), str(source)], check=True)
    return binary


def start_iperf(cluster, processes, output, stream, seconds):
    """One iperf3 stream (source host, destination host, extra arguments); returns the client process."""
    source, destination, port, extra = stream
    server = ["iperf3", "-s", "-1", "-p", str(port)]
    processes.start(cluster.inside(destination, server), output)
    time.sleep(0.3)
    client = ["timeout", str(seconds + 10), "iperf3", "-c", cluster.address(destination), "-p", str(port), "-t",
              str(seconds), *extra]
    return processes.start(cluster.inside(source, client), output)


def run_iperf(cluster, scenario, folder):
    with Processes() as processes, open(folder / "output.txt", "w", encoding="utf-8") as output:
        wait_all([start_iperf(cluster, processes, output, stream, 4) for stream in scenario.streams])


def run_python_beside_iperf(cluster, scenario, folder):
    """The job, with cross traffic from before its start until its end."""
    with Processes() as processes, open(folder / "cross_traffic.txt", "w", encoding="utf-8") as output:
        for stream in scenario.streams:
            start_iperf(cluster, processes, output, stream, LIMIT_SECONDS)
        run_python(cluster, scenario, folder)


RUNNERS = {"python": run_python, "mpi": run_mpi, "iperf": run_iperf,
           "python_beside_iperf": run_python_beside_iperf}
