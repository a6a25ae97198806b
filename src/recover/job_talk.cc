// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recover/job_talk.h"

#include "trainwire/os/clock.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <tuple>
#include <utility>

namespace tw::recover {
namespace {

using nlohmann::json;

}  // namespace

JobTalk::JobTalk(std::vector<trainer::Task> tasks, std::vector<std::string> labels, Policy policy)
    : tasks_(std::move(tasks)), labels_(std::move(labels)), policy_(policy), seats_(tasks_.size()) {
  group_.training = tasks_.front().training;
  begun_ = tasks_.front().first_step();
  for (int rank = 0; rank < ranks(); ++rank) group_.members.push_back(rank);
  for (int rank = 0; rank < ranks(); ++rank) {
    auto [ours, theirs] = transport::make_control_sockets();
    seat(rank).control.emplace(std::move(ours));
    seat(rank).other_end = std::move(theirs);
    seat(rank).next = begun_;
    given_.push_back(task_for(rank));
    seat(rank).control->send(to_json(given_.back()));
  }
}

void JobTalk::attend(const Take& take) {
  for (int rank = 0; rank < ranks(); ++rank) {
    seat(rank).other_end = {};
    listen(rank, take);
  }
  advance();
}

void JobTalk::listen(int rank, const Take& take) {
  while (seat(rank).control) {
    const auto message = seat(rank).control->poll();
    if (!message) return;
    this->take(rank, *message);
    take(rank, *message);
  }
}

void JobTalk::take(int rank, const json& message) {
  Seat& of = seat(rank);
  if (message.contains("step")) of.next = std::max(of.next, message.at("step").get<std::int64_t>());
  if (message.contains("fault")) forget_fault(message.at("fault").get<int>());
  if (message.contains("here")) of.here = true;
  if (message.contains("synchronised") && !recoveries_.empty()) {
    recoveries_.back().bytes += message.at("synchronised").get<std::int64_t>();
  }
  if (message.contains("saved")) {
    const auto problem = message.at("problem").get<std::string>();
    (problem.empty() ? kept_.written : kept_.failed) += 1;
    if (problem.empty()) kept_.bytes = message.at("bytes").get<std::int64_t>();
    if (kept_.problem.empty()) kept_.problem = problem;
    kept_.longest_ns = std::max(kept_.longest_ns, message.at("time_ns").get<std::int64_t>());
  }
  if (message.contains("lost") && of.there) {
    const auto time = message.at("time_ns").get<std::int64_t>();
    const bool silent = message.at("silent").get<bool>();
    const std::string notice = silent ? "silence" : "closed connection";
    if (stage_ == Stage::Halting && !recoveries_.empty()) {
      Recovery& last = recoveries_.back();
      if (time < last.noticed_ns) std::tie(last.noticed_ns, last.notice) = std::pair(time, notice);
      return;
    }
    const auto why = message.at("lost").get<std::string>();
    if (!started_) return fail(fmt::format("{}: {}", labels_[static_cast<std::size_t>(rank)], why));
    return halt({.what = fmt::format("{}: {}", labels_[static_cast<std::size_t>(rank)], why),
                 .notice = notice,
                 .noticed_ns = time});
  }
  if (stage_ == Stage::Halting) {
    if (!message.contains("halted")) return;
    of.halted = true;
    of.next = message.at("halted").get<std::int64_t>();
    of.has_model = message.at("has_model").get<bool>();
    message.at("cuts").get_to(of.cuts);
    return;
  }
  if (message.contains("port") && message.at("group").get<int>() == number_) {
    message.at("port").get_to(of.port);
    of.carrier = message.value("carrier", json());
  }
  if (message.contains("ready")) of.ready = true;
  if (message.contains("done")) of.done = true;
}

void JobTalk::advance() {
  if (failure_ || left_) return;
  const auto everybody = [this](auto property) {
    return std::ranges::all_of(group_.members, [&](int rank) { return property(seat(rank)); });
  };
  switch (stage_) {
    case Stage::Forming:
      if (!introduced_) connect();
      if (started_ && everybody([](const Seat& s) { return s.ready; })) go();
      return;
    case Stage::Training:
      if (everybody([](const Seat& s) { return s.done; })) return dismiss();
      for (int rank = 0; rank < ranks(); ++rank) {
        if (!seat(rank).here) continue;
        return halt({.what = fmt::format("{} is back", labels_[static_cast<std::size_t>(rank)]),
                     .notice = "return",
                     .noticed_ns = os::monotonic_ns()});
      }
      return;
    case Stage::Halting:
      if (everybody([](const Seat& s) { return !s.there || s.halted; }) ||
          os::monotonic_ns() > deadline_ns_) {
        decide();
      }
      return;
    case Stage::Waiting:
      for (Seat& one : seats_) {
        if (std::exchange(one.visits, false)) one.there = true;
      }
      if (std::ranges::none_of(seats_, [](const Seat& s) { return s.start_ns.has_value(); }))
        form();
  }
}

/// Once all ranks listen, each is told where.
void JobTalk::connect() {
  json endpoints = json::array();
  for (const int rank : group_.members) {
    if (seat(rank).port == 0) return;
    endpoints.push_back(
        {tasks_[static_cast<std::size_t>(rank)].address, seat(rank).port, seat(rank).carrier});
  }
  for (const int rank : group_.members) seat(rank).control->send({{"endpoints", endpoints}});
  introduced_ = true;
}

bool JobTalk::ready() const {
  return std::ranges::all_of(group_.members, [this](int rank) { return seat(rank).ready; });
}

bool JobTalk::awaits() const {
  return !failure_ && !left_ &&
         std::ranges::any_of(seats_, [](const Seat& one) { return one.start_ns.has_value(); });
}

void JobTalk::go() {
  for (const int rank : group_.members) seat(rank).control->send({{"go", true}});
  stage_ = Stage::Training;
  started_ = true;
  if (!recoveries_.empty()) recoveries_.back().again_ns = os::monotonic_ns();
}

/// Nobody leaves before all have done their work: others may still be receiving.
void JobTalk::dismiss() {
  for (Seat& one : seats_) {
    one.start_ns.reset();
    if (one.control) one.control->send({{"leave", true}});
  }
  left_ = true;
}

std::int64_t JobTalk::furthest() const {
  std::int64_t most = begun_;
  for (const Seat& one : seats_) most = std::max(most, one.next);
  return most;
}

void JobTalk::forget_fault(int fault) {
  for (trainer::Task& task : tasks_) {
    std::erase_if(task.survival.signals,
                  [&](const trainer::OwnSignal& own) { return own.fault == fault; });
  }
}

void JobTalk::fail(const std::string& why) {
  if (!failure_) failure_ = why;
}

}  // namespace tw::recover
