// SPDX-License-Identifier: Apache-2.0
#include "trainwire/collective/strategies.h"
#include "trainwire/recognise/families.h"
#include "trainwire/recognise/likelihood.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <utility>

namespace tw::recognise {
namespace {

using Edge = Pattern::Edge;

constexpr std::uint64_t kSmall = 50;  ///< times as many bytes has what a message asks for
constexpr double kMostly = 0.5;       ///< of beats and steps
constexpr double kRarely = 0.25;      ///< of the beats: what comes by chance
constexpr double kJustBefore = 0.05;  ///< of a step: what comes earlier is hardly the reason

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

/// Of the tree in which rank i is under `above(i)`.
std::string shape_under(int n, int (*above)(int)) {
  std::vector<int> parent{-1};
  for (int i = 1; i < n; ++i) parent.push_back(above(i));
  return shape(parent, 0);
}

std::string heap_shape(int n) {
  return shape_under(n, [](int i) { return (i - 1) / 2; });
}

/// Rank i under i without its lowest bit.
std::string binomial_shape(int n) {
  return shape_under(n, [](int i) { return i & (i - 1); });
}

struct Trees {
  std::vector<int> up;    ///< parents in the reduction
  std::vector<int> down;  ///< parents in the broadcast
};

/// The half of the edges that begins first must lead to the root, the other half away from it.
std::optional<Trees> by_time(const Pattern& pattern, const rhythm::Steps& exchanges) {
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
    const Edge& edge = timed[i].second;
    2 * i < timed.size() ? early.push_back(edge) : late.push_back({edge.to, edge.from, edge.bytes});
  }
  Trees trees{.up = parents(early, pattern.size()), .down = parents(late, pattern.size())};
  if (trees.up.empty() || trees.down.empty()) return std::nullopt;
  if (root_of(trees.up) != root_of(trees.down)) return std::nullopt;
  return trees;
}

/// Parents when each edge is used both ways, breadth first from the root; empty where that does not
/// reach all.
std::vector<int> parents_below(const Pattern& pattern, int root) {
  std::vector<int> parent(static_cast<std::size_t>(pattern.size()), -2);
  parent[static_cast<std::size_t>(root)] = -1;
  std::vector<int> queue{root};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (int child = 0; child < pattern.size(); ++child) {
      const bool is_joined = pattern.at(queue[i], child) > 0 && pattern.at(child, queue[i]) > 0;
      if (!is_joined || parent[static_cast<std::size_t>(child)] != -2) continue;
      parent[static_cast<std::size_t>(child)] = queue[i];
      queue.push_back(child);
    }
  }
  return static_cast<int>(queue.size()) == pattern.size() ? parent : std::vector<int>{};
}

/// Whether the child mostly sends after what comes down in the same step: then it is the first to
/// begin, and what it sends belongs to the step after.
bool is_ahead(const rhythm::Steps& exchanges, int child, int above) {
  std::size_t ahead = 0;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    const auto up = rhythm::pair_interval(exchanges, child, above, step);
    const auto down = rhythm::pair_interval(exchanges, above, child, step);
    ahead += up && down && up->start_ns > down->end_ns ? 1 : 0;
  }
  return 2 * ahead > exchanges.steps.size();
}

/// Steps in which everybody below the root begins to send upwards before anything comes down: what
/// comes down holds a part of everybody. That also holds of several buckets which follow each other
/// up and down.
std::size_t lawful_steps(const Pattern& pattern, const rhythm::Steps& exchanges,
                         const std::vector<int>& parent) {
  const std::size_t steps = exchanges.steps.size();
  std::vector<std::int64_t> last_up(steps, std::numeric_limits<std::int64_t>::min());
  std::vector<std::int64_t> first_down(steps, std::numeric_limits<std::int64_t>::max());
  for (int place = 0; place < pattern.size(); ++place) {
    if (parent[static_cast<std::size_t>(place)] == -1) continue;
    const int child = pattern.host(place);
    const int above = pattern.host(parent[static_cast<std::size_t>(place)]);
    const std::size_t behind = is_ahead(exchanges, child, above) ? 1 : 0;
    for (std::size_t step = 0; step < steps; ++step) {
      const auto up = step < behind ? std::nullopt
                                    : rhythm::pair_interval(exchanges, child, above, step - behind);
      const auto down = rhythm::pair_interval(exchanges, above, child, step);
      if (up) last_up[step] = std::max(last_up[step], up->start_ns);
      if (down) first_down[step] = std::min(first_down[step], down->start_ns);
    }
  }
  std::size_t lawful = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    lawful += last_up[step] <= first_down[step] ? 1 : 0;
  }
  return lawful;
}

/// When each edge is used both ways: the root that most steps allow; nothing unless most do.
std::optional<Trees> by_law(const Pattern& pattern, const rhythm::Steps& exchanges) {
  std::optional<Trees> best;
  std::size_t most = exchanges.steps.size() / 2;
  for (int root = 0; root < pattern.size(); ++root) {
    const std::vector<int> parent = parents_below(pattern, root);
    if (parent.empty()) continue;
    const std::size_t lawful = lawful_steps(pattern, exchanges, parent);
    if (lawful <= most) continue;
    most = lawful;
    best = Trees{.up = parent, .down = parent};
  }
  return best;
}

/// Whether everybody has one child at most, on both ways. No strategy reduces and broadcasts along a
/// line; the stages of a pipeline send forwards and back along one, in the same order.
bool is_line(const Trees& trees) {
  const auto is_single = [](const std::vector<int>& parent) {
    for (int place = 0; place < static_cast<int>(parent.size()); ++place) {
      if (std::count(parent.begin(), parent.end(), place) > 1) return false;
    }
    return true;
  };
  return is_single(trees.up) && is_single(trees.down);
}

/// The place that is joined with all others, both ways, when these are joined with nobody else.
std::optional<int> centre_of(const Pattern& pattern) {
  const std::vector<Edge>& edges = pattern.edges();
  for (int centre = 0; centre < pattern.size(); ++centre) {
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

/// Beats of one lane, without gaps.
std::vector<rhythm::Beat> beats_of(const rhythm::Lane& lane) {
  std::vector<rhythm::Beat> beats;
  for (const std::optional<rhythm::Beat>& beat : lane.beats) {
    if (beat) beats.push_back(*beat);
  }
  return beats;
}

/// Whether `lane` sends small messages in (`from_ns`, `to_ns`): at most a fiftieth of its beat.
bool sends_small_between(const rhythm::Lane& lane, std::span<const rhythm::Channel> channels,
                         std::int64_t from_ns, std::int64_t to_ns) {
  const std::vector<flow::Burst>& bursts = channels[lane.channel].bursts;
  auto burst =
      std::upper_bound(bursts.begin(), bursts.end(), from_ns,
                       [](std::int64_t time, const flow::Burst& b) { return time < b.start_ns; });
  for (; burst != bursts.end() && burst->start_ns < to_ns; ++burst) {
    if (burst->bytes > 0 && burst->bytes < lane.bytes / kSmall) return true;
  }
  return false;
}

/// Beats of `opposite` before which `lane` sends a small message: after its own last beat, and not
/// earlier than `reach_ns` before.
std::size_t invited(const rhythm::Lane& lane, const rhythm::Lane& opposite,
                    std::span<const rhythm::Channel> channels, double reach_ns) {
  const std::vector<rhythm::Beat> own = beats_of(lane);
  std::size_t count = 0;
  for (const rhythm::Beat& beat : beats_of(opposite)) {
    const auto after =
        std::lower_bound(own.begin(), own.end(), beat.start_ns,
                         [](const rhythm::Beat& b, std::int64_t time) { return b.end_ns < time; });
    std::int64_t from = beat.start_ns - static_cast<std::int64_t>(reach_ns);
    if (after != own.begin()) from = std::max(from, std::prev(after)->end_ns);
    count += sends_small_between(lane, channels, from, beat.start_ns) ? 1 : 0;
  }
  return count;
}

/// Beats of `opposite` in which `lane` sends a small message.
std::size_t interrupted(const rhythm::Lane& lane, const rhythm::Lane& opposite,
                        std::span<const rhythm::Channel> channels) {
  const std::vector<rhythm::Beat> beats = beats_of(opposite);
  return static_cast<std::size_t>(
      std::count_if(beats.begin(), beats.end(), [&](const rhythm::Beat& beat) {
        return sends_small_between(lane, channels, beat.start_ns, beat.end_ns);
      }));
}

/// How many beats one side asks for, and the other.
struct Asks {
  std::size_t by_leaves = 0;
  std::size_t by_centre = 0;

  /// What that tells for a server: most beats are asked for by leaves, and few by the centre.
  double one_sided(std::size_t beats) const {
    const auto share = [&](std::size_t count) {
      return std::min(1.0, static_cast<double>(count) / static_cast<double>(beats));
    };
    return std::min(law(share(by_leaves), kMostly, beats),
                    law(1 - share(by_centre), 1 - kRarely, beats));
  }
};

/// What it tells that leaves ask for what they get, and the centre does not: each sends a small message after
/// its own data and before the centre's, or between the pieces of it. So do clients of a server,
/// and not ranks of a star: these know what comes. Where messages are announced and called for, as
/// MPI does with large ones, both sides call; where leave is given to send more while data arrives,
/// as HTTP/2 does, both sides give it, so that only what comes before the data counts.
double leaves_ask(const rhythm::Steps& exchanges, int centre,
                  std::span<const rhythm::Channel> channels) {
  Asks before;
  Asks during;
  std::size_t beats = 0;
  for (const rhythm::Lane& up : exchanges.lanes) {
    for (const rhythm::Lane& down : exchanges.lanes) {
      if (up.to != centre || down.from != centre || up.from != down.to) continue;
      before.by_leaves += invited(up, down, channels, exchanges.tempo.period_ns);
      before.by_centre += invited(down, up, channels, kJustBefore * exchanges.tempo.period_ns);
      during.by_leaves += interrupted(up, down, channels);
      during.by_centre += interrupted(down, up, channels);
      beats += exchanges.steps.size();
    }
  }
  if (beats == 0) return 0;
  return std::max(before.one_sided(beats), during.one_sided(beats));
}

/// What it tells that the centre answers a leaf before another has begun to send: a sum needs
/// everybody's data first, so nothing is summed there. Leaves that get before they give are no
/// sign: then the steps are cut elsewhere.
double answers_at_once(const rhythm::Steps& exchanges, int centre) {
  std::size_t early = 0;
  for (std::size_t step = 0; step < exchanges.steps.size(); ++step) {
    std::int64_t last_ask = std::numeric_limits<std::int64_t>::min();
    std::int64_t first_answer = std::numeric_limits<std::int64_t>::max();
    for (const int leaf : rhythm::hosts_of(exchanges)) {
      const std::optional<rhythm::Interval> up =
          rhythm::pair_interval(exchanges, leaf, centre, step);
      const std::optional<rhythm::Interval> down =
          rhythm::pair_interval(exchanges, centre, leaf, step);
      if (!up || !down || down->start_ns < up->end_ns) continue;
      last_ask = std::max(last_ask, up->start_ns);
      first_answer = std::min(first_answer, down->start_ns);
    }
    early += first_answer < last_ask ? 1 : 0;
  }
  const std::size_t steps = exchanges.steps.size();
  return law(static_cast<double>(early) / static_cast<double>(steps), kMostly, steps);
}

/// Leaves begin by themselves. One whose data is counted in the step before is not late against the
/// others.
bool is_comparable_leaf(const Pattern& pattern, const rhythm::Steps& exchanges,
                        const std::vector<int>& parent, int place) {
  const int above = parent[static_cast<std::size_t>(place)];
  const bool is_leaf = std::count(parent.begin(), parent.end(), place) == 0;
  return is_leaf && above != -1 && !is_ahead(exchanges, pattern.host(place), pattern.host(above));
}

collective::Maker tree_maker(const Trees& trees, int n) {
  const int root = root_of(trees.up);
  // A library's reduce and its broadcast, each of which chooses its own tree.
  if (shape(trees.up, root) != shape(trees.down, root)) return collective::reduce_broadcast;
  const bool is_star = std::count(trees.up.begin(), trees.up.end(), root) == n - 1;
  if (is_star) return collective::star;
  const std::string found = shape(trees.up, root);
  const bool is_heap = trees.up == trees.down && found == heap_shape(n);
  return is_heap && found != binomial_shape(n) ? collective::binary_tree_star : collective::tree;
}

}  // namespace

Offers as_tree(const Seen& seen) {
  const auto& [pattern, exchanges, channels, _] = seen;
  const auto edges = static_cast<int>(pattern.edges().size());
  if (edges != 2 * (pattern.size() - 1) || !pattern.is_even(widest_difference())) return {};
  std::optional<Trees> trees = by_time(pattern, exchanges);
  const std::optional<int> centre = centre_of(pattern);
  const bool is_timed = trees && (!centre || root_of(trees->up) == *centre);
  if (centre && !is_timed) trees = star_around(*centre, pattern.size());
  if (!trees) trees = by_law(pattern, exchanges);
  if (!trees || is_line(*trees)) return {};
  const int root = root_of(trees->up);
  const collective::Maker maker = tree_maker(*trees, pattern.size());
  Recognition tree{
      .operation = std::string(collective::name_of(collective::Operation::AllReduce)),
      .strategy = std::string(collective::strategy(maker).name),
      .order = {pattern.host(root)},
      .servers = {},
      .starters = {},
      .payload = pattern.total() / edges,
      .evidence = {},
      // Which of the hosts is the root, and how those between it and the leaves lie.
      .nats = even_pairs(pattern, centre ? orders(pattern.size()) - orders(pattern.size() - 1)
                                         : orders(pattern.size()))};
  for (int place = 0; place < pattern.size(); ++place) {
    if (place != root) tree.order.push_back(pattern.host(place));
    if (is_comparable_leaf(pattern, exchanges, trees->up, place)) {
      tree.starters.push_back(pattern.host(place));
    }
  }
  if (tree.starters.empty()) tree.starters = {tree.order.front()};
  tree.evidence = fmt::format(
      "{} directed pairs carry the same bytes; {} of them lead to the root and {}", edges,
      edges / 2, is_timed ? "begin first, the others lead away from it" : "as many away from it");
  if (maker != collective::star) {
    if (is_timed || maker == collective::reduce_broadcast) return {tree};
    Recognition two_trees = tree;
    two_trees.strategy = collective::strategy(collective::reduce_broadcast).name;
    two_trees.nats += std::log(kAssumed.untimed);
    tree.nats += std::log(1 - kAssumed.untimed);
    return {tree, two_trees};
  }
  const double at_once = answers_at_once(exchanges, tree.order.front());
  const double asked = leaves_ask(exchanges, tree.order.front(), channels);
  Recognition server = tree;
  server.operation = collective::name_of(collective::Operation::ParameterServer);
  server.strategy = collective::strategy(collective::ps).name;
  server.servers = {tree.order.front()};
  server.nats += std::max(at_once, asked) / 2;
  server.evidence +=
      at_once > 0 ? "; it answers one before it has heard of the others, as only a server can"
                  : "; the others ask it with small messages for what it sends, as workers ask a "
                    "server";
  tree.nats -= std::max(at_once, asked) / 2;
  tree.evidence += "; one parameter server there would send the same: star is a guess";
  return {tree, server};
}

}  // namespace tw::recognise
