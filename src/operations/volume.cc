// SPDX-License-Identifier: Apache-2.0
// What packets carry against what NCCL's log has to be moved.
#include "trainwire/base/units.h"
#include "trainwire/operations/findings.h"
#include "trainwire/operations/ring_messages.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <span>

namespace tw::operations {
namespace {

constexpr std::int64_t kMost_bytes = std::int64_t{1} << 60;
constexpr int kFirstKnown = 22;  ///< NCCL 2.22: from there on the rules of ring_messages.h hold

/// Operations of a group as the rank tells them that tells algorithms too, in order; nothing where none does.
using OfGroup = std::vector<const Operation*>;

std::optional<std::map<std::string, OfGroup>> told_by_group(const Imported& imported) {
  std::map<std::string, std::map<int, OfGroup>> by_rank;
  for (const Told& file : imported.told) {
    if (file.kind != "nccl_log") continue;
    for (const Operation& each : file.operations) {
      if (each.group_size != 1 && each.state == State::Untold)
        by_rank[each.group][each.rank.value_or(-1)].push_back(&each);
    }
  }
  std::map<std::string, OfGroup> made;
  for (const auto& [group, ranks] : by_rank) {
    const auto teller = std::find_if(ranks.begin(), ranks.end(), [](const auto& of_rank) {
      return std::none_of(of_rank.second.begin(), of_rank.second.end(),
                          [](const Operation* each) { return each->algorithm.empty(); });
    });
    if (teller == ranks.end()) return {};
    made[group] = teller->second;
  }
  return made;
}

bool has_known_rules(const Wiring& wiring) {
  int minor = 0;
  const std::string& version = wiring.version;
  if (!version.starts_with("2.")) return false;
  std::from_chars(version.data() + 2, version.data() + version.size(), minor);
  return minor >= kFirstKnown;
}

bool has_only(const Wiring& wiring, std::string_view transport) {
  return std::all_of(wiring.ways.begin(), wiring.ways.end(),
                     [&](const Way& way) { return way.transport.starts_with(transport); });
}

std::int64_t buffer_of(const Wiring& wiring) {
  const auto set = wiring.settings.find("NCCL_BUFFSIZE");
  std::int64_t bytes = 0;
  if (set != wiring.settings.end())
    std::from_chars(set->second.data(), set->second.data() + set->second.size(), bytes);
  return bytes > 0 ? bytes : kRingBuffer_bytes;
}

/// Whether rank `from` sends to `to` in the ring of channel 0.
bool is_ring_edge(const Wiring& wiring, int from, int to) {
  const auto ring = wiring.rings.find(0);
  if (ring == wiring.rings.end()) return false;
  const std::vector<int>& order = ring->second;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (order[i] == from && order[(i + 1) % order.size()] == to) return true;
  }
  return false;
}

/// A small sum up and down the tree of channel 0, as a barrier is: what of it goes over connections of the ring, for an edge that both have is one
/// connection.
std::optional<Messages> in_lanes_of_ring(const Operation& tree, const Wiring& wiring) {
  const bool is_small = tree.algorithm == "tree" && tree.protocol == "ll" && tree.channels == 1 &&
                        tree.op == "all_reduce" && tree.bytes && *tree.bytes > 0 &&
                        *tree.bytes <= kLlChunk_bytes;
  if (!is_small || tree.group_size != wiring.ranks) return {};
  std::set<std::pair<int, int>> edges;
  for (const auto& [child, parent] : wiring.tree_edges) {
    if (parent >= 0) edges.emplace(child, parent);
  }
  if (edges.size() + 1 != static_cast<std::size_t>(wiring.ranks)) return {};
  Messages made;
  for (const auto& [child, parent] : edges) {
    made.count += is_ring_edge(wiring, child, parent) ? 1 : 0;
    made.count += is_ring_edge(wiring, parent, child) ? 1 : 0;
  }
  made.bytes = made.count * ll_bytes(*tree.bytes);
  return made;
}

/// What sockets carry for the operations of a log.
struct Account {
  Messages messages = {};
  std::int64_t connections = 0;
  std::vector<std::int64_t> ends =
      {};  ///< on the wire, after each operation, where there is one group
};

std::optional<Account> account_of(const Imported& imported) {
  const Wiring& wiring = imported.wiring;
  const bool by_sockets = !wiring.ways.empty() && has_only(wiring, "NET/Socket");
  const auto groups = told_by_group(imported);
  if (!by_sockets || !groups || groups->empty() || !has_known_rules(wiring)) return {};
  Account made;
  for (const auto& [group, operations] : *groups) {
    std::int64_t lanes = 0;
    for (const Operation* each : operations) {
      const auto around = ring_messages(*each, buffer_of(wiring));
      const auto messages = around ? around : in_lanes_of_ring(*each, wiring);
      if (!messages) return {};
      made.messages += *messages;
      if (made.messages.bytes > kMost_bytes) return {};
      if (around) lanes = std::max(lanes, std::int64_t{each->channels} * each->group_size);
      if (groups->size() == 1) made.ends.push_back(made.messages.on_the_wire());
    }
    made.connections += lanes * (1 + wiring.sockets);
  }
  for (std::int64_t& end : made.ends) end += made.connections * kOpening_bytes;
  return made;
}

/// How much connections had carried together whenever none of them carried anything.
std::set<std::int64_t> carried_at_pauses(std::span<const Connection> connections) {
  std::vector<Moved> moved;
  for (const Connection& each : connections)
    moved.insert(moved.end(), each.moved.begin(), each.moved.end());
  std::sort(moved.begin(), moved.end(),
            [](const Moved& a, const Moved& b) { return a.start_ns < b.start_ns; });
  std::set<std::int64_t> made;
  std::int64_t carried = 0;
  std::int64_t until = 0;
  for (const Moved& each : moved) {
    if (each.start_ns > until) made.insert(carried);
    until = std::max(until, each.end_ns);
    carried += each.bytes;
  }
  made.insert(carried);
  return made;
}

/// "; after 17 of 29 operations packets pause, each time at the very byte".
std::string pauses_text(const Account& account, std::span<const Connection> connections) {
  const std::set<std::int64_t> pauses = carried_at_pauses(connections);
  const auto met = std::count_if(account.ends.begin(), account.ends.end(),
                                 [&](std::int64_t end) { return pauses.contains(end); });
  if (met == 0) return {};
  return fmt::format("; after {} of {} operations packets pause at the very byte", met,
                     account.ends.size());
}

struct ToTheByte {
  std::int64_t rest = 0;  ///< that is not accounted for
  std::string text = {};
};

/// Nothing where the rules that tell sizes of messages are not known.
std::optional<ToTheByte> to_the_byte(const Imported& imported, std::int64_t carried) {
  const auto account = account_of(imported);
  // Nothing comes back over a ring's connections, but over most of those that a job starts with.
  std::vector<Connection> lanes;
  std::copy_if(imported.connections.begin(), imported.connections.end(), std::back_inserter(lanes),
               [](const Connection& each) { return each.is_one_way; });
  if (!account || lanes.size() < static_cast<std::size_t>(account->connections)) return {};
  std::stable_sort(lanes.begin(), lanes.end(),
                   [](const Connection& a, const Connection& b) { return a.bytes > b.bytes; });
  lanes.resize(static_cast<std::size_t>(account->connections));
  std::int64_t in_lanes = 0;
  std::int64_t lost = 0;
  for (const Connection& each : lanes) {
    in_lanes += each.bytes;
    lost += each.missing_bytes;
  }
  const std::int64_t openings = account->connections * kOpening_bytes;
  const std::int64_t rest = in_lanes + lost - account->messages.on_the_wire() - openings;
  std::string text = fmt::format(
      "packets carry {} bytes{}: {} that NCCL's ring moves for the {}operations of its log{}, {} "
      "in "
      "{} sizes of messages, {} in the openings of {} connections, {} in other connections{}",
      grouped(carried),
      lost > 0 ? fmt::format(", and {} that the capture lost", grouped(lost)) : "",
      grouped(account->messages.bytes),
      account->ends.empty() ? "" : fmt::format("{} ", account->ends.size()),
      rest == 0 ? ", to the byte" : "", grouped(account->messages.count * kSizeWord_bytes),
      grouped(account->messages.count), grouped(openings), account->connections,
      grouped(carried - in_lanes),
      rest == 0 ? pauses_text(*account, lanes)
                : fmt::format("; {} bytes {} are not accounted for", grouped(std::abs(rest)),
                              rest > 0 ? "more" : "fewer"));
  return ToTheByte{rest, std::move(text)};
}

/// Where the rules are not known: sizes of messages and the start of the job are left in what packets carry.
std::optional<std::string> about(const Imported& imported, std::int64_t carried) {
  // What stays inside a host is in no packet.
  if (!has_only(imported.wiring, "NET/")) return {};
  double told = 0;
  for (const Told& file : imported.told) {
    if (file.kind != "nccl_log") continue;
    for (const Operation& each : file.operations) {
      if (each.state != State::Untold) continue;  // PyTorch's watchdog tells it again
      const auto bytes = ring_wire_bytes(each);
      if (!bytes) return {};
      told += *bytes / each.group_size;  // each rank tells its own part
    }
  }
  if (told <= 0) return {};
  return fmt::format("NCCL's log has {} bytes to move over the ring, packets carry {} ({:+.4f} %)",
                     grouped(std::llround(told)), grouped(carried),
                     100 * (static_cast<double>(carried) - told) / told);
}

}  // namespace

void add_volume(record::Run& run, const Imported& imported) {
  std::set<int> ranks;
  for (const Told& file : imported.told) {
    if (file.kind != "nccl_log") continue;
    for (const Operation& each : file.operations) ranks.insert(each.rank.value_or(-1));
  }
  std::int64_t carried = 0;
  for (const record::Pair& pair : run.pairs)
    carried += static_cast<std::int64_t>(pair.stream_bytes);
  if (carried <= 0 || imported.wiring.ranks < 2) return;
  // One rank's log tells all operations, but not how the others are joined: then only what agrees is said.
  const bool all_tell = ranks.size() == static_cast<std::size_t>(imported.wiring.ranks);
  const auto counted = to_the_byte(imported, carried);
  std::optional<std::string> text;
  if (counted && (all_tell || counted->rest == 0)) text = counted->text;
  if (!counted && all_tell) text = about(imported, carried);
  if (text) run.findings.push_back({.text = *text, .severity = "info", .kind = "volume"});
}

}  // namespace tw::operations
