// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/casts.h"

#include <gmock/gmock.h>

#include <map>

namespace tw::workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Training training(const std::string& strategy, int ranks, int hosts, int servers = 1) {
  Training made;
  made.strategy = strategy;
  made.arrangement = {.layout = collective::evenly(ranks, hosts), .servers = servers, .pieces = 2};
  made.buckets = {{.elements = 1000}};
  return made;
}

/// All wires of a rank: to everybody, and one for each cast.
std::vector<Wire> wires_of(const Training& of, int rank, std::size_t casts) {
  std::vector<Wire> wires;
  for (int peer = 0; peer < of.ranks(); ++peer) {
    for (int lane = 0; peer != rank && lane < of.connections; ++lane) {
      wires.push_back({.peer = peer, .lane = lane});
    }
  }
  for (std::size_t i = 0; i < casts; ++i) {
    wires.push_back({.peer = -1, .lane = kFirstCastLane + static_cast<int>(i)});
  }
  return wires;
}

TEST(Casts, AServerHasOneToAllWorkers) {
  const Training ps = training("ps", 5, 5, 2);
  EXPECT_THAT(casts_of(ps, exchanges_of(ps)),
              ElementsAre(Cast{.hub = 3, .lane = 0, .members = {0, 1, 2}},
                          Cast{.hub = 4, .lane = 0, .members = {0, 1, 2}}));
}

TEST(Casts, NobodyOnTheHubsHostIsInOne) {
  // Three workers and a server on two hosts: host 1 has rank 2 and the server.
  const Training ps = training("ps", 4, 2);
  EXPECT_THAT(casts_of(ps, exchanges_of(ps)),
              ElementsAre(Cast{.hub = 3, .lane = 0, .members = {0, 1}}));
}

TEST(Casts, OneReceiverNeedsNone) {
  const Training ps = training("ps", 2, 2);
  EXPECT_TRUE(casts_of(ps, exchanges_of(ps)).empty());
}

TEST(Casts, RingsHaveNone) {
  EXPECT_THAT(group_problem(training("ring", 4, 4), collective::Combine::Replace),
              HasSubstr("with strategy ring no rank sends one chunk to two ranks"));
  EXPECT_EQ(group_problem(training("clique", 4, 4), collective::Combine::Replace), "");
}

/// Bytes that parts move, by wire, in order.
using Moves = std::vector<std::pair<std::int64_t, std::int64_t>>;
Moves moves(const Parts& parts, const std::vector<int>& queue) {
  Moves made;
  for (const int number : queue) {
    const Part& part = parts.parts[static_cast<std::size_t>(number)];
    if (part.begin != part.end) made.emplace_back(part.begin, part.end);
  }
  return made;
}

// What the hub writes into a cast is what each member reads from it, in the same order; and all bytes
// that were to reach a member reach it, by cast or by connection.
TEST(Casts, HubAndMembersAgreeOnTheStream) {
  for (const char* strategy : {"ps", "star", "clique", "tree"}) {
    for (const int ranks : {3, 4, 7}) {
      for (const int connections : {1, 2}) {
        Training of = training(strategy, ranks, ranks, 2);
        if (of.row().has_servers && ranks < 4) continue;
        of.connections = connections;
        const Exchanges exchanges = exchanges_of(of);
        const std::vector<Cast> casts = casts_of(of, exchanges);
        std::map<int, Moves> told;
        std::map<int, std::vector<Moves>> heard;
        std::int64_t cast_bytes = 0;
        std::int64_t sent = 0;
        std::int64_t received = 0;
        for (int rank = 0; rank < ranks; ++rank) {
          const std::vector<Wire> wires = wires_of(of, rank, casts.size());
          Parts parts = step_parts(of, exchanges, rank, 0, wires);
          use_casts(parts, of, exchanges.step, rank, casts, wires);
          for (std::size_t wire = 0; wire < wires.size(); ++wire) {
            const Moves out = moves(parts, parts.sends[wire]);
            const Moves in = moves(parts, parts.receives[wire]);
            const int cast = wires[wire].lane - kFirstCastLane;
            for (const auto& [begin, end] : in) received += end - begin;
            for (const auto& [begin, end] : out) {
              const auto times =
                  cast < 0 ? 1 : std::ssize(casts[static_cast<std::size_t>(cast)].members);
              sent += times * (end - begin);
              if (cast >= 0) cast_bytes += end - begin;
            }
            if (cast < 0) continue;
            if (!out.empty()) told[cast] = out;
            if (!in.empty()) heard[cast].push_back(in);
          }
        }
        const std::string what = std::string(strategy) + " of " + std::to_string(ranks);
        EXPECT_EQ(sent, received) << what;
        EXPECT_GT(cast_bytes, 0) << what;
        for (const auto& [cast, streams] : heard) {
          EXPECT_EQ(std::ssize(streams), std::ssize(casts[static_cast<std::size_t>(cast)].members));
          for (const Moves& stream : streams) EXPECT_EQ(stream, told[cast]) << what;
        }
      }
    }
  }
}

}  // namespace
}  // namespace tw::workload
