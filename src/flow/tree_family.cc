// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/families.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace tw::flow {
namespace {

using Edge = Pattern::Edge;

/// Parent of each place, -1 for the root. Empty when the edges (child to parent) form no tree.
std::vector<int> parents(const std::vector<Edge>& edges, int n) {
  std::vector<int> parent(static_cast<std::size_t>(n), -1);
  for (const Edge& edge : edges) {
    if (parent[static_cast<std::size_t>(edge.from)] != -1) return {};
    parent[static_cast<std::size_t>(edge.from)] = edge.to;
  }
  int roots = 0;
  for (int place = 0; place < n; ++place) {
    roots += parent[static_cast<std::size_t>(place)] == -1 ? 1 : 0;
    int at = place;
    for (int hops = 0; at != -1; ++hops, at = parent[static_cast<std::size_t>(at)]) {
      if (hops > n) return {};
    }
  }
  return roots == 1 ? parent : std::vector<int>{};
}

int root_of(const std::vector<int>& parent) {
  return static_cast<int>(std::find(parent.begin(), parent.end(), -1) - parent.begin());
}

/// Shape of a rooted tree as text, equal for trees that differ only in names and order.
std::string shape(const std::vector<int>& parent, int at) {
  std::vector<std::string> children;
  for (std::size_t i = 0; i < parent.size(); ++i) {
    if (parent[i] == at) children.push_back(shape(parent, static_cast<int>(i)));
  }
  std::sort(children.begin(), children.end());
  return fmt::format("({})", fmt::join(children, ""));
}

std::string heap_shape(int n) {
  std::vector<int> parent;
  for (int i = 0; i < n; ++i) parent.push_back(i == 0 ? -1 : (i - 1) / 2);
  return shape(parent, 0);
}

/// Rank i under i without its lowest bit.
std::string binomial_shape(int n) {
  std::vector<int> parent;
  for (int i = 0; i < n; ++i) parent.push_back(i == 0 ? -1 : i & (i - 1));
  return shape(parent, 0);
}

struct Trees {
  std::vector<int> up;    ///< parents in the reduction
  std::vector<int> down;  ///< parents in the broadcast
};

std::vector<Edge> reversed(std::vector<Edge> edges) {
  for (Edge& edge : edges) std::swap(edge.from, edge.to);
  return edges;
}

/// The half of the edges that begins first must lead to the root, the other half away from it.
std::optional<Trees> by_time(const Pattern& pattern, const Exchanges& exchanges) {
  std::vector<std::pair<double, Edge>> timed;
  for (const Edge& edge : pattern.edges()) {
    timed.emplace_back(typical_start(exchanges, pattern.host(edge.from), pattern.host(edge.to)),
                       edge);
  }
  std::stable_sort(timed.begin(), timed.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<Edge> early;
  std::vector<Edge> late;
  for (std::size_t i = 0; i < timed.size(); ++i) {
    (2 * i < timed.size() ? early : late).push_back(timed[i].second);
  }
  Trees trees{.up = parents(early, pattern.size()),
              .down = parents(reversed(std::move(late)), pattern.size())};
  if (trees.up.empty() || trees.down.empty()) return std::nullopt;
  if (root_of(trees.up) != root_of(trees.down)) return std::nullopt;
  return trees;
}

/// When each edge is used both ways: the root for which most edges are used upwards first.
std::optional<Trees> by_shape(const Pattern& pattern, const Exchanges& exchanges) {
  std::optional<Trees> best;
  int best_votes = -1;
  for (int root = 0; root < pattern.size(); ++root) {
    // Breadth first from the root; every edge must be found in both directions.
    std::vector<int> parent(static_cast<std::size_t>(pattern.size()), -2);
    parent[static_cast<std::size_t>(root)] = -1;
    std::vector<int> queue{root};
    int votes = 0;
    for (std::size_t i = 0; i < queue.size(); ++i) {
      for (int child = 0; child < pattern.size(); ++child) {
        const bool is_joined = pattern.at(queue[i], child) > 0 && pattern.at(child, queue[i]) > 0;
        if (!is_joined || parent[static_cast<std::size_t>(child)] != -2) continue;
        parent[static_cast<std::size_t>(child)] = queue[i];
        queue.push_back(child);
        const double up = typical_start(exchanges, pattern.host(child), pattern.host(queue[i]));
        const double down = typical_start(exchanges, pattern.host(queue[i]), pattern.host(child));
        votes += up < down ? 1 : 0;
      }
    }
    if (static_cast<int>(queue.size()) != pattern.size() || votes <= best_votes) continue;
    best_votes = votes;
    best = Trees{.up = parent, .down = parent};
  }
  return best;
}

/// The place that is joined with all others, both ways, when these are joined with nobody else.
std::optional<int> centre_of(const Pattern& pattern) {
  for (int centre = 0; centre < pattern.size(); ++centre) {
    const std::vector<Edge> edges = pattern.edges();
    const bool is_centre = std::all_of(edges.begin(), edges.end(), [&](const Edge& edge) {
      return edge.from == centre || edge.to == centre;
    });
    if (is_centre) return centre;
  }
  return std::nullopt;
}

/// Everybody below the centre. A slow link may let the data of one arrive so late that it seems to
/// be the root itself; no strategy has a root with one child that has all the others.
Trees star_around(int centre, int n) {
  std::vector<int> parent(static_cast<std::size_t>(n), centre);
  parent[static_cast<std::size_t>(centre)] = -1;
  return {.up = parent, .down = parent};
}

/// Messages of at most a fiftieth of the lane that `lane` sends while its opposite sends data.
std::size_t small_messages_during(const Lane& lane, const Lane& opposite,
                                  std::span<const Channel> channels) {
  std::size_t count = 0;
  const std::vector<Burst>& bursts = channels[lane.channel].bursts;
  for (std::size_t step = 0; step < opposite.beats.size(); ++step) {
    const std::optional<Beat>& beat = opposite.beats[step];
    if (!beat) continue;
    auto burst =
        std::lower_bound(bursts.begin(), bursts.end(), beat->start_ns - 2'000'000,
                         [](const Burst& b, std::int64_t time) { return b.start_ns < time; });
    bool found = false;
    for (; burst != bursts.end() && burst->start_ns <= beat->end_ns; ++burst) {
      found |= burst->bytes > 0 && burst->bytes < lane.bytes / 50;
    }
    count += found ? 1 : 0;
  }
  return count;
}

/// Whether leaves ask for what they get: they send small messages while the centre's data arrives,
/// and the centre sends none while theirs does. So do clients of a server, and not ranks of a star.
bool leaves_ask(const Exchanges& exchanges, int centre, std::span<const Channel> channels) {
  std::size_t asked = 0;
  std::size_t answered = 0;
  std::size_t beats = 0;
  for (const Lane& up : exchanges.lanes) {
    for (const Lane& down : exchanges.lanes) {
      if (up.to != centre || down.from != centre || up.from != down.to) continue;
      asked += small_messages_during(up, down, channels);
      answered += small_messages_during(down, up, channels);
      beats += exchanges.steps.size();
    }
  }
  return beats > 0 && 2 * asked > beats && 5 * answered < beats;
}

std::string tree_name(const Trees& trees, int n) {
  const int root = root_of(trees.up);
  const bool is_star = std::count(trees.up.begin(), trees.up.end(), root) == n - 1;
  if (is_star) return "star";
  const std::string found = shape(trees.up, root);
  const bool is_heap = trees.up == trees.down && found == heap_shape(n);
  return is_heap && found != binomial_shape(n) ? "binary_tree_star" : "tree";
}

}  // namespace

double typical_start(const Exchanges& exchanges, int from, int to) {
  std::vector<double> starts;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    const std::optional<Interval> found = pair_interval(exchanges, from, to, step);
    if (found)
      starts.push_back(static_cast<double>(found->start_ns - exchanges.steps[step].start_ns));
  }
  return starts.empty() ? 0 : stats::median(std::move(starts));
}

std::optional<Recognition> as_tree(const Pattern& pattern, const Exchanges& exchanges,
                                   std::span<const Channel> channels) {
  const auto edges = static_cast<int>(pattern.edges().size());
  if (edges != 2 * (pattern.size() - 1) || !pattern.is_even(kEven)) return std::nullopt;
  std::optional<Trees> trees = by_time(pattern, exchanges);
  const std::optional<int> centre = centre_of(pattern);
  const bool is_timed = trees && (!centre || root_of(trees->up) == *centre);
  if (centre && !is_timed) trees = star_around(*centre, pattern.size());
  if (!trees) trees = by_shape(pattern, exchanges);
  if (!trees) return std::nullopt;
  const int root = root_of(trees->up);
  Recognition result{.operation = "all_reduce",
                     .strategy = tree_name(*trees, pattern.size()),
                     .order = {pattern.host(root)},
                     .servers = {},
                     .starters = {},
                     .payload = pattern.total() / edges,
                     .fit = is_timed ? 0.95 : 0.7,
                     .evidence = {}};
  for (int place = 0; place < pattern.size(); ++place) {
    if (place != root) result.order.push_back(pattern.host(place));
    const bool is_leaf = std::count(trees->up.begin(), trees->up.end(), place) == 0;
    if (is_leaf) result.starters.push_back(pattern.host(place));
  }
  result.evidence = fmt::format(
      "{} directed pairs carry the same bytes; {} of them lead to the root and {}", edges,
      edges / 2, is_timed ? "begin first, the others lead away from it" : "as many away from it");
  if (result.strategy == "star" && leaves_ask(exchanges, pattern.host(root), channels)) {
    result.operation = "parameter_server";
    result.strategy = "ps";
    result.servers = {pattern.host(root)};
    result.evidence +=
        "; the others ask it with small messages for what it sends, as workers ask a server";
  } else if (result.strategy == "star") {
    result.fit *= 0.8;
    result.evidence += "; one parameter server there would send the same: star is a guess";
  }
  return result;
}

}  // namespace tw::flow
