// SPDX-License-Identifier: Apache-2.0
// What a run has found: the record that `run`, `exec` and `analyze` make, and that `report`,
// `export`, `serve`, `compare`, `fit` and sweeps read. json.h writes and reads it; run_file.h is
// the run folder's run.json.
//
// Sizes in bytes, rates in bit/s, times in seconds; moments count from 1970. Names of members are
// those of the documents, which are a contract: more may be added, none may change its meaning.
// What may be absent is std::optional. A record that was read may be of another version, damaged or
// hostile: members of another type than expected are as if they were absent, numbers are finite but
// for elements of lists, which are NaN where they were none.

#pragma once

#include "trainwire/record/account.h"
#include "trainwire/record/captured.h"
#include "trainwire/record/cross_traffic.h"
#include "trainwire/record/imported.h"
#include "trainwire/record/learning.h"
#include "trainwire/record/network.h"
#include "trainwire/record/value.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tw::record {

/// Two independent counts of the same thing.
struct Check {
  std::string name = {};
  bool ok = false;
  std::string expected = {};
  std::string found = {};
  std::string text = {};             ///< one sentence
  std::optional<bool> caution = {};  ///< true: it passed, and the text says what to keep in mind
  bool operator==(const Check&) const = default;
};
bool all_ok(const std::vector<Check>& checks);

/// What an experiment expects of a command, and what came of it.
struct Expectation {
  std::string metric = {};
  bool ok = false;
  std::string expected = {};         ///< "at least 3"
  std::optional<double> found = {};  ///< nothing where the document has no number
  std::string text = {};
  bool operator==(const Expectation&) const = default;
};

/// Whether the machine kept up.
struct Machine {
  std::string level = {};
  std::vector<std::string> reasons = {};
  bool operator==(const Machine&) const = default;
};

/// How a process ended.
struct Rank {
  std::string name = {};
  int exit_code = 0;
  int signal = 0;
  bool stopped = false;     ///< by us
  std::string output = {};  ///< file
  bool operator==(const Rank&) const = default;
};

/// A series of times and what it says; intervals are of 95 %.
struct Times {
  double median_s = 0;
  double ci_low_s = 0;
  double ci_high_s = 0;
  std::uint64_t count = 0;
  std::optional<double> mean_s = {};
  double mean_low_s = 0;
  double mean_high_s = 0;
  double p99_s = 0;
  double p99_low_s = 0;
  double p99_high_s = 0;
  std::vector<double> times_s = {};
  bool operator==(const Times&) const = default;
};

/// The same job on the same network without the others.
struct Alone {
  Times step = {};
  double slowdown = 0;  ///< median step among the others over the median step alone
  bool operator==(const Alone&) const = default;
};

/// What of a job's step does not depend on the network: compute, and which gradients are there when.
struct Pace {
  double forward_s = 0;
  double backward_s = 0;
  std::vector<std::int64_t> bucket_bytes = {};  ///< in the order in which backward fills them
  std::vector<double> bucket_ready_s = {};      ///< after backward's begin; one for each
  bool operator==(const Pace&) const = default;
};

/// What a job wrote to go on from.
struct Checkpoints {
  std::uint64_t written = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;                  ///< of the last
  double longest_s = 0;                     ///< that ranks waited for one
  std::optional<std::string> problem = {};  ///< why one could not be written or was not used
  bool operator==(const Checkpoints&) const = default;
};

/// A job as its ranks logged it.
struct Job {
  std::string name = {};
  std::string strategy = {};
  std::uint64_t ranks = 0;
  std::int64_t gradient_bytes = 0;
  std::uint64_t buckets = 0;
  bool verified = false;
  std::optional<std::uint64_t> steps = {};  ///< counted
  double step_sent_bytes = 0;
  std::int64_t demand_bytes = 0;
  std::optional<Times> step = {};
  std::optional<Times> exchange = {};
  double busbw_bps = 0;
  std::map<std::string, double> phases_median_s = {};
  std::optional<Alone> alone = {};
  std::optional<Accounting> accounting = {};
  std::optional<Verdict> verdict = {};
  std::optional<Pace> pace = {};          ///< nothing where there are too many buckets to tell
  std::optional<Learning> learning = {};  ///< where ranks really trained
  std::optional<Checkpoints> checkpoints = {};
  bool operator==(const Job&) const = default;
};

/// What a fault did to a job.
struct FaultCost {
  std::string job = {};
  double usual_s = 0;       ///< median of the steps that no fault touched
  std::uint64_t steps = 0;  ///< counted ones that went on while it lasted
  double longest_s = 0;     ///< of those
  double cost_s = 0;        ///< what they took beyond the usual, together
  bool operator==(const FaultCost&) const = default;
};

/// One [[fault]].
struct Fault {
  std::string kind = {};
  std::string where = {};              ///< "host0", "rank 2 of job0"
  std::optional<double> begin_s = {};  ///< nothing when all was over before
  std::optional<double> end_s = {};    ///< nothing when it lasted to the end
  std::vector<FaultCost> costs = {};   ///< by job
  bool operator==(const Fault&) const = default;
};

/// How a job went on after it had lost a rank.
struct Recovery {
  std::string job = {};
  std::string policy = {};  ///< "restart", "shrink", "grow"
  std::string what = {};    ///< "rank 1 on host1 was killed by signal 9 (Killed)"
  double noticed_s = 0;     ///< after the run's start
  std::string notice = {};  ///< how: "closed connection", "end of the process", "silence", "return"
  /// Since the fault; nothing when nobody knows when that was.
  std::optional<double> detection_s = {};
  std::int64_t step = 0;         ///< from which it went on
  std::uint64_t lost_steps = 0;  ///< done, and to be done again
  bool from_checkpoint = false;
  std::uint64_t bytes = 0;            ///< of state, sent or read by the ranks to go on
  double recovery_s = 0;              ///< from the notice until ranks trained again
  std::optional<double> back_s = {};  ///< from the notice until a step took as long as usual before
  std::uint64_t ranks = 0;            ///< that went on
  bool operator==(const Recovery&) const = default;
};

/// What one rank of `exec` marked of its own steps.
struct RankSteps {
  std::optional<std::string> job = {};  ///< its name, where there are several
  int rank = 0;
  std::uint64_t count = 0;
  double median_s = 0;
  bool operator==(const RankSteps&) const = default;
};
struct MarkedSteps {
  std::vector<RankSteps> per_rank = {};
  bool operator==(const MarkedSteps&) const = default;
};

/// How many points a sweep has.
struct Sweep {
  std::uint64_t points = 0;
  bool operator==(const Sweep&) const = default;
};

/// One point of a sweep, in short; its folder has a record of its own.
struct Point {
  std::string folder = {};
  std::vector<std::string> settings = {};  ///< "network.loss=0.01"
  bool complete = false;
  bool checks_ok = false;
  std::optional<std::string> problem = {};  ///< why it failed, or which checks did
  std::optional<std::vector<Expectation>> expectations = {};
  std::vector<Job> jobs = {};
  std::optional<CrossTraffic> cross_traffic = {};
  std::optional<Utilisation> utilisation = {};
  bool operator==(const Point&) const = default;
};

struct Run {
  std::optional<std::string> command = {};  ///< that made it
  std::optional<std::string> name = {};     ///< of a sweep

  /// Of the job that the network, or a late rank, costs most.
  std::optional<Verdict> verdict = {};
  std::optional<Accounting> accounting = {};

  /// Of captures; with `capture` the others are told too, without it there were no packets.
  std::optional<Capture> capture = {};
  Quality quality = {};
  std::vector<Host> hosts = {};
  std::vector<Pair> pairs = {};
  Flows flows = {};
  Rates traffic = {};
  Bursts bursts = {};
  std::optional<Iterations> iterations = {};  ///< of a run without packets too
  std::vector<Collective> collectives = {};
  std::optional<std::uint64_t> model_bytes = {};
  std::optional<Bottleneck> bottleneck = {};
  std::optional<Straggler> straggler = {};
  std::vector<Finding> findings = {};

  /// Of other programs' files. Without packets, hosts, iterations, collectives, straggler and findings
  /// are theirs too.
  std::optional<Operations> operations = {};
  std::vector<Source> sources = {};
  std::optional<Watched> watched = {};

  /// Of ranks on a network; with `engine` the others are told too.
  std::optional<std::string> engine = {};
  std::vector<Check> checks = {};
  Network network = {};
  bool cpu_bound = false;
  Machine machine = {};
  std::vector<Rank> ranks = {};
  std::optional<double> duration_s = {};
  std::optional<MarkedSteps> steps = {};  ///< of `exec`
  std::vector<Job> jobs = {};             ///< of `run`
  std::optional<Utilisation> utilisation = {};
  std::optional<CrossTraffic> cross_traffic = {};
  std::vector<Fault> faults = {};
  std::vector<Recovery> recoveries = {};

  std::optional<Sweep> sweep = {};
  std::optional<std::vector<Point>> points = {};

  std::optional<Value> experiment = {};                       ///< resolved, as spec/print.h has it
  std::optional<std::vector<Expectation>> expectations = {};  ///< judged
  bool operator==(const Run&) const = default;
};

/// Setting `key` of the resolved experiment: "network.hosts", "jobs.0.model", "run.scale"; nullptr
/// when there is none.
const Value* setting(const Run& run, std::string_view key);

}  // namespace tw::record
