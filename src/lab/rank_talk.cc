// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/rank_talk.h"

#include "trainwire/os/clock.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <signal.h>

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
  for (const json& told : message.value("casts", json::array())) {
    RankCounts::Cast& cast = counts.casts.emplace_back();
    told.at("hub").get_to(cast.hub);
    told.at("members").get_to(cast.members);
    told.at("address").get_to(cast.address);
    told.at("sent").get_to(cast.sent);
    told.at("datagram_bytes").get_to(cast.datagram_bytes);
    told.at("packets").get_to(cast.packets);
    told.at("resent").get_to(cast.resent);
    for (const std::size_t member : cast.members) counts.sent.at(member) += cast.sent;
  }
  message.at("checked").get_to(counts.checked);
  message.at("wrong").get_to(counts.wrong);
  message.at("sent_before").get_to(counts.sent_before);
  for (const json& row : message.at("bench")) {
    counts.bench.push_back({.elements = row.at(0).get<std::int64_t>(),
                            .time_ns = row.at(1).get<std::int64_t>(),
                            .cpu_ns = row.at(3).get<std::int64_t>(),
                            .wrong = row.at(2).get<std::int64_t>()});
  }
  for (const json& row : message.value("pairs", json::array())) {
    counts.pairs.push_back({.peer = row.at(0).get<int>(),
                            .round_trip_ns = row.at(1).get<std::int64_t>(),
                            .received_bytes = row.at(2).get<std::int64_t>(),
                            .time_ns = row.at(3).get<std::int64_t>(),
                            .retransmitted = row.at(4).get<std::int64_t>()});
  }
  if (message.contains("learnt")) counts.learnt = trainer::learnt_from(message.at("learnt"));
  counts.tcp = carrier::tcp_counts_from(message.value("tcp", json::array()));
  return counts;
}

}  // namespace

RankTalk::RankTalk(const std::vector<TrainingJob>& jobs) : jobs_(jobs) {
  for (std::size_t job = 0; job < jobs.size(); ++job) {
    first_.push_back(states_.size());
    std::vector<std::string> labels;
    for (std::size_t rank = 0; rank < jobs[job].tasks.size(); ++rank) {
      labels.push_back(jobs[job].label(rank));
      states_.push_back(
          {.job = job, .rank = rank, .label = labels.back(), .step = -jobs[job].training().warmup});
    }
    talks_.emplace_back(jobs[job].tasks, std::move(labels), jobs[job].policy);
  }
}

std::vector<RankCommand> RankTalk::commands(const os::OwnProgram& program) const {
  std::vector<RankCommand> commands;
  for (const RankState& state : states_) {
    const TrainingJob& job = jobs_[state.job];
    commands.push_back(
        {.rank = static_cast<int>(state.rank),
         .host = job.hosts[state.rank],
         .label = state.label,
         .file = job.named ? file_name(state.job, state.rank) : fmt::format("rank{}", state.rank),
         .group = static_cast<int>(state.job),
         .input = talks_[state.job].input_of(static_cast<int>(state.rank)),
         .words = program.words,
         .environment = program.environment});
    commands.back().words.emplace_back("rank");
  }
  return commands;
}

void RankTalk::attend(bool others_ready) {
  for (std::size_t job = 0; job < talks_.size(); ++job) {
    talks_[job].attend([&](int rank, const json& message) {
      take(index(job, static_cast<std::size_t>(rank)), message);
    });
  }
  const auto ready = [](const recover::JobTalk& talk) { return talk.ready(); };
  if (started_ || !others_ready || !std::ranges::all_of(talks_, ready)) return;
  for (recover::JobTalk& talk : talks_) talk.go();
  started_ = true;
  started_ns_ = os::monotonic_ns();
}

void RankTalk::take(std::size_t i, const json& message) {
  RankState& state = states_[i];
  if (message.contains("step")) message.at("step").get_to(state.step);
  if (message.contains("fault")) {
    own_faults_[message.at("fault").get<int>()] = message.at("time_ns").get<std::int64_t>();
  }
  if (message.contains("acknowledged")) {
    const auto bytes = message.at("acknowledged").get<std::vector<std::int64_t>>();
    if (static_cast<int>(bytes.size()) == talks_[state.job].group().size()) {
      state.acknowledged = by_identity(state.job, bytes);
    }
  }
  if (message.contains("failed")) {
    message.at("failed").get_to(state.failure);
    message.at("peer_lost").get_to(state.peer_lost);
  }
  if (message.contains("counts")) {
    state.counts = counts_from(message, jobs_[state.job].tasks.size());
    state.counts.sent = by_identity(state.job, state.counts.sent);
    state.counts.framing = by_identity(state.job, state.counts.framing);
    state.told_counts = true;
  }
}

std::vector<std::int64_t> RankTalk::by_identity(std::size_t job,
                                                const std::vector<std::int64_t>& by_rank) const {
  const recover::Group& group = talks_[job].group();
  std::vector<std::int64_t> all(jobs_[job].tasks.size());
  for (std::size_t rank = 0; rank < group.members.size(); ++rank) {
    all[static_cast<std::size_t>(group.members[rank])] = by_rank[rank];
  }
  return all;
}

std::vector<transport::tcp::Endpoint> RankTalk::endpoints(std::size_t job) const {
  std::vector<transport::tcp::Endpoint> endpoints;
  for (std::size_t rank = 0; rank < jobs_[job].tasks.size(); ++rank) {
    const int port = talks_[job].port(static_cast<int>(rank));
    if (port == 0) continue;
    endpoints.push_back(
        {.address = jobs_[job].tasks[rank].address, .port = static_cast<std::uint16_t>(port)});
  }
  return endpoints;
}

RankCare::Explanation RankTalk::explain(std::size_t rank) const {
  const RankState& state = states_[rank];
  const std::string where =
      started_ ? fmt::format("at step {}", state.step) : "before the first step";
  if (state.failure.empty()) return {.text = where};
  return {.text = fmt::format("{}: {}", where, state.failure), .cause = !state.peer_lost};
}

bool RankTalk::survives(std::size_t rank, const os::Ending& ending) {
  const RankState& state = states_[rank];
  const std::string told = explain(rank).text;
  return talks_[state.job].survives(
      static_cast<int>(state.rank),
      fmt::format("{} {} {}", state.label, os::describe(ending), told));
}

void RankTalk::steer(RankGroup& ranks) {
  for (std::size_t job = 0; job < talks_.size(); ++job) {
    const auto at = [&](int rank) { return index(job, static_cast<std::size_t>(rank)); };
    talks_[job].steer({.kill = [&](int rank) { ranks.signal(at(rank), SIGKILL); },
                       .start =
                           [&](int rank, const os::FileDescriptor& input) {
                             states_[at(rank)].failure.clear();
                             ranks.restart(at(rank), input.get());
                           }});
  }
}

bool RankTalk::awaits() const {
  return std::ranges::any_of(talks_, [](const recover::JobTalk& talk) { return talk.awaits(); });
}

std::optional<std::string> RankTalk::failure() const {
  for (const recover::JobTalk& talk : talks_) {
    if (talk.failure()) return talk.failure();
  }
  return {};
}

bool RankTalk::done() const {
  return std::ranges::all_of(talks_, [](const recover::JobTalk& talk) { return talk.left(); });
}

std::int64_t RankTalk::step(std::size_t job) const {
  std::int64_t least = jobs_[job].training().steps;
  for (const RankState& state : states_) {
    const bool counts = state.job == job && talks_[job].is_member(static_cast<int>(state.rank));
    if (counts) least = std::min(least, state.step);
  }
  return least;
}

}  // namespace tw::lab
