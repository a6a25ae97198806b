// SPDX-License-Identifier: Apache-2.0
// The run's side of transport/control.h: hands out tasks and endpoints, starts everybody at once,
// hears of steps, failures and counts.

#pragma once

#include "trainwire/lab/rank_group.h"
#include "trainwire/lab/training.h"
#include "trainwire/os/own_program.h"
#include "trainwire/trainer/learnt.h"
#include "trainwire/transport/control.h"
#include "trainwire/transport/tcp/address.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::lab {

/// What a rank counted.
struct RankCounts {
  std::vector<std::int64_t> sent = {};     ///< payload bytes, by peer
  std::vector<std::int64_t> framing = {};  ///< bytes sent besides, by peer: hellos and requests
  std::int64_t checked = 0;                ///< elements
  std::int64_t wrong = 0;
  struct Bench {
    std::int64_t elements = 0;
    std::int64_t time_ns = 0;
    std::int64_t cpu_ns = 0;
    std::int64_t wrong = 0;
  };
  std::vector<Bench> bench = {};
  std::optional<trainer::Learnt> learnt = {};
};

/// One rank as the run knows it.
struct RankState {
  std::size_t job = 0;
  std::size_t rank = 0;
  std::string label;
  std::int64_t step = 0;                        ///< that it has told last
  std::vector<std::int64_t> acknowledged = {};  ///< told last, by peer; empty until then
  std::string failure = {};
  bool peer_lost = false;  ///< that is why: an effect of another rank's failure
  bool told_counts = false;
  RankCounts counts = {};
};

class RankTalk {
 public:
  /// REQUIRES: the jobs outlive it.
  explicit RankTalk(const std::vector<TrainingJob>& jobs);

  /// How to start the ranks, in order: this program as `program rank`, speaking on standard input.
  /// The descriptors in them are ours.
  std::vector<RankCommand> commands(const os::OwnProgram& program) const;

  /// Answers what has come; never waits. Nobody starts while others than the ranks are not ready.
  /// REQUIRES: all ranks were started.
  void attend(bool others_ready = true);
  /// Of a rank that has ended badly.
  RankCare::Explanation explain(std::size_t rank) const;

  const std::vector<RankState>& ranks() const { return states_; }
  /// The least step that a rank of the job is in, and whether all have started.
  std::int64_t step(std::size_t job) const;
  bool started() const { return started_; }
  /// Where the ranks of a job listen, as far as they have told.
  std::vector<transport::tcp::Endpoint> endpoints(std::size_t job) const;
  /// Whether all ranks have done their work.
  bool done() const;

 private:
  struct Line {
    transport::Control control;
    os::FileDescriptor other_end;
    int port = 0;
    bool ready = false;
    bool done = false;
    bool left = false;
  };
  void close_other_ends();
  void take(std::size_t i, const nlohmann::json& message);
  void introduce(std::size_t job);
  void start_when_ready();
  void dismiss(std::size_t job);
  template <typename Test>
  bool all_of_job(std::size_t job, Test test) const;

  const std::vector<TrainingJob>& jobs_;
  std::vector<RankState> states_;
  std::vector<Line> lines_;
  std::vector<bool> introduced_;
  bool started_ = false;
};

}  // namespace tw::lab
