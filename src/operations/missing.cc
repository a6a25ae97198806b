// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/missing.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

namespace tw::operations {
namespace {

/// Of one group: by number, by rank.
using Asked = std::map<std::int64_t, std::map<int, const Operation*>>;

std::map<std::string, Asked> asked_by_group(const std::vector<Told>& told) {
  std::map<std::string, Asked> groups;
  for (const Told& file : told) {
    const bool by_watchdog = file.kind == "nccl_log";
    if (!by_watchdog && file.kind != "flight_recorder") continue;
    for (const Operation& each : file.operations) {
      if (!each.rank || !each.sequence || is_message(each.op)) continue;
      if (by_watchdog && each.state == State::Untold) continue;  // NCCL's own lines
      groups[each.group][*each.sequence].try_emplace(*each.rank, &each);
    }
  }
  return groups;
}

/// Ranks of a group with a dump, and the last number that each asked for.
std::map<int, std::int64_t> last_of(const Asked& asked) {
  std::map<int, std::int64_t> last;
  for (const auto& [number, ranks] : asked) {
    for (const auto& [rank, each] : ranks) last[rank] = number;
  }
  return last;
}

std::string words_of(const Operation& each) {
  return each.bytes ? fmt::format("{} of {} bytes", each.op, *each.bytes) : each.op;
}

void add_mismatch(const std::map<int, const Operation*>& ranks, Hang& into) {
  const Operation& first = *ranks.begin()->second;
  for (const auto& [rank, each] : ranks) {
    if (each->op == first.op && each->bytes == first.bytes) continue;
    into.mismatch.push_back(fmt::format("rank {} asks for {}", rank, words_of(*each)));
  }
}

bool is_open(const Operation& each) {
  return each.state == State::Scheduled || each.state == State::Started;
}

/// A rank that stands in one collective does not come to another: who stands nowhere comes first, and what hangs for want of such
/// ranks alone, or because ranks ask for different things.
void put_causes_first(std::vector<Hang>& found) {
  std::set<int> standing;
  for (const Hang& hang : found) standing.insert(hang.waiting.begin(), hang.waiting.end());
  const auto is_free = [&](int rank) { return !standing.contains(rank); };
  const auto order_of = [&](const Hang& hang) {
    if (!hang.mismatch.empty()) return 0;
    if (hang.missing.empty()) return 1;
    if (std::all_of(hang.missing.begin(), hang.missing.end(), is_free)) return 0;
    return std::any_of(hang.missing.begin(), hang.missing.end(), is_free) ? 1 : 2;
  };
  for (Hang& hang : found) std::stable_partition(hang.missing.begin(), hang.missing.end(), is_free);
  std::stable_sort(found.begin(), found.end(),
                   [&](const Hang& a, const Hang& b) { return order_of(a) < order_of(b); });
}

}  // namespace

std::vector<Hang> hangs(const std::vector<Told>& told) {
  std::vector<Hang> found;
  for (const auto& [group, asked] : asked_by_group(told)) {
    const auto last = last_of(asked);
    for (const auto& [number, ranks] : asked) {
      const bool hangs = std::any_of(ranks.begin(), ranks.end(),
                                     [](const auto& each) { return is_open(*each.second); });
      if (!hangs) continue;
      const Operation& first = *ranks.begin()->second;
      Hang hang{.group = group, .sequence = number, .op = first.op, .bytes = first.bytes};
      for (const auto& [rank, each] : ranks) {
        if (is_open(*each)) hang.waiting.push_back(rank);
      }
      for (const auto& [rank, number_of_last] : last) {
        if (number_of_last >= number) continue;
        hang.missing.push_back(rank);
        hang.last_of_missing = std::max(hang.last_of_missing, number_of_last);
      }
      add_mismatch(ranks, hang);
      hang.without_dump = std::max(0, first.group_size - static_cast<int>(last.size()));
      found.push_back(std::move(hang));
      break;
    }
  }
  put_causes_first(found);
  return found;
}

std::string open_messages(const std::vector<Told>& told) {
  std::size_t open = 0;
  std::string first;
  for (const Told& file : told) {
    if (file.kind != "flight_recorder") continue;
    for (const Operation& each : file.operations) {
      if (!is_message(each.op) || !is_open(each)) continue;
      if (++open > 1) continue;
      first = each.op;
      if (each.rank) first += fmt::format(" of rank {}", *each.rank);
      if (each.peer)
        first += fmt::format(" {} rank {}", each.op == "recv" ? "from" : "to", *each.peer);
    }
  }
  return open == 0 ? "" : fmt::format("{} sends and receives did not end, first a {}", open, first);
}

std::string sentence_of(const Hang& hang) {
  const std::string size = hang.bytes ? fmt::format(" of {} bytes", grouped(*hang.bytes)) : "";
  const bool by_watchdog = hang.group == kWatchdog;
  const std::string where =
      by_watchdog ? "that PyTorch's watchdog names" : "of group " + printable(hang.group);
  const std::string what =
      fmt::format("collective {} {} ({}{})", hang.sequence, where, hang.op, size);
  std::string text;
  if (!hang.missing.empty()) {
    text = fmt::format("rank{} {} did not join {}, in which rank{} {} wait{}; {} last was {}",
                       hang.missing.size() == 1 ? "" : "s", fmt::join(hang.missing, ", "), what,
                       hang.waiting.size() == 1 ? "" : "s", fmt::join(hang.waiting, ", "),
                       hang.waiting.size() == 1 ? "s" : "",
                       hang.missing.size() == 1 ? "its" : "their", hang.last_of_missing);
  } else if (by_watchdog) {
    // How many ranks there are is not told: others may stand elsewhere.
    const bool is_one = hang.waiting.size() == 1;
    text =
        fmt::format("rank{} {} stand{} in {}, and of {} no line of it tells", is_one ? "" : "s",
                    fmt::join(hang.waiting, ", "), is_one ? "s" : "", what,
                    hang.without_dump > 0 ? fmt::format("{} more", hang.without_dump) : "others");
  } else if (hang.without_dump > 0) {
    text =
        fmt::format("{} does not end, and {} of its ranks left no dump", what, hang.without_dump);
  } else {
    text = fmt::format("all ranks joined {}, and it did not end", what);
  }
  if (!hang.mismatch.empty()) {
    text += fmt::format("; they do not ask for the same: {}", fmt::join(hang.mismatch, ", "));
  }
  return text;
}

}  // namespace tw::operations
