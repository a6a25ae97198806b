// SPDX-License-Identifier: Apache-2.0
// The run's side of transport/control.h: hands out tasks and endpoints, starts everybody at once,
// hears of steps, failures and counts.

#pragma once

#include "trainwire/carrier/assignment.h"
#include "trainwire/lab/rank_group.h"
#include "trainwire/lab/training.h"
#include "trainwire/os/own_program.h"
#include "trainwire/recover/job_talk.h"
#include "trainwire/trainer/learnt.h"
#include "trainwire/trainer/loop.h"
#include "trainwire/transport/control.h"
#include "trainwire/transport/tcp/address.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
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
  std::int64_t sent_before = 0;  ///< in groups that were given up, of payload
  struct Bench {
    std::int64_t elements = 0;
    std::int64_t time_ns = 0;
    std::int64_t cpu_ns = 0;
    std::int64_t wrong = 0;
  };
  std::vector<Bench> bench = {};
  std::vector<trainer::PairResult> pairs = {};
  std::optional<trainer::Learnt> learnt = {};
  std::vector<carrier::TcpCount> tcp = {};  ///< of a carrier's connections
  /// What it sent in a group of ranks that multicast joins; a member's datagrams are answers.
  struct Cast {
    std::size_t hub = 0;
    std::vector<std::size_t> members = {};
    std::string address = {};
    std::int64_t sent = 0;  ///< payload, which is in `sent` of each member too
    std::int64_t datagram_bytes = 0;
    std::int64_t packets = 0;
    std::int64_t resent = 0;
  };
  std::vector<Cast> casts = {};
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
  /// A rank's process has ended badly: whether its job goes on.
  bool survives(std::size_t rank, const os::Ending& ending);
  /// Ends and starts processes where a job must.
  void steer(RankGroup& ranks);
  bool awaits() const;  ///< a process that is still to be started
  /// Why a job cannot go on although its processes do.
  std::optional<std::string> failure() const;

  const std::vector<RankState>& ranks() const { return states_; }
  /// The least step that a rank of the job is in, and whether all have started.
  std::int64_t step(std::size_t job) const;
  bool started() const { return started_; }
  /// CLOCK_MONOTONIC; 0 before.
  std::int64_t started_ns() const { return started_ns_; }
  recover::JobTalk& job(std::size_t number) { return talks_[number]; }
  const recover::JobTalk& job(std::size_t number) const { return talks_[number]; }
  /// The number of a job's rank among all.
  std::size_t index(std::size_t job, std::size_t rank) const { return first_[job] + rank; }
  /// When ranks said that faults began which they played themselves: fault, CLOCK_MONOTONIC.
  const std::map<int, std::int64_t>& own_faults() const { return own_faults_; }
  /// Where the ranks of a job listen, as far as they have told.
  std::vector<transport::tcp::Endpoint> endpoints(std::size_t job) const;
  /// Whether all ranks have done their work.
  bool done() const;

 private:
  void take(std::size_t i, const nlohmann::json& message);
  /// What a rank counted by the numbers of its group, by those of the job.
  std::vector<std::int64_t> by_identity(std::size_t job,
                                        const std::vector<std::int64_t>& by_rank) const;

  const std::vector<TrainingJob>& jobs_;
  std::vector<RankState> states_;
  std::vector<recover::JobTalk> talks_;  ///< by job
  std::vector<std::size_t> first_;       ///< rank of each job
  std::map<int, std::int64_t> own_faults_;
  bool started_ = false;
  std::int64_t started_ns_ = 0;
};

}  // namespace tw::lab
