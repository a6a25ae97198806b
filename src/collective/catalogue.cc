// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/base/nearest.h"
#include "trainwire/collective/strategies.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

namespace tw::collective {
namespace {

constexpr std::array kCatalogue{
    Strategy{.name = "ring",
             .summary = "all ranks in a circle: reduce-scatter, then all-gather",
             .rounds = "2(P-1)",
             .bytes = "2(P-1)/P M to the successor; 2(P-1)M in all",
             .make = ring,
             .shape = Shape::Ring,
             .passing = Passing::CutThrough},
    Strategy{.name = "hierarchical",
             .summary = "reduce inside each host, ring between hosts, broadcast inside",
             .rounds = "2(H-1), +2 with several ranks on a host",
             .bytes = "2(H-1)/H M from host to next host; 2(P-1)M in all",
             .make = hierarchical,
             .passing = Passing::CutThrough,
             .sees_hosts = true},
    Strategy{.name = "tree",
             .summary = "local ranks under their host's first rank, these under the first host's",
             .rounds = "2D + pieces - 1, D <= 2",
             .bytes = "M each way on each of P-1 edges; 2(P-1)M in all",
             .make = tree,
             .shape = Shape::Tree,
             .cuts_pieces = true,
             .sees_hosts = true},
    Strategy{.name = "star",
             .summary = "all ranks under rank 0",
             .rounds = "pieces + 1",
             .bytes = "M each way on each of P-1 edges; 2(P-1)M in all",
             .make = star,
             .shape = Shape::Tree,
             .cuts_pieces = true},
    Strategy{.name = "clique",
             .summary = "each rank reduces and returns its own part of the payload",
             .rounds = "2",
             .bytes = "2M/P on every ordered pair; 2(P-1)M in all",
             .make = clique,
             .is_dense = true},
    Strategy{.name = "binary_tree_star",
             .summary = "local ranks under their host's first rank, these a binary tree",
             .rounds = "2D + pieces - 1, D about log2 H",
             .bytes = "M each way on each of P-1 edges; 2(P-1)M in all",
             .make = binary_tree_star,
             .shape = Shape::Tree,
             .cuts_pieces = true,
             .sees_hosts = true},
    Strategy{.name = "halving_doubling",
             .summary = "exchange halves, quarters, ... with partners, then back",
             .rounds = "2 floor(log2 P), +2 unless P is a power of two",
             .bytes = "2(p-1)/p M from each of p = 2^floor(log2 P) ranks; 2(P-1)M in all",
             .make = halving_doubling},
    Strategy{
        .name = "folded_halving_doubling",
        .summary = "the same as Open MPI has it: extra ranks fold in by halves",
        .rounds = "2 floor(log2 P), +3 unless P is a power of two",
        .bytes = "2(p-1)/p M from each of p = 2^floor(log2 P) ranks; 2(P-1)M + (P-p)M/2 in all",
        .make = folded_halving_doubling},
    Strategy{
        .name = "recursive_doubling",
        .summary = "exchange everything with log2 P partners in turn; for small payloads",
        .rounds = "floor(log2 P), +2 unless P is a power of two",
        .bytes = "M log2 p from each of p = 2^floor(log2 P) ranks; (p log2 p + 2(P-p))M in all",
        .make = recursive_doubling},
    Strategy{.name = "reduce_broadcast",
             .summary = "reduce to rank 0 (reduce-scatter, gather), then a binomial tree, as Gloo",
             .rounds = "P + ceil(log2 P)",
             .bytes = "M from rank 0 to each of ceil(log2 P) ranks; (2(P-1) + (P-1)/P)M in all",
             .make = reduce_broadcast,
             .ends_in_broadcast = true},
    Strategy{.name = "opposite_rings",
             .summary = "two rings, half of the payload each way, as NCCL",
             .rounds = "2(P-1)",
             .bytes = "(P-1)/P M to each of two neighbours; 2(P-1)M in all",
             .make = opposite_rings,
             .passing = Passing::CutThrough},
    Strategy{.name = "double_tree",
             .summary = "two binary trees with half of the payload each",
             .rounds = "2 floor(log2 P) + pieces - 1",
             .bytes = "at most 2M from each rank; 2(P-1)M in all",
             .make = double_tree,
             .cuts_pieces = true},
    Strategy{.name = "ps",
             .summary = "parameter server: workers push to and pull from sharded servers",
             .rounds = "2; asynchronous: 2 for each worker",
             .bytes = "M/n each way per worker and server; 2wM in all",
             .make = ps,
             .operation = Operation::ParameterServer,
             .first_model = FirstModel::FromServers,
             .has_servers = true},
    Strategy{.name = "pair_averaging",
             .summary = "each rank averages with one random peer, asynchronously",
             .rounds = "1",
             .bytes = "expected 2M/P from the successor, M/P from each other; PM in all",
             .make = pair_averaging,
             .operation = Operation::PairAveraging,
             .first_model = FirstModel::Own,
             .draws_peers = true,
             .is_dense = true},
    Strategy{.name = "all_to_all",
             .summary = "each rank sends each other one a part of its payload; no all-reduce",
             .rounds = "1",
             .bytes = "M/P on every ordered pair; (P-1)M in all",
             .make = all_to_all,
             .operation = Operation::AllToAll,
             .is_dense = true},
    Strategy{.name = "broadcast",
             .summary = "rank 0's payload to all in every step; no all-reduce",
             .rounds = "ceil(log2 P)",
             .bytes = "M over each of P-1 edges of a binomial tree; (P-1)M in all",
             .make = broadcast,
             .operation = Operation::Broadcast},
};

/// Keeps chunk numbers far from the end of their type; a finer cut would only send empty pieces.
constexpr int kMostPieces = 1 << 20;

std::string name_problem(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Strategy& row : kCatalogue) names.push_back(row.name);
  if (const auto near = nearest(name, names)) {
    return fmt::format("no strategy is called '{}'; did you mean '{}'?", name, *near);
  }
  return fmt::format("no strategy is called '{}'; choose one of {}", name, fmt::join(names, ", "));
}

std::string layout_problem(const Layout& layout) {
  if (layout.hosts < 1) return "the layout has no hosts; give the job at least one";
  if (layout.ranks() < 1) return "the job has no ranks; give it at least one";
  for (int rank = 0; rank < layout.ranks(); ++rank) {
    const int host = layout.host(rank);
    if (host >= 0 && host < layout.hosts) continue;
    return fmt::format("rank {} is placed on host {}; place it on one of the hosts 0 to {}", rank,
                       host, layout.hosts - 1);
  }
  return {};
}

std::string server_problem(int servers, int ranks) {
  if (servers < 1) {
    return fmt::format("a parameter server needs servers, not {}; set at least 1", servers);
  }
  if (servers < ranks) return {};
  return fmt::format(
      "a parameter server with {} server{} needs at least {} ranks, not {}; add ranks or take "
      "fewer "
      "servers",
      servers, servers == 1 ? "" : "s", std::int64_t{servers} + 1, ranks);
}

std::string pieces_problem(std::string_view name, int pieces) {
  if (pieces >= 1 && pieces <= kMostPieces) return {};
  return fmt::format("{} cannot cut the payload into {} pieces; set between 1 and {}", name, pieces,
                     kMostPieces);
}

}  // namespace

std::string_view name_of(Operation operation) {
  switch (operation) {
    case Operation::AllReduce:
      return "all_reduce";
    case Operation::ParameterServer:
      return "parameter_server";
    case Operation::PairAveraging:
      return "pair_averaging";
    case Operation::AllToAll:
      return "all_to_all";
    case Operation::Broadcast:
      return "step_broadcast";
  }
  return {};
}

double bus_factor(Operation operation, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (operation == Operation::AllToAll) return others;
  return operation == Operation::Broadcast ? 1 : 2 * others;
}

std::span<const Strategy> catalogue() { return kCatalogue; }

const Strategy* find_strategy(std::string_view name) {
  const auto found = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                  [&](const Strategy& row) { return row.name == name; });
  return found == kCatalogue.end() ? nullptr : &*found;
}

Shape shape_of(std::string_view name) {
  const Strategy* found = find_strategy(name);
  return found == nullptr ? Shape::Any : found->shape;
}

const Strategy& strategy(std::string_view name) {
  const Strategy* found = find_strategy(name);
  check(found != nullptr, "the strategy is in the catalogue");
  return *found;
}

const Strategy& strategy(Maker make) {
  const auto found = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                  [&](const Strategy& row) { return row.make == make; });
  check(found != kCatalogue.end(), "the strategy is in the catalogue");
  return *found;
}

Schedule make_schedule(std::string_view name, const Arrangement& arrangement) {
  const std::string wrong = problem(name, arrangement);
  check(wrong.empty(), wrong);
  return strategy(name).make(arrangement);
}

std::string problem(std::string_view name, const Arrangement& arrangement) {
  const Strategy* found = find_strategy(name);
  if (found == nullptr) return name_problem(name);
  if (std::string wrong = layout_problem(arrangement.layout); !wrong.empty()) return wrong;
  if (found->has_servers) return server_problem(arrangement.servers, arrangement.layout.ranks());
  if (found->cuts_pieces) return pieces_problem(name, arrangement.pieces);
  return {};
}

}  // namespace tw::collective
