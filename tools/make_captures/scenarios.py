# SPDX-License-Identifier: Apache-2.0
"""The jobs to capture, as data. `placement[r]` is the host that rank r runs on."""

import dataclasses

MBIT = 1_000_000


@dataclasses.dataclass(frozen=True)
class Scenario:
    name: str
    framework: str
    strategy: str
    runner: str
    placement: tuple
    program: str = ""
    arguments: tuple = ()
    mpirun_arguments: tuple = ()
    streams: tuple = ()
    model_bytes: int = 0  # 0: the program prints it, or there is no model
    ring_step: int = 0  # rank r sends to rank (r + ring_step) mod P; 0: not a ring
    root_ranks: tuple = ()  # roots, servers
    shaped: dict = dataclasses.field(default_factory=dict)  # host -> bit/s
    straggler: tuple = ()  # rank, seconds
    control_ports: tuple = ()
    segmentation_offload: bool = True
    congestion: str = "cubic"
    nanoseconds: bool = False
    note: str = ""


def ddp(name, model, ranks_or_placement, steps, **rest):
    placement = tuple(range(ranks_or_placement)) if isinstance(ranks_or_placement, int) else ranks_or_placement
    extra = tuple(rest.pop("arguments", ()))
    straggler = rest.get("straggler", ())
    if straggler:
        extra += ("--straggler-rank", str(straggler[0]), "--straggler-seconds", str(straggler[1]))
    return Scenario(name=name, framework="PyTorch 1.13 DDP over Gloo", strategy="ring",
                    runner=rest.pop("runner", "python"), placement=placement, program="ddp.py",
                    arguments=("--model", model, "--steps", str(steps), *extra), ring_step=-1,
                    control_ports=(29500,), **rest)


ALGORITHMS = {"default": None, "recursive_doubling": 3, "ring": 4, "segmented_ring": 5, "rabenseifner": 6}


BINOMIAL = ("--mca", "coll_tuned_use_dynamic_rules", "1", "--mca", "coll_tuned_reduce_algorithm", "5", "--mca",
            "coll_tuned_bcast_algorithm", "6")


def mpi(name, mode, algorithm, size, steps, compute_ms, placement=(0, 1, 2, 3), **rest):
    number = ALGORITHMS[algorithm]
    forced = () if number is None else ("--mca", "coll_tuned_use_dynamic_rules", "1", "--mca",
                                        "coll_tuned_allreduce_algorithm", str(number))
    straggler_rank, straggler_seconds = rest.get("straggler") or (-1, 0)
    arguments = (mode, str(size), str(steps), str(compute_ms), rest.pop("compute", "sleep"), str(straggler_rank),
                 str(straggler_seconds * 1000))
    rest.setdefault("strategy", "ring" if "ring" in algorithm else algorithm)
    return Scenario(name=name, framework="Open MPI 4.1.4", runner="mpi", placement=placement,
                    arguments=arguments, mpirun_arguments=rest.pop("mpirun_arguments", forced), model_bytes=size,
                    ring_step=1 if rest["strategy"] == "ring" else 0, **rest)


def sockets(name, program, strategy, ranks, size, steps, **rest):
    extra = tuple(rest.pop("arguments", ()))
    framework = rest.pop("framework", "plain sockets")
    return Scenario(name=name, framework=framework, strategy=strategy, runner="python", placement=tuple(range(ranks)),
                    program=program, model_bytes=size,
                    arguments=("--bytes", str(size), "--steps", str(steps), *extra), **rest)


SCENARIOS = [
    # PyTorch DDP over Gloo.
    ddp("ddp4_mlp_small", "mlp_small", 4, 40, arguments=("--batch", "128")),
    ddp("ddp4_mlp_large", "mlp_large", 4, 25, arguments=("--batch", "64")),
    ddp("ddp4_resnet", "resnet_narrow", 4, 20),
    ddp("ddp4_resnet_tiny", "resnet_tiny", (1, 3, 0, 2), 20),
    ddp("ddp2_mlp_small", "mlp_small", 2, 30, arguments=("--batch", "256")),
    ddp("ddp3_mlp_small", "mlp_small", (2, 0, 1), 30),
    ddp("ddp3_mlp_large", "mlp_large", (1, 2, 0), 20),
    ddp("ddp6_mlp_small", "mlp_small", (3, 4, 1, 0, 5, 2), 30, arguments=("--batch", "64")),
    ddp("ddp6_resnet_tiny", "resnet_tiny", (5, 0, 3, 1, 4, 2), 15),
    ddp("ddp8_mlp_small", "mlp_small", (4, 0, 6, 2, 7, 1, 5, 3), 20),
    ddp("ddp4_mtu_frames", "mlp_small", (0, 2, 1, 3), 7, segmentation_offload=False, nanoseconds=True),
    ddp("ddp4_bbr", "mlp_small", (3, 0, 2, 1), 20, congestion="bbr"),
    ddp("ddp4_shaped_200m", "mlp_small", (0, 2, 1, 3), 25, shaped={1: 200 * MBIT}),
    ddp("ddp4_shaped_100m", "mlp_small", (2, 0, 3, 1), 20, shaped={3: 100 * MBIT}),
    ddp("ddp4_shaped_500m_large", "mlp_large", 4, 12, shaped={2: 500 * MBIT}),
    ddp("ddp4_shaped_mtu_frames", "mlp_small", (1, 0, 2, 3), 7, shaped={0: 150 * MBIT}, segmentation_offload=False),
    ddp("ddp6_shaped_200m", "mlp_small", (3, 4, 1, 0, 5, 2), 20, shaped={4: 200 * MBIT}),
    ddp("ddp4_all_shaped_500m", "mlp_small", (0, 1, 3, 2), 25, shaped={h: 500 * MBIT for h in range(4)},
        note="every egress equal: no single slow link"),
    ddp("ddp4_straggler", "mlp_small", (0, 3, 1, 2), 25, straggler=(2, 0.15)),
    ddp("ddp4_straggler_resnet", "resnet_tiny", 4, 15, straggler=(3, 0.2)),
    ddp("ddp4_cross_traffic", "mlp_small", (2, 1, 0, 3), 25, runner="python_beside_iperf",
        streams=((0, 2, 5201, ("-b", "40M")), (3, 1, 5202, ("-u", "-b", "10M"))),
        note="beside a 40 Mbit/s TCP stream host 0 to 2 and a 10 Mbit/s UDP stream host 3 to 1"),
    # Open MPI.
    mpi("mpi4_ring_1m", "allreduce", "ring", 1_000_000, 40, 60),
    mpi("mpi4_ring_25m", "allreduce", "ring", 25_000_000, 15, 200, placement=(0, 2, 3, 1)),
    mpi("mpi4_segmented_ring_1m", "allreduce", "segmented_ring", 1_000_000, 40, 60, placement=(3, 1, 0, 2)),
    mpi("mpi4_segmented_ring_25m", "allreduce", "segmented_ring", 25_000_000, 15, 200),
    mpi("mpi4_default_1m", "allreduce", "default", 1_000_000, 40, 60, strategy="halving-doubling"),
    mpi("mpi4_default_25m", "allreduce", "default", 25_000_000, 15, 200, strategy="halving-doubling"),
    mpi("mpi4_recursive_doubling_1m", "allreduce", "recursive_doubling", 1_000_000, 40, 60,
        strategy="recursive-doubling"),
    mpi("mpi4_recursive_doubling_8m", "allreduce", "recursive_doubling", 8_000_000, 15, 100, placement=(0, 3, 1, 2),
        strategy="recursive-doubling"),
    mpi("mpi4_rabenseifner_8m", "allreduce", "rabenseifner", 8_000_000, 15, 100, placement=(1, 3, 2, 0),
        strategy="halving-doubling"),
    mpi("mpi8_rabenseifner_4m", "allreduce", "rabenseifner", 4_000_000, 15, 200, placement=(0, 1, 2, 3, 4, 5, 6, 7),
        strategy="halving-doubling"),
    mpi("mpi4_ring_tight_1m", "allreduce", "ring", 1_000_000, 80, 0.5, note="almost no compute between steps"),
    mpi("mpi4_ring_tight_8m", "allreduce", "ring", 8_000_000, 30, 1, placement=(2, 1, 3, 0),
        note="almost no compute between steps"),
    mpi("mpi4_ring_busy_4m", "allreduce", "ring", 4_000_000, 25, 80, compute="busy"),
    mpi("mpi4_ring_buckets_8m", "buckets", "ring", 8_000_000, 20, 120, note="four buckets of 2 MB per step"),
    mpi("mpi6_ring_4m", "allreduce", "ring", 4_000_000, 20, 120, placement=(2, 5, 0, 1, 4, 3)),
    mpi("mpi3_ring_4m", "allreduce", "ring", 4_000_000, 20, 80, placement=(1, 0, 2)),
    mpi("mpi4_ring_shaped_200m", "allreduce", "ring", 4_000_000, 20, 80, placement=(0, 3, 1, 2),
        shaped={3: 200 * MBIT}),
    mpi("mpi4_segmented_ring_shaped_100m", "allreduce", "segmented_ring", 4_000_000, 15, 80, shaped={0: 100 * MBIT}),
    mpi("mpi4_ring_straggler", "allreduce", "ring", 4_000_000, 20, 80, straggler=(1, 0.12)),
    mpi("mpi4_ring_mtu_frames", "allreduce", "ring", 2_000_000, 15, 80, segmentation_offload=False, nanoseconds=True),
    mpi("mpi4_ring_mtu_frames_small", "allreduce", "ring", 200_000, 20, 50, placement=(0, 3, 2, 1),
        segmentation_offload=False),
    mpi("mpi4_ring_negotiated", "negotiated", "ring", 8_000_000, 20, 120,
        note="16-byte gather and broadcast at rank 0 every 5 ms of compute"),
    mpi("mpi4_tree_4m", "tree", "default", 4_000_000, 20, 100, strategy="tree", root_ranks=(0,),
        mpirun_arguments=BINOMIAL),
    mpi("mpi8_tree_2m", "tree", "default", 2_000_000, 15, 150, placement=(3, 0, 1, 2, 4, 5, 7, 6), strategy="tree",
        root_ranks=(0,), mpirun_arguments=BINOMIAL),
    mpi("mpi4_reduce_broadcast_4m", "tree", "default", 4_000_000, 20, 100, strategy="star", root_ranks=(0,),
        note="Open MPI's own choice: every rank sends to the root, then a chain 0, 1, 2, 3 carries the result"),
    mpi("mpi4_clique_4m", "clique", "default", 4_000_000, 20, 100, strategy="clique"),
    mpi("mpi4_alltoall_4m", "alltoall", "default", 4_000_000, 20, 100, strategy="all-to-all"),
    # Plain sockets and send/receive.
    sockets("ps1_workers3", "parameter_server.py", "parameter server", 4, 4_000_000, 25, root_ranks=(0,)),
    sockets("ps2_workers4", "parameter_server.py", "parameter server", 6, 4_000_000, 20, root_ranks=(0, 1),
            arguments=("--servers", "2", "--tensors", "8")),
    sockets("ps1_workers3_shaped", "parameter_server.py", "parameter server", 4, 2_000_000, 15, root_ranks=(0,),
            shaped={0: 200 * MBIT}),
    sockets("pair_averaging4", "pair_averaging.py", "pair averaging", 4, 2_000_000, 40),
    sockets("star4", "star.py", "star", 4, 4_000_000, 20, root_ranks=(0,), control_ports=(29511,),
            framework="PyTorch 1.13 send/recv over Gloo"),
    sockets("striped_ring4", "striped_ring.py", "ring", 4, 8_000_000, 20, ring_step=1, control_ports=(40999,),
            framework="plain sockets, as NCCL uses them"),
    # No training.
    Scenario("none_web", "none", "none", "python", (0, 1, 2, 3), "web.py", ("--steps", "15")),
    Scenario("none_iperf", "none", "none", "iperf", (0, 1), streams=((0, 1, 5201, ("-b", "300M")),)),
    Scenario("none_iperf_chain", "none", "none", "iperf", (0, 1, 2),
             streams=((0, 1, 5201, ("-b", "50M")), (1, 2, 5202, ("-b", "80M")))),
    Scenario("none_ping", "none", "none", "python", (0, 1, 2), "echo.py", ("--steps", "60")),
    Scenario("none_udp", "none", "none", "python", (0, 1, 2), "datagrams.py", ("--steps", "300")),
]
