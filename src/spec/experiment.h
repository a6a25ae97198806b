// SPDX-License-Identifier: Apache-2.0
// What an experiment is: a network, jobs that train on it, cross traffic, faults, how to measure.
//
// This mirrors the experiment file field by field (docs/experiment-file.md); `run` measures it,
// `plan` computes it. parse.h reads and validates one, print.h writes it back. An Experiment that parse.h returned is resolved: every setting has its value,
// names exist, counts fit.
//
// Hosts are numbered 0..hosts-1 and named host0, host1, ...; a link joins each host to its switch
// and bears the host's name. Topologies with more than one switch add core links:
//
//   star       host_i - switch
//   dumbbell   host_i - left or right switch, the first `left` hosts left; one core link, "core"
//   leafspine  host_i - leaf floor(i * leaves / hosts); core links "leaf<i>-spine<j>"
//   fattree    k-ary, with the smallest even k that holds the hosts; core links "edge<i>-agg<j>"
//              and "agg<i>-core<j>"
//
// Limits: models, strategies, transports and devices are names here; whether they exist is checked
// against the lists the caller passes to parse.h, since their modules stand above this one.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/spec/setting.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::spec {

enum class Topology { Star, Dumbbell, LeafSpine, FatTree };
/// Seen from the host (from the left, or lower, switch for core links).
enum class Direction { FromHost, ToHost };
enum class Engine { Auto, Netem, Nfqueue, Tap };
enum class Compute { Profile, Torch, None, Train };
/// How a parameter's gradient travels.
enum class Gradient { Fp32, Fp16, TopK };
enum class TrafficKind { Long, WebSearch, Burst, File, Constant };
enum class Verify { Auto, On, Off };
/// The first two are of a rank, the others of a link.
enum class FaultKind { Kill, Stop, LinkDown, LinkFlap, Slow, Loss };
/// What a job does when a rank is lost.
enum class OnFailure { Abort, Restart, Shrink, Grow };
enum class LossUnit { Segment, Train };
enum class EarlyAction { Mark, Drop };
enum class Paths { Destination, Flow, Packet };
enum class RdmaRepair { Selective, GoBack };
enum class RdmaControl { Dcqcn, DcqcnPaper, None };
enum class Aggregation { Host, Switch };
enum class Distribution { Unicast, Multicast };

/// A queue limit: a multiple of the bandwidth-delay product, bytes, or the larger of both.
struct Queue {
  std::optional<double> bdp = {};
  std::optional<Bytes> bytes = {};
  bool operator==(const Queue&) const = default;
};

/// One direction of one link.
struct LinkSettings {
  Setting<BitRate> rate = {BitRate(1e9)};
  Setting<Duration> delay = {std::chrono::microseconds(50)};
  Setting<Duration> jitter = {};
  Setting<double> loss = {};         ///< fraction of packets
  Setting<double> loss_burst = {1};  ///< mean packets lost in a row; 1 is independent loss
  /// A port of a data-centre switch has hundreds of kilobytes; one bandwidth-delay product of a
  /// short path (25 kB at 1 Gbit/s and 200 us) costs a ring a tenth of the line and more.
  Setting<Queue> queue = {Queue{.bdp = 1, .bytes = 256_KiB}};
  Setting<std::optional<Bytes>> ecn = {};  ///< queue depth from which packets are marked
  bool operator==(const LinkSettings&) const = default;
};

/// An entry of [[network.link]]: what it sets replaces the network's value on that link.
struct LinkOverride {
  Setting<std::string> at = {};
  Setting<std::optional<Direction>> direction = {};  ///< both when absent
  std::optional<Setting<BitRate>> rate = {};
  std::optional<Setting<Duration>> delay = {};
  std::optional<Setting<Duration>> jitter = {};
  std::optional<Setting<double>> loss = {};
  std::optional<Setting<double>> loss_burst = {};
  std::optional<Setting<Queue>> queue = {};
  std::optional<Setting<std::optional<Bytes>>> ecn = {};
  bool operator==(const LinkOverride&) const = default;
};

struct Network {
  Setting<Topology> topology = {};
  Setting<int> hosts = {4};
  LinkSettings link = {};  ///< of every link, unless overridden
  std::vector<LinkOverride> overrides = {};
  Setting<int> left = {};             ///< dumbbell: hosts on the left; default half
  Setting<int> leaves = {2};          ///< leafspine
  Setting<int> spines = {2};          ///< leafspine
  Setting<BitRate> core_rate = {};    ///< core links; default: the host rate
  Setting<Duration> core_delay = {};  ///< core links; default: the host links' delay
  Setting<int> mtu = {1500};
  Setting<std::string> congestion_control = {"cubic"};
  Setting<std::optional<Bytes>> socket_buffer = {};  ///< the kernel's own choice when absent
  Setting<bool> allow_shallow_queue = {false};
  Setting<Engine> engine = {};
  Setting<int> ip_version = {4};
  // Only simulations do as these say.
  Setting<LossUnit> loss_unit = {};              ///< what one loss takes away
  Setting<std::optional<Bytes>> ecn_until = {};  ///< all are marked from there; default: ecn
  Setting<double> ecn_most = {1};                ///< share marked just below ecn_until
  Setting<EarlyAction> ecn_action = {};          ///< Drop: RED without ECN
  Setting<double> ecn_average = {1};             ///< weight of the newest depth in the judged mean
  Setting<Paths> paths = {};                     ///< which of several equally short ways
  Setting<bool> pfc = {true};                    ///< switches pause RDMA
  bool operator==(const Network&) const = default;
};

/// One training job. `ranks` counts all processes; where the strategy has servers, the last
/// `servers` of them are.
struct Job {
  Setting<std::string> name = {};  ///< default: "job0", "job1", ...
  Setting<std::optional<std::string>> framework = {};
  Setting<std::string> model = {};  ///< empty where `parameters` or `command` is given
  Setting<std::optional<Bytes>> parameters = {};         ///< anonymous model: bytes of gradients
  Setting<std::optional<int>> classes = {};              ///< replaces the model's head
  Setting<std::optional<std::vector<int>>> widths = {};  ///< mlp
  Setting<std::optional<int>> blocks = {};               ///< transformer
  Setting<std::optional<int>> width = {};                ///< transformer
  Setting<std::optional<int>> sequence = {};             ///< transformer
  Setting<std::optional<int>> vocabulary = {};           ///< transformer
  Setting<int> ranks = {};                       ///< default: one for each of the job's hosts
  Setting<int> workers = {};                     ///< ranks, less the servers
  Setting<std::vector<std::string>> hosts = {};  ///< default: every host, as far as ranks reach
  /// Host of each rank; default: in order, evenly.
  Setting<std::vector<std::string>> placement = {};
  Setting<std::string> strategy = {"ring"};
  bool has_servers = false;              ///< the strategy has
  Setting<int> servers = {1};            ///< where it has
  Setting<bool> asynchronous = {false};  ///< where it has: workers do not wait for one another
  Setting<std::string> transport = {"tcp"};
  /// Somebody's program, its arguments behind it: what exec starts for each rank.
  Setting<std::vector<std::string>> command = {};
  Setting<int> batch = {32};           ///< samples per worker and step
  Setting<std::int64_t> steps = {20};  ///< after warm-up; derived when epochs is given
  Setting<std::optional<double>> epochs = {};
  Setting<std::optional<std::int64_t>> dataset = {};  ///< samples in an epoch, over all workers
  Setting<int> warmup = {0};
  Setting<bool> broadcast = {true};  ///< rank 0's model to all before the first step
  Setting<Compute> compute = {};
  Setting<std::string> device = {"a100"};
  /// Forward and backward of a step, instead of the profile's.
  Setting<std::optional<Duration>> compute_time = {};
  /// Table of when backward has each gradient, instead of the profile's.
  Setting<std::optional<std::string>> gradient_ready = {};
  Setting<double> compute_jitter = {};                 ///< relative standard deviation
  Setting<std::optional<std::string>> straggler = {};  ///< a host whose ranks compute slower
  Setting<double> straggler_factor = {1.5};
  Setting<Bytes> bucket = {};        ///< 0: the whole model at once
  Setting<Bytes> first_bucket = {};  ///< 0: as large as the others
  Setting<Duration> cycle = {};      ///< how often ready gradients are gathered; 0: by size alone
  Setting<bool> overlap = {false};   ///< exchange while backward goes on
  Setting<int> pieces = {1};         ///< trees: pieces in flight at a time
  Setting<int> connections = {1};    ///< per pair of ranks that exchange gradients
  Setting<int> side_connections = {0};  ///< control connections per rank
  /// Of KungFu under pair averaging: its workers connect by the clique besides, not by a tree.
  Setting<bool> clique_topology = {false};
  Setting<Duration> start = {};  ///< after the run's start
  Setting<Verify> verify = {};
  // Only compute = "train" does as these say.
  Setting<std::string> data = {"fashion-mnist"};  ///< or "synthetic", or a folder of IDX files
  Setting<double> learning_rate = {0.05};
  Setting<double> momentum = {0.9};
  Setting<int> local_steps = {1};  ///< batches that a worker takes alone between two exchanges
  Setting<Gradient> gradient = {};
  Setting<double> top_k = {0.01};                       ///< of a bucket's gradients, with TopK
  Setting<std::int64_t> evaluate_every = {};            ///< steps; default: a twentieth of all
  Setting<std::optional<double>> target_accuracy = {};  ///< on the test set
  Setting<OnFailure> on_failure = {};
  /// Silence after which a rank counts as lost.
  Setting<Duration> failure_timeout = {std::chrono::seconds(30)};
  Setting<Duration> restart_after = {};  ///< restart, grow: until a lost rank is started again
  Setting<std::int64_t> checkpoint_every = {0};                ///< steps; 0: never
  Setting<std::optional<std::string>> checkpoint_folder = {};  ///< the run's own when absent
  // Only simulations do as these say.
  Setting<int> priority = {0};                   ///< strict, at every port; the higher goes first
  Setting<std::string> congestion_control = {};  ///< default: the network's
  Setting<RdmaRepair> rdma_repair = {};
  Setting<RdmaControl> rdma_control = {};
  Setting<Aggregation> aggregation = {};    ///< where gradients for one receiver are summed
  Setting<int> aggregation_slots = {512};   ///< of each switch
  Setting<Distribution> distribution = {};  ///< how one sender's model gets to several
  Setting<bool> forward_overlap = {
      false};  ///< forward begins a layer when its parameters are there
  /// Not in the file: scaled() (scale.h) sets it, and whoever counts gradients divides by it.
  double payload_divisor = 1;
  double time_factor = 1;  ///< likewise: compute takes that many times as long
  bool operator==(const Job&) const = default;
};

/// A load: a share of the bottleneck between `from` and `to`, or a rate.
struct Load {
  std::optional<double> share = {};
  std::optional<BitRate> rate = {};
  bool operator==(const Load&) const = default;
};

struct Traffic {
  Setting<TrafficKind> kind = {};
  Setting<std::string> from = {};
  Setting<std::string> to = {};
  Setting<Load> load = {};
  Setting<int> flows = {1};                           ///< long: parallel connections
  Setting<std::string> distribution = {"websearch"};  ///< flow sizes: a built-in name or a file
  Setting<Duration> burst_width = {std::chrono::milliseconds(1)};
  Setting<double> burst_height = {3};  ///< times the mean rate
  Setting<Duration> period = {std::chrono::milliseconds(10)};
  Setting<std::optional<std::string>> file = {};  ///< kind file: start, destination, size
  Setting<bool> reuse_connections = {true};
  Setting<Duration> start = {};
  Setting<std::optional<Duration>> duration = {};  ///< until the jobs end when absent
  Setting<int> priority = {0};                     ///< only simulations have it; see Job
  double payload_divisor = 1;                      ///< of flow sizes; not in the file, see Job
  double time_factor = 1;                          ///< of the file's times; likewise
  bool operator==(const Traffic&) const = default;
};

/// What breaks while jobs train: at a time, or when a job begins a step.
struct Fault {
  Setting<FaultKind> kind = {};
  Setting<std::optional<Duration>> at = {};          ///< after the run's start
  Setting<std::optional<std::int64_t>> step = {};    ///< of `job`, counted as steps are
  Setting<std::string> job = {};                     ///< whose step or rank; default: the first
  Setting<std::optional<int>> rank = {};             ///< kill, stop
  Setting<std::string> link = {};                    ///< the other kinds
  Setting<std::optional<Direction>> direction = {};  ///< of the link; both when absent
  Setting<std::optional<Duration>> lasting = {};     ///< "for"; for good when absent
  Setting<std::optional<BitRate>> rate = {};         ///< slow: instead of the link's, or
  Setting<std::optional<double>> factor = {};        ///< slow: of the link's rate
  Setting<double> loss = {};                         ///< loss: besides the link's
  Setting<Duration> period = {std::chrono::milliseconds(200)};  ///< link-flap
  Setting<double> duty = {0.5};  ///< link-flap: share of a period, its first, that it is down
  bool operator==(const Fault&) const = default;

  bool is_of_rank() const { return *kind == FaultKind::Kill || *kind == FaultKind::Stop; }
};

struct Capture {
  Setting<bool> enabled = {true};
  Setting<int> snaplen = {128};
  Setting<bool> keep = {false};  ///< keep the packets after analysis
  bool operator==(const Capture&) const = default;
};

struct Run {
  Setting<std::uint64_t> seed = {1};
  Setting<double> scale = {1};        ///< divides rates and payloads, keeps times (scale.h)
  Setting<double> slow_motion = {1};  ///< divides rates, multiplies times, keeps sizes (scale.h)
  Setting<int> repeats = {1};
  /// Of the mean step: repetitions end when its 95 % interval is that narrow. Nothing: all are run.
  Setting<std::optional<double>> repeat_until = {};
  Setting<Duration> timeout = {std::chrono::minutes(10)};
  bool operator==(const Run&) const = default;
};

/// One axis of a sweep: each value is TOML text, set under `key` as --set does. Neighbours of one
/// group go together: value for value, not all with all.
struct SweepAxis {
  std::string key;
  std::vector<std::string> values;
  int group = 0;
  bool operator==(const SweepAxis&) const = default;
};

/// A claim about the --json document of a command: `of` names the command, `metric` the path in its
/// document ("jobs.0.step.total_bytes"). Exactly one kind of bound: equals with a tolerance, or one
/// or both limits.
struct Expectation {
  std::string of;
  std::string metric;
  std::optional<double> equals = {};
  double tolerance = 0.01;  ///< relative
  std::optional<double> at_least = {};
  std::optional<double> at_most = {};
  bool operator==(const Expectation&) const = default;
};

struct Experiment {
  Setting<std::string> name = {};
  Network network = {};
  std::vector<Job> jobs = {};
  std::vector<Traffic> traffic = {};
  std::vector<Fault> faults = {};
  Capture capture = {};
  Run run = {};
  std::vector<SweepAxis> sweep = {};
  std::vector<Expectation> expectations = {};
  bool operator==(const Experiment&) const = default;
};

std::string host_name(int host);
/// Number of a host named as above, within the network's hosts.
std::optional<int> host_number(const Network& network, std::string_view name);

/// Host of each rank of a job. REQUIRES: the job is resolved.
std::vector<int> placement(const Network& network, const Job& job);

}  // namespace tw::spec
