// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/rank_group.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <thread>

namespace tw::lab {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;

constexpr Duration kLook = milliseconds(10);
constexpr Duration kGrace = seconds(3);
/// Ranks of one program end together; one that lingers is waiting for something that will not come.
constexpr Duration kLongestFarewell = seconds(30);
/// After one rank has failed others follow; within this time the cause shows.
constexpr Duration kAftermath = milliseconds(300);

}  // namespace

std::unique_ptr<fleet::Process> RankGroup::launch(const RankCommand& command,
                                                  const std::string& output, int input) const {
  const os::FileDescriptor nothing = os::open_to_read("/dev/null");
  const os::FileDescriptor file = os::open_in_place(output);
  return starter_(command, input >= 0 ? input : nothing.get(), file.get());
}

void RankGroup::start(std::vector<RankCommand> commands, const std::string& folder,
                      const Starter& starter) {
  folder_ = folder;
  starter_ = starter;
  since_ = steady_clock::now();
  for (RankCommand& command : commands) {
    const std::string output = fmt::format("{}/{}.txt", folder, command.file);
    started_.push_back({.command = std::move(command), .output = output});
  }
  for (Started& started : started_) {
    if (started.command.start == Duration{}) begin(started);
  }
}

void RankGroup::begin(Started& started) {
  started.begun = true;
  started.child = launch(started.command, started.output, started.command.input);
}

void RankGroup::begin_due() {
  for (Started& started : started_) {
    if (!started.begun && steady_clock::now() >= since_ + started.command.start) begin(started);
  }
}

void RankGroup::restart(std::size_t i, int input) {
  Started& of = started_[i];
  of.child->stop(Duration(0));
  of.output = fmt::format("{}/{}-again{}.txt", folder_, of.command.file, ++of.restarts);
  of.child = launch(of.command, of.output, input);
  of.excused = false;
  of.ended.reset();
}

void RankGroup::excuse(const RankCare& care) {
  if (!care.survives) return;
  for (std::size_t i = 0; i < started_.size(); ++i) {
    Started& of = started_[i];
    const auto ending = of.child->poll();
    if (!ending || ending->succeeded() || of.excused) continue;
    of.excused = care.survives(i, *ending);
  }
}

bool RankGroup::any_running() {
  return std::any_of(started_.begin(), started_.end(),
                     [](Started& s) { return !s.begun || !s.child->poll(); });
}

std::optional<std::string> RankGroup::wait(const RankCare& care) {
  const auto limit = steady_clock::now() + care.timeout;
  while (any_running() || (care.awaits && care.awaits())) {
    std::this_thread::sleep_for(kLook);
    begin_due();
    if (care.attend) care.attend();
    excuse(care);
    if (care.steer) care.steer(*this);
    excuse(care);  // whom that has ended
    if (const auto why = failure(care)) return why;
    if (care.stop && care.stop()) return {};
    const auto now = steady_clock::now();
    if (now > limit) return fmt::format("no end after {}", readable(care.timeout));
    if (care.broken) {
      if (const auto why = care.broken()) return why;
    }
    if (const auto why = lingering(care)) return why;
  }
  if (care.attend) care.attend();
  excuse(care);
  return failure(care);
}

/// The rank that was killed is the cause before one that noticed.
std::optional<std::string> RankGroup::failure(const RankCare& care) {
  const auto failed = [](Started& s) {
    return s.child->poll() && !s.child->poll()->succeeded() && !s.excused;
  };
  if (std::none_of(started_.begin(), started_.end(), failed)) return {};
  for (auto until = steady_clock::now() + kAftermath;
       steady_clock::now() < until && any_running();) {
    std::this_thread::sleep_for(kLook);
    if (care.attend) care.attend();
  }
  int best = -1;
  std::optional<std::string> why;
  for (std::size_t i = 0; i < started_.size(); ++i) {
    if (!failed(started_[i])) continue;
    const os::Ending ending = *started_[i].child->poll();
    const RankCare::Explanation told = care.explain ? care.explain(i) : RankCare::Explanation{};
    const int weight = ending.signal != 0 ? 2 : told.cause ? 1 : 0;
    if (weight <= best) continue;
    best = weight;
    why = fmt::format("{} {}{}{}", label(i), os::describe(ending), told.text.empty() ? "" : " ",
                      told.text);
  }
  return why;
}

/// One whose group has been ending for too long.
std::optional<std::string> RankGroup::lingering(const RankCare& care) {
  const auto now = steady_clock::now();
  for (std::size_t i = 0; i < started_.size(); ++i) {
    Started& started = started_[i];
    if (started.ended || !started.child->poll()) continue;
    started.ended = now;
    if (care.ended) care.ended(i, *started.child->poll());
  }
  for (Started& started : started_) {
    if (started.ended) continue;
    for (const Started& other : started_) {
      if (other.command.group != started.command.group || !other.ended || other.excused) continue;
      if (now < *other.ended + kLongestFarewell) continue;
      return fmt::format("{} went on for {} after {} had ended", started.command.label,
                         readable(kLongestFarewell), other.command.label);
    }
  }
  return {};
}

std::vector<RankOutcome> RankGroup::stop() {
  for (Started& started : started_) {
    if (!started.begun || started.child->poll()) continue;
    started.stopped = true;
    started.child->signal(SIGTERM);
    started.child->signal(SIGCONT);  // one that was stopped could not end
  }
  const auto limit = steady_clock::now() + kGrace;
  std::vector<RankOutcome> outcomes;
  for (Started& started : started_) {
    if (!started.begun) started.stopped = true;
    const auto left = limit - steady_clock::now();
    started.child->wait_for(std::max(left, steady_clock::duration(0)));
    const os::Ending ending = started.child->stop(Duration(0));
    outcomes.push_back({.label = started.command.label,
                        .output = started.output,
                        .ending = ending,
                        .stopped = started.stopped,
                        .excused = started.excused});
  }
  return outcomes;
}

}  // namespace tw::lab
