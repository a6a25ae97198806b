// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/rank_talk.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace tw::lab {
namespace {

using nlohmann::json;

RankCounts counts_from(const json& message, std::size_t ranks) {
  RankCounts counts;
  counts.sent.resize(ranks);
  counts.framing.resize(ranks);
  for (const json& wire : message.at("counts")) {
    const auto peer = wire.at("peer").get<std::size_t>();
    counts.sent.at(peer) += wire.at("sent").get<std::int64_t>();
    counts.framing.at(peer) += wire.at("framing").get<std::int64_t>();
  }
  message.at("checked").get_to(counts.checked);
  message.at("wrong").get_to(counts.wrong);
  for (const json& row : message.at("bench")) {
    counts.bench.push_back({.elements = row.at(0).get<std::int64_t>(),
                            .time_ns = row.at(1).get<std::int64_t>(),
                            .cpu_ns = row.at(3).get<std::int64_t>(),
                            .wrong = row.at(2).get<std::int64_t>()});
  }
  if (message.contains("learnt")) counts.learnt = trainer::learnt_from(message.at("learnt"));
  return counts;
}

}  // namespace

RankTalk::RankTalk(const std::vector<TrainingJob>& jobs)
    : jobs_(jobs), introduced_(jobs.size(), false) {
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    for (std::size_t rank = 0; rank < jobs[job].tasks.size(); ++rank) {
      states_.push_back({.job = job,
                         .rank = rank,
                         .label = jobs[job].label(rank),
                         .step = -jobs[job].training().warmup});
      auto [ours, theirs] = transport::make_control_sockets();
      lines_.push_back(
          {.control = transport::Control(std::move(ours)), .other_end = std::move(theirs)});
      lines_.back().control.send(to_json(jobs[job].tasks[rank]));
    }
  }
}

std::vector<RankCommand> RankTalk::commands(const os::OwnProgram& program) const {
  std::vector<RankCommand> commands;
  for (std::size_t i = 0; i < states_.size(); ++i) {
    const RankState& state = states_[i];
    const TrainingJob& job = jobs_[state.job];
    commands.push_back(
        {.rank = static_cast<int>(state.rank),
         .host = job.hosts[state.rank],
         .label = state.label,
         .file = job.named ? file_name(state.job, state.rank) : fmt::format("rank{}", state.rank),
         .group = static_cast<int>(state.job),
         .input = lines_[i].other_end.get(),
         .words = program.words,
         .environment = program.environment});
    commands.back().words.emplace_back("rank");
  }
  return commands;
}

void RankTalk::close_other_ends() {
  for (Line& line : lines_) line.other_end = {};
}

void RankTalk::attend(bool others_ready) {
  close_other_ends();
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    while (const auto message = lines_[i].control.poll()) take(i, *message);
  }
  for (std::size_t job = 0; job < jobs_.size(); ++job) {
    if (!introduced_[job]) introduce(job);
    dismiss(job);
  }
  if (!started_ && others_ready) start_when_ready();
}

void RankTalk::take(std::size_t i, const json& message) {
  RankState& state = states_[i];
  if (message.contains("step")) message.at("step").get_to(state.step);
  if (message.contains("acknowledged")) {
    auto bytes = message.at("acknowledged").get<std::vector<std::int64_t>>();
    if (bytes.size() == jobs_[state.job].tasks.size()) state.acknowledged = std::move(bytes);
  }
  if (message.contains("failed")) {
    message.at("failed").get_to(state.failure);
    message.at("peer_lost").get_to(state.peer_lost);
  }
  if (message.contains("port")) message.at("port").get_to(lines_[i].port);
  if (message.contains("ready")) lines_[i].ready = true;
  if (message.contains("done")) lines_[i].done = true;
  if (message.contains("counts")) {
    state.counts = counts_from(message, jobs_[state.job].tasks.size());
    state.told_counts = true;
  }
}

template <typename Test>
bool RankTalk::all_of_job(std::size_t job, Test test) const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (states_[i].job == job && !test(lines_[i])) return false;
  }
  return true;
}

std::vector<transport::tcp::Endpoint> RankTalk::endpoints(std::size_t job) const {
  std::vector<transport::tcp::Endpoint> endpoints;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (states_[i].job != job || lines_[i].port == 0) continue;
    endpoints.push_back({.address = jobs_[job].tasks[states_[i].rank].address,
                         .port = static_cast<std::uint16_t>(lines_[i].port)});
  }
  return endpoints;
}

/// Once all ranks of a job listen, each is told where.
void RankTalk::introduce(std::size_t job) {
  if (!all_of_job(job, [](const Line& line) { return line.port != 0; })) return;
  json endpoints = json::array();
  for (const auto& [address, port] : this->endpoints(job)) endpoints.push_back({address, port});
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (states_[i].job == job) lines_[i].control.send({{"endpoints", endpoints}});
  }
  introduced_[job] = true;
}

void RankTalk::start_when_ready() {
  if (!std::all_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.ready; })) {
    return;
  }
  for (const Line& line : lines_) line.control.send({{"go", true}});
  started_ = true;
}

/// Nobody leaves before all have done their work: others may still be receiving.
void RankTalk::dismiss(std::size_t job) {
  if (!all_of_job(job, [](const Line& line) { return line.done && !line.left; })) return;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (states_[i].job != job) continue;
    lines_[i].control.send({{"leave", true}});
    lines_[i].left = true;
  }
}

RankCare::Explanation RankTalk::explain(std::size_t rank) const {
  const RankState& state = states_[rank];
  const std::string where =
      started_ ? fmt::format("at step {}", state.step) : "before the first step";
  if (state.failure.empty()) return {.text = where};
  return {.text = fmt::format("{}: {}", where, state.failure), .cause = !state.peer_lost};
}

bool RankTalk::done() const {
  return std::all_of(lines_.begin(), lines_.end(), [](const Line& line) { return line.left; });
}

std::int64_t RankTalk::step(std::size_t job) const {
  std::int64_t least = jobs_[job].training().steps;
  for (const RankState& state : states_) {
    if (state.job == job) least = std::min(least, state.step);
  }
  return least;
}

}  // namespace tw::lab
