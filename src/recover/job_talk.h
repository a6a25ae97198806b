// SPDX-License-Identifier: Apache-2.0
// The run's side of transport/control.h for one job: it forms the group of its ranks, and forms it
// anew when one is lost, comes back or cannot be reached.
//
//   Forming    tasks are out; ranks listen, are told where the others are, connect, are told to go
//   Training
//   Halting    somebody is lost or back: all are asked to stop, and tell how far they are
//   Waiting    for ranks that are being started again
//
// A rank is lost when its process ends, when it does not answer a halt, or when its data is not
// acknowledged while everybody waits (culprits.h). A silent rank is noticed by the others, whose
// patience is the job's failure_timeout. The group's model is that of the rank which has come
// furthest, or, where ranks are started again, that of the last checkpoint that is whole; ranks
// that draw their peers have models of their own and go on from those.
//
// Ranks are named by their identity throughout: the number that they had at first.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/checkpoint/store.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/recover/regroup.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/trainer/task.h"
#include "trainwire/transport/control.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::recover {

/// What to do when a rank is lost.
struct Policy {
  spec::OnFailure on_failure = spec::OnFailure::Abort;
  Duration timeout = std::chrono::seconds(30);
  Duration restart_after = {};
  bool survives() const { return on_failure != spec::OnFailure::Abort; }
};

/// The job formed anew, once. Times are of CLOCK_MONOTONIC.
struct Recovery {
  std::string what = {};  ///< "rank 1 on host1 was killed by signal 9 (Killed)"
  std::vector<int> lost = {};
  std::string notice = {};  ///< as record::Recovery has it
  std::int64_t noticed_ns = 0;
  std::int64_t again_ns = 0;  ///< ranks were told to go; 0 when they were not
  std::int64_t step = 0;
  std::int64_t lost_steps = 0;
  bool from_checkpoint = false;
  std::int64_t bytes = 0;
  int ranks = 0;
};

/// Checkpoints of the job.
struct Kept {
  std::int64_t written = 0;
  std::int64_t failed = 0;
  std::int64_t bytes = 0;  ///< of the last
  std::int64_t longest_ns = 0;
  std::string problem = {};  ///< the first
};

/// What is done to the process of a rank.
struct Hands {
  std::function<void(int rank)> kill = {};
  /// Starts it anew with that standard input.
  std::function<void(int rank, const os::FileDescriptor& input)> start = {};
};

class JobTalk {
 public:
  /// What a rank says besides.
  using Take = std::function<void(int rank, const nlohmann::json& message)>;

  /// `labels`: "rank 2 on host1". The tasks go out at once.
  JobTalk(std::vector<trainer::Task> tasks, std::vector<std::string> labels, Policy policy);

  /// The descriptor that becomes a rank's standard input.
  int input_of(int rank) const { return seat(rank).other_end.get(); }

  /// Answers what has come; never waits.
  void attend(const Take& take);
  /// Ends and starts processes as it must be.
  void steer(const Hands& hands);
  /// A process has ended badly. Whether the job can go on.
  bool survives(int rank, const std::string& what);
  /// Why it cannot go on, although processes do.
  const std::optional<std::string>& failure() const { return failure_; }

  bool ready() const;  ///< everybody is connected, for the first time
  void go();           ///< REQUIRES: ready()
  bool started() const { return started_; }
  bool left() const { return left_; }  ///< all work is done
  bool awaits() const;                 ///< a process that is still to be started

  const Group& group() const { return group_; }
  bool is_member(int rank) const { return group_.rank_of(rank) >= 0; }
  /// Where a rank listens; 0: not yet.
  int port(int rank) const { return seat(rank).port; }
  /// The step that any of them has begun last.
  std::int64_t furthest() const;
  /// A fault that was asked for has been played: it is not played again.
  void forget_fault(int fault);

  const std::vector<Recovery>& recoveries() const { return recoveries_; }
  const Kept& kept() const { return kept_; }
  /// Every task that was given out, in order.
  const std::vector<trainer::Task>& given() const { return given_; }

 private:
  enum class Stage { Forming, Training, Halting, Waiting };
  struct Seat {
    std::optional<transport::Control> control = {};
    os::FileDescriptor other_end = {};
    bool there = true;                          ///< has a process that takes part, or will
    bool visits = false;                        ///< has a process that waits to take part
    std::optional<std::int64_t> start_ns = {};  ///< when it is to be started again
    int port = 0;
    nlohmann::json carrier = {};  ///< what the others' carriers must know
    bool ready = false;
    bool done = false;
    bool halted = false;
    bool here = false;  ///< a visitor that reaches the others
    bool has_model = false;
    std::int64_t next = 0;  ///< step
    std::vector<int> cuts = {};
    bool to_kill = false;
  };

  Seat& seat(int rank) { return seats_[static_cast<std::size_t>(rank)]; }
  const Seat& seat(int rank) const { return seats_[static_cast<std::size_t>(rank)]; }
  int ranks() const { return static_cast<int>(seats_.size()); }
  void listen(int rank, const Take& take);
  void take(int rank, const nlohmann::json& message);
  void connect();
  void advance();
  void dismiss();
  void halt(Recovery why);
  void decide();
  void drop(int rank, const std::string& what);
  void drop_silent();
  void drop_cut();
  void send_back();
  void start_due(const Hands& hands);
  void form();
  std::vector<bool> there() const;
  /// With what a new group begins.
  struct Start {
    int first = 0;  ///< becomes rank 0
    std::int64_t step = 0;
    std::vector<std::int64_t> steps = {};  ///< by rank, where each has its own
    std::vector<std::string> restores = {};
    bool from_checkpoint = false;
  };
  Start common_start();
  Start own_start();
  std::optional<checkpoint::Found> checkpoint_of(int rank);
  trainer::Task task_for(int rank) const;
  checkpoint::Store store_of(int rank) const;
  void fail(const std::string& why);

  std::vector<trainer::Task> tasks_;  ///< as they were at first
  std::vector<std::string> labels_;
  Policy policy_;
  std::vector<Seat> seats_;
  Group group_;
  int number_ = 0;  ///< of the group
  Stage stage_ = Stage::Forming;
  bool introduced_ = false;
  bool started_ = false;
  bool left_ = false;
  std::int64_t deadline_ns_ = 0;  ///< for answers to a halt
  bool silence_ = false;          ///< is why it was halted
  std::int64_t begun_ = 0;        ///< first step of this group
  int barren_ = 0;                ///< groups in a row that did no step
  std::vector<Recovery> recoveries_;
  std::vector<trainer::Task> given_;
  Kept kept_;
  std::optional<std::string> failure_;
};

}  // namespace tw::recover
