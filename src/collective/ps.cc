// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"

namespace tw::collective {
namespace {

/// Ranks 0..workers-1 are workers; rank workers + j serves shard j, which is chunk j.
struct Roles {
  int workers;
  int servers;
  bool asynchronous;

  std::int64_t push_round(int worker) const { return asynchronous ? 2 * std::int64_t{worker} : 0; }
};

Program worker_program(const Roles& roles, int rank) {
  const Strand push{.round = roles.push_round(rank),
                    .from = rank,
                    .to = roles.workers,
                    .chunk = 0,
                    .combine = Combine::Sum,
                    .count = roles.servers,
                    .to_stride = 1,
                    .chunk_stride = 1};
  const Strand pull{.round = push.round + 1,
                    .from = roles.workers,
                    .to = rank,
                    .chunk = 0,
                    .combine = Combine::Replace,
                    .count = roles.servers,
                    .from_stride = 1,
                    .chunk_stride = 1};
  return {push, pull};
}

Program server_program(const Roles& roles, int rank) {
  const int shard = rank - roles.workers;
  const std::int64_t round_stride = roles.push_round(1);
  const Strand aggregation{.round = 0,
                           .from = 0,
                           .to = rank,
                           .chunk = shard,
                           .combine = Combine::Sum,
                           .count = roles.workers,
                           .round_stride = round_stride,
                           .from_stride = 1};
  const Strand distribution{.round = 1,
                            .from = rank,
                            .to = 0,
                            .chunk = shard,
                            .combine = Combine::Replace,
                            .count = roles.workers,
                            .round_stride = round_stride,
                            .to_stride = 1};
  return {aggregation, distribution};
}

}  // namespace

Schedule ps(const Arrangement& arrangement) {
  const int ranks = arrangement.layout.ranks();
  const Roles roles{.workers = ranks - arrangement.servers,
                    .servers = arrangement.servers,
                    .asynchronous = arrangement.asynchronous};
  return {.strategy = "ps",
          .goal = roles.asynchronous ? Goal::ServerUpdate : Goal::AllReduce,
          .ranks = ranks,
          .workers = roles.workers,
          .chunks = roles.servers,
          .rounds = roles.push_round(roles.workers - 1) + 2,
          .depth = 2,
          .program = [roles](int rank) {
            return rank < roles.workers ? worker_program(roles, rank) : server_program(roles, rank);
          }};
}

}  // namespace tw::collective
