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
    Strategy{"ring", "all ranks in a circle: reduce-scatter, then all-gather", "2(P-1)",
             "2(P-1)/P M to the successor; 2(P-1)M in all", ring},
    Strategy{"hierarchical", "reduce inside each host, ring between hosts, broadcast inside",
             "2(H-1), +2 with several ranks on a host",
             "2(H-1)/H M from host to next host; 2(P-1)M in all", hierarchical},
    Strategy{"tree", "local ranks under their host's first rank, these under the first host's",
             "2D + pieces - 1, D <= 2", "M each way on each of P-1 edges; 2(P-1)M in all", tree},
    Strategy{"star", "all ranks under rank 0", "pieces + 1",
             "M each way on each of P-1 edges; 2(P-1)M in all", star},
    Strategy{"clique", "each rank reduces and returns its own part of the payload", "2",
             "2M/P on every ordered pair; 2(P-1)M in all", clique},
    Strategy{"binary_tree_star", "local ranks under their host's first rank, these a binary tree",
             "2D + pieces - 1, D about log2 H", "M each way on each of P-1 edges; 2(P-1)M in all",
             binary_tree_star},
    Strategy{"halving_doubling", "exchange halves, quarters, ... with partners, then back",
             "2 floor(log2 P), +2 unless P is a power of two",
             "2(p-1)/p M from each of p = 2^floor(log2 P) ranks; 2(P-1)M in all", halving_doubling},
    Strategy{"double_tree", "two binary trees with half of the payload each",
             "2 floor(log2 P) + pieces - 1", "at most 2M from each rank; 2(P-1)M in all",
             double_tree},
    Strategy{"ps", "parameter server: workers push to and pull from sharded servers",
             "2; asynchronous: 2 for each worker", "M/n each way per worker and server; 2wM in all",
             ps},
    Strategy{"pair_averaging", "each rank averages with one random peer, asynchronously", "1",
             "expected 2M/P from the successor, M/P from each other; PM in all", pair_averaging},
};

/// Keeps chunk numbers far from the end of their type; a finer cut would only send empty pieces.
constexpr int kMostPieces = 1 << 20;

std::string name_problem(std::string_view name) {
  std::vector<std::string_view> names;
  for (const Strategy& strategy : kCatalogue) names.push_back(strategy.name);
  if (std::find(names.begin(), names.end(), name) != names.end()) return {};
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

bool cuts_pieces(std::string_view name) {
  return name == "tree" || name == "star" || name == "binary_tree_star" || name == "double_tree";
}

}  // namespace

std::span<const Strategy> catalogue() { return kCatalogue; }

Schedule make_schedule(std::string_view name, const Arrangement& arrangement) {
  const std::string wrong = problem(name, arrangement);
  check(wrong.empty(), wrong);
  const auto found = std::find_if(kCatalogue.begin(), kCatalogue.end(),
                                  [&](const Strategy& strategy) { return strategy.name == name; });
  return found->make(arrangement);
}

std::string problem(std::string_view name, const Arrangement& arrangement) {
  if (std::string wrong = name_problem(name); !wrong.empty()) return wrong;
  if (std::string wrong = layout_problem(arrangement.layout); !wrong.empty()) return wrong;
  if (name == "ps") return server_problem(arrangement.servers, arrangement.layout.ranks());
  if (cuts_pieces(name)) return pieces_problem(name, arrangement.pieces);
  return {};
}

}  // namespace tw::collective
