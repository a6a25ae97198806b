// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/verify.h"

#include "trainwire/collective/goal.h"
#include "trainwire/collective/symbolic.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <span>
#include <string_view>

namespace tw::collective {
namespace {

std::string times(int n) {
  if (n == 0) return "not at all";
  if (n == 1) return "once";
  return n == 2 ? "twice" : fmt::format("{} times", n);
}

// Form: what must hold before a schedule can be executed at all.

void check_form(const Schedule& schedule, const Transfer& t, Findings& findings) {
  if (t.from == t.to) findings.add(fmt::format("{}: a rank sends to itself", text_of(t)));
  if (t.round < 0 || t.round >= schedule.rounds) {
    findings.add(fmt::format("{}: outside of the {} rounds", text_of(t), schedule.rounds));
  }
  if (t.width < 1 || t.chunk + t.width > schedule.chunks) {
    findings.add(fmt::format("{}: outside of the {} chunks", text_of(t), schedule.chunks));
  }
}

/// Every transfer as its sender knows it and as its receiver does, in round order.
struct BothEnds {
  std::vector<Transfer> sent = {};
  std::vector<Transfer> received = {};
};

BothEnds collected(const Schedule& schedule, Findings& findings) {
  BothEnds ends;
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (const Transfer& t : transfers_of(schedule, rank)) {
      check_form(schedule, t, findings);
      if (t.from == rank) {
        ends.sent.push_back(t);
      } else if (t.to == rank) {
        ends.received.push_back(t);
      } else {
        findings.add(fmt::format("{}: stands in the program of rank {}", text_of(t), rank));
      }
    }
  }
  std::sort(ends.sent.begin(), ends.sent.end());
  std::sort(ends.received.begin(), ends.received.end());
  return ends;
}

void check_match(const BothEnds& ends, Findings& findings) {
  std::vector<Transfer> odd;
  std::set_difference(ends.sent.begin(), ends.sent.end(), ends.received.begin(),
                      ends.received.end(), std::back_inserter(odd));
  for (const Transfer& t : odd) {
    findings.add(fmt::format("{}: the receiver does not expect it", text_of(t)));
  }
  odd.clear();
  std::set_difference(ends.received.begin(), ends.received.end(), ends.sent.begin(),
                      ends.sent.end(), std::back_inserter(odd));
  for (const Transfer& t : odd) {
    findings.add(fmt::format("{}: the sender does not send it", text_of(t)));
  }
}

// Goals.

/// How often a copy may hold one worker's contribution.
struct Allowed {
  int least;
  int most;
};

void check_weight(int rank, int chunk, int worker, const Copy& copy, Allowed allowed,
                  Findings& findings) {
  const int held = copy.weight[static_cast<std::size_t>(worker)];
  if (held >= allowed.least && held <= allowed.most) return;
  findings.add(fmt::format("rank {} holds worker {}'s contribution to chunk {} {}", rank, worker,
                           chunk, times(held)));
}

void check_halvings(int rank, int chunk, const Copy& copy, int expected, Findings& findings) {
  if (copy.halvings == expected) return;
  findings.add(fmt::format("rank {} holds chunk {} halved {}, expected {}", rank, chunk,
                           times(copy.halvings), times(expected)));
}

void check_all_reduced(const Schedule& schedule, int rank, int chunk, const Copy& copy,
                       Findings& findings) {
  check_halvings(rank, chunk, copy, 0, findings);
  for (int w = 0; w < schedule.workers; ++w) {
    check_weight(rank, chunk, w, copy, {.least = 1, .most = 1}, findings);
  }
}

void check_copied(const Schedule& schedule, int rank, int chunk, const Copy& copy, int of,
                  Findings& findings) {
  check_halvings(rank, chunk, copy, 0, findings);
  for (int w = 0; w < schedule.workers; ++w) {
    const int expected = w == of ? 1 : 0;
    check_weight(rank, chunk, w, copy, {.least = expected, .most = expected}, findings);
  }
}

void check_updated(const Schedule& schedule, int worker, int chunk, const Copy& copy,
                   Findings& findings) {
  check_halvings(worker, chunk, copy, 0, findings);
  if (!copy.served) {
    findings.add(fmt::format("rank {} does not hold a server's copy of chunk {}", worker, chunk));
  }
  for (int w = 0; w < schedule.workers; ++w) {
    check_weight(worker, chunk, w, copy, {.least = w == worker ? 1 : 0, .most = 1}, findings);
  }
}

/// Chunks are sharded: each has a server, and the servers that it does not concern have none of it.
void check_servers(const Schedule& schedule, const Machine& machine, Findings& findings) {
  for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
    int holders = 0;
    for (int server = schedule.workers; server < schedule.ranks; ++server) {
      const Copy& copy = machine.copy(server, chunk);
      const auto empty = std::count(copy.weight.begin(), copy.weight.end(), 0);
      if (empty == schedule.workers) continue;
      check_all_reduced(schedule, server, chunk, copy, findings);
      ++holders;
    }
    if (holders == 0) findings.add(fmt::format("no server holds chunk {}", chunk));
  }
}

void check_pair_averaged(const Schedule& schedule, int rank, int chunk, const Copy& copy,
                         const Copy& first_chunk, Findings& findings) {
  const bool alone = schedule.workers == 1;
  check_halvings(rank, chunk, copy, alone ? 0 : 1, findings);
  check_weight(rank, chunk, rank, copy, {.least = 1, .most = 1}, findings);
  int held = 0;
  for (int w = 0; w < schedule.workers; ++w) {
    check_weight(rank, chunk, w, copy, {.least = 0, .most = 1}, findings);
    held += copy.weight[static_cast<std::size_t>(w)];
  }
  if (held != (alone ? 1 : 2) || copy.weight != first_chunk.weight) {
    findings.add(fmt::format("rank {} does not hold its own and one peer's chunk {}", rank, chunk));
  }
}

/// Where the goal allows more than one thing.
void check_open(const Schedule& schedule, const Machine& machine, int rank, int chunk,
                Findings& findings) {
  if (rank >= schedule.workers) return;
  const Copy& copy = machine.copy(rank, chunk);
  if (schedule.goal == Goal::ServerUpdate) check_updated(schedule, rank, chunk, copy, findings);
  if (schedule.goal == Goal::PairAverage) {
    check_pair_averaged(schedule, rank, chunk, copy, machine.copy(rank, 0), findings);
  }
}

void check_goal(const Schedule& schedule, const Machine& machine, Findings& findings) {
  if (schedule.goal == Goal::ServerUpdate) check_servers(schedule, machine, findings);
  for (int rank = 0; rank < schedule.ranks; ++rank) {
    for (int chunk = 0; chunk < schedule.chunks; ++chunk) {
      const Copy& copy = machine.copy(rank, chunk);
      const Held held = held_in_the_end(schedule, rank, chunk);
      switch (held.what) {
        case Held::What::Sum:
          check_all_reduced(schedule, rank, chunk, copy, findings);
          break;
        case Held::What::Copy:
          check_copied(schedule, rank, chunk, copy, held.of, findings);
          break;
        case Held::What::Open:
          check_open(schedule, machine, rank, chunk, findings);
          break;
      }
    }
  }
}

void check_lengths(const Schedule& schedule, std::span<const Transfer> transfers,
                   std::int64_t longest_chain, Findings& findings) {
  const std::int64_t rounds = transfers.empty() ? 0 : transfers.back().round + 1;
  if (rounds != schedule.rounds) {
    findings.add(fmt::format("{} rounds are stated, {} are used", schedule.rounds, rounds));
  }
  if (longest_chain != schedule.depth) {
    findings.add(fmt::format("the depth is stated as {}, the longest chain has {} transfers",
                             schedule.depth, longest_chain));
  }
}

// Other interleavings of the workers of an asynchronous parameter server.

int worker_of(const Transfer& t) { return std::min(t.from, t.to); }

bool joins_worker_and_server(const Schedule& schedule, const Transfer& t) {
  return worker_of(t) < schedule.workers && std::max(t.from, t.to) >= schedule.workers;
}

std::vector<Transfer> workers_in_reverse(const Schedule& schedule,
                                         std::vector<Transfer> transfers) {
  for (Transfer& t : transfers) t.round += (schedule.workers - worker_of(t)) * schedule.rounds;
  std::sort(transfers.begin(), transfers.end());
  return transfers;
}

/// Every worker's first round at the same time, then every worker's second, and so on.
std::vector<Transfer> workers_in_step(std::vector<Transfer> transfers) {
  struct Progress {
    std::int64_t last_round = -1;
    std::int64_t step = -1;
  };
  std::map<int, Progress> progress;
  for (Transfer& t : transfers) {
    Progress& own = progress[worker_of(t)];
    if (own.last_round != t.round) ++own.step;
    own.last_round = t.round;
    t.round = own.step;
  }
  std::sort(transfers.begin(), transfers.end());
  return transfers;
}

void check_interleavings(const Schedule& schedule, const std::vector<Transfer>& transfers,
                         Findings& findings) {
  for (const Transfer& t : transfers) {
    if (joins_worker_and_server(schedule, t)) continue;
    findings.add(fmt::format("{}: does not join a worker and a server", text_of(t)));
    return;
  }
  const auto execute = [&](std::string_view order, const std::vector<Transfer>& reordered) {
    findings.set_prefix(fmt::format("with the workers {}: ", order));
    Machine machine(schedule, findings);
    machine.run(reordered);
    check_goal(schedule, machine, findings);
  };
  execute("in reverse", workers_in_reverse(schedule, transfers));
  execute("in step", workers_in_step(transfers));
}

}  // namespace

std::vector<std::string> faults(const Schedule& schedule) {
  Findings findings;
  if (schedule.workers < 1 || schedule.workers > schedule.ranks || schedule.chunks < 1) {
    findings.add(fmt::format("{} workers among {} ranks and {} chunks are no schedule",
                             schedule.workers, schedule.ranks, schedule.chunks));
    return findings.texts();
  }
  const BothEnds ends = collected(schedule, findings);
  check_match(ends, findings);
  if (!findings.texts().empty()) return findings.texts();

  Machine machine(schedule, findings);
  machine.run(ends.sent);
  check_lengths(schedule, ends.sent, machine.longest_chain(), findings);
  check_goal(schedule, machine, findings);
  if (schedule.goal == Goal::ServerUpdate) check_interleavings(schedule, ends.sent, findings);
  return findings.texts();
}

}  // namespace tw::collective
