// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/casts.h"

#include "trainwire/base/error.h"
#include "trainwire/workload/companions.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace tw::workload {
namespace {

using collective::Combine;
using collective::Schedule;
using collective::Transfer;

/// Whether ranks of the strategy, enough of them and on as many hosts, have something to be treated
/// so: where it is only the number of ranks or their hosts that is against it, all travel alone.
bool has_groups(const Training& training, Combine combine) {
  constexpr int kEnough = 7;
  const Schedule schedule = collective::make_schedule(
      training.strategy, {.layout = collective::evenly(kEnough, kEnough), .servers = 1});
  for (int rank = 0; rank < kEnough; ++rank) {
    for (const Transfer& one : transfers_of(schedule, rank)) {
      if (one.combine == combine && companions(schedule, one).size() > 1) return true;
    }
  }
  return false;
}

void add_casts(const Training& training, const Schedule& schedule, std::set<Cast>& casts) {
  for (int rank = 0; rank < training.ranks(); ++rank) {
    for (const Transfer& one : transfers_of(schedule, rank)) {
      if (one.from != rank || one.combine != Combine::Replace) continue;
      std::vector<int> members = members_of(training, schedule, one);
      if (members.size() < 2) continue;
      for (int lane = 0; lane < training.connections; ++lane) {
        casts.insert({.hub = rank, .lane = lane, .members = members});
      }
    }
  }
}

int wire_of(std::span<const Wire> wires, int cast) {
  const auto found = std::ranges::find(wires, kFirstCastLane + cast, &Wire::lane);
  check(found != wires.end(), "there is a wire for every cast of the rank");
  return static_cast<int>(found - wires.begin());
}

}  // namespace

std::string group_problem(const Training& training, Combine combine) {
  const bool is_sum = combine == Combine::Sum;
  if (training.asynchronous()) {
    return is_sum ? "asynchronous ranks wait for nobody, so nothing is there to be summed"
                  : "asynchronous ranks are answered one by one";
  }
  if (has_groups(training, combine)) return {};
  return fmt::format(
      "with strategy {} {}", training.strategy,
      is_sum
          ? "no two ranks send one rank the same chunk in one round, as workers of ps do, or "
            "ranks of star and clique"
          : "no rank sends one chunk to two ranks in one round, as servers of ps do, or ranks of "
            "star and clique");
}

std::vector<int> members_of(const Training& training, const Schedule& schedule,
                            const Transfer& transfer) {
  const collective::Layout& layout = training.arrangement.layout;
  const int hub = transfer.combine == Combine::Sum ? transfer.to : transfer.from;
  std::vector<int> ranks = companions(schedule, transfer);
  std::erase_if(ranks, [&](int rank) { return layout.host(rank) == layout.host(hub); });
  return ranks;
}

std::vector<Cast> casts_of(const Training& training, const Exchanges& exchanges) {
  std::set<Cast> casts;
  add_casts(training, exchanges.step, casts);
  if (exchanges.start) add_casts(training, *exchanges.start, casts);
  return {casts.begin(), casts.end()};
}

void use_casts(Parts& parts, const Training& training, const Schedule& schedule, int rank,
               std::span<const Cast> casts, std::span<const Wire> wires) {
  if (casts.empty()) return;
  for (std::size_t i = 0; i < parts.parts.size(); ++i) {
    Part& part = parts.parts[i];
    const Transfer& transfer = parts.transfer(part);
    if (part.combine != Combine::Replace || part.begin == part.end) continue;
    const Cast wanted{.hub = transfer.from,
                      .lane = wires[static_cast<std::size_t>(part.connection)].lane,
                      .members = members_of(training, schedule, transfer)};
    const auto found = std::ranges::lower_bound(casts, wanted);
    const bool is_cast = found != casts.end() && *found == wanted &&
                         std::ranges::binary_search(wanted.members, transfer.to);
    if (!is_cast) continue;
    // The first member's brings it to all.
    if (rank == wanted.hub && transfer.to != wanted.members.front()) {
      part.end = part.begin;
      continue;
    }
    auto& queues = part.sends ? parts.sends : parts.receives;
    std::erase(queues[static_cast<std::size_t>(part.connection)], static_cast<int>(i));
    part.connection = wire_of(wires, static_cast<int>(found - casts.begin()));
    queues[static_cast<std::size_t>(part.connection)].push_back(static_cast<int>(i));
  }
}

}  // namespace tw::workload
