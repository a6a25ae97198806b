// SPDX-License-Identifier: Apache-2.0
// Who is lost, who is started again, and whether the job goes on: JobTalk from a loss to a new group.
#include "trainwire/os/clock.h"
#include "trainwire/recover/culprits.h"
#include "trainwire/recover/job_talk.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::recover {
namespace {

using spec::OnFailure;
using std::chrono::seconds;

/// Who is asked to stop has to answer within the job's patience, but no sooner and no later.
constexpr Duration kLeastGrace = seconds(1);
constexpr Duration kMostGrace = seconds(5);
/// A visitor whose process ends is tried again, but not all the time.
constexpr Duration kVisitAgain = seconds(1);

std::int64_t after(Duration time) { return os::monotonic_ns() + time.count(); }

}  // namespace

bool JobTalk::survives(int rank, const std::string& what) {
  if (!policy_.survives() || !started_ || left_ || failure_) return false;
  Seat& of = seat(rank);
  of.to_kill = false;
  of.control.reset();
  if (of.visits) {
    of.visits = of.here = false;
    of.start_ns = after(std::max(policy_.restart_after, kVisitAgain));
  }
  if (!of.there) return true;
  if (stage_ == Stage::Training || stage_ == Stage::Forming) {
    halt({.notice = "end of the process", .noticed_ns = os::monotonic_ns()});
  }
  drop(rank, what);
  if (stage_ == Stage::Waiting) of.start_ns = after(policy_.restart_after);
  return true;
}

/// Everybody stops; a group that has not trained yet is part of the same recovery.
void JobTalk::halt(Recovery why) {
  stage_ = Stage::Halting;
  deadline_ns_ = after(std::clamp(policy_.timeout, kLeastGrace, kMostGrace));
  if (recoveries_.empty() || recoveries_.back().again_ns != 0) {
    recoveries_.push_back(std::move(why));
  }
  for (const int rank : group_.members) {
    Seat& of = seat(rank);
    of.halted = false;
    of.cuts.clear();
    if (of.there && of.control) of.control->send({{"halt", true}});
  }
}

void JobTalk::drop(int rank, const std::string& what) {
  Seat& of = seat(rank);
  of.there = of.has_model = false;
  Recovery& last = recoveries_.back();
  // The cause before what others noticed of it.
  last.what = last.lost.empty() ? what : fmt::format("{}; {}", last.what, what);
  last.lost.push_back(rank);
}

void JobTalk::drop_silent() {
  for (const int rank : group_.members) {
    Seat& of = seat(rank);
    if (!of.there || of.halted) continue;
    drop(rank, fmt::format("{} was silent for {}", labels_[static_cast<std::size_t>(rank)],
                           readable(policy_.timeout)));
    of.to_kill = true;
    of.control.reset();
  }
}

void JobTalk::drop_cut() {
  std::vector<Cut> cuts;
  for (const int rank : group_.members) {
    for (const int other : seat(rank).cuts) {
      cuts.emplace_back(rank, group_.members[static_cast<std::size_t>(other)]);
    }
  }
  for (const int rank : culprits(cuts)) {
    drop(rank, fmt::format("{} could not be reached", labels_[static_cast<std::size_t>(rank)]));
    seat(rank).to_kill = true;
    seat(rank).control.reset();
  }
}

/// All have answered, or will not.
void JobTalk::decide() {
  drop_silent();
  if (recoveries_.back().lost.empty()) drop_cut();
  if (policy_.on_failure != OnFailure::Shrink) send_back();
  if (policy_.on_failure == OnFailure::Restart) {
    stage_ = Stage::Waiting;
    return;
  }
  for (Seat& one : seats_) {
    if (one.visits && one.here) {
      one.there = true;
      one.visits = one.here = false;
    }
  }
  const bool can_wait = policy_.on_failure == OnFailure::Grow;
  if (can_wait && !regroup_problem(tasks_.front().training, there()).empty()) {
    stage_ = Stage::Waiting;
  } else {
    form();
  }
}

void JobTalk::send_back() {
  for (Seat& one : seats_) {
    if (!one.there && !one.visits && !one.start_ns) one.start_ns = after(policy_.restart_after);
  }
}

void JobTalk::steer(const Hands& hands) {
  for (int rank = 0; rank < ranks(); ++rank) {
    if (std::exchange(seat(rank).to_kill, false)) hands.kill(rank);
  }
  if (!failure_ && !left_) start_due(hands);
}

void JobTalk::start_due(const Hands& hands) {
  for (int rank = 0; rank < ranks(); ++rank) {
    Seat& of = seat(rank);
    if (!of.start_ns || os::monotonic_ns() < *of.start_ns) continue;
    if (stage_ == Stage::Halting || stage_ == Stage::Forming) continue;
    auto [ours, theirs] = transport::make_control_sockets();
    of = {.control = transport::Control(std::move(ours)), .there = false};
    of.next = begun_;
    hands.start(rank, theirs);
    if (stage_ == Stage::Waiting) {
      of.there = true;
      continue;
    }
    of.visits = true;
    const int host = group_.members.front();
    of.control->send({{"visit",
                       {{"address", tasks_[static_cast<std::size_t>(host)].address},
                        {"port", seat(host).port},
                        {"from", tasks_[static_cast<std::size_t>(rank)].address}}}});
  }
}

}  // namespace tw::recover
