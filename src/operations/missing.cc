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

constexpr std::string_view kUntoldOp = "unknown";
constexpr std::size_t kMostCounts = 8;  ///< in a sentence

/// Of one group: by number, by rank.
using Asked = std::map<std::int64_t, std::map<int, const Operation*>>;

std::map<std::string, Asked> asked_by_group(const std::vector<Told>& told) {
  std::map<std::string, Asked> groups;
  for (const Told& file : told) {
    for (const Operation& each : file.operations) {
      // The watchdog speaks in logs of any kind.
      const bool is_of_dumps = file.kind == "flight_recorder" || file.kind == "flight_report";
      if (!is_of_dumps && !is_by_watchdog(each.group)) continue;
      if (!each.rank || !each.sequence || is_message(each.op)) continue;
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
  if (each.elements) return fmt::format("{} of {} elements", each.op, *each.elements);
  return each.bytes ? fmt::format("{} of {} bytes", each.op, *each.bytes) : each.op;
}

/// The first rank of which it is told what it asks for, or else the first.
const Operation* first_told(const std::map<int, const Operation*>& ranks) {
  const auto found = std::find_if(ranks.begin(), ranks.end(),
                                  [](const auto& each) { return each.second->op != kUntoldOp; });
  return found == ranks.end() ? ranks.begin()->second : found->second;
}

bool is_open(const Operation& each) {
  return each.state == State::Scheduled || each.state == State::Started;
}

/// Ranks that the watchdog sees in later collectives of the group.
void add_further(const Asked& asked, Hang& into) {
  if (!is_by_watchdog(into.group)) return;
  for (auto at = asked.upper_bound(into.sequence); at != asked.end(); ++at) {
    for (const auto& [rank, each] : at->second) {
      if (is_open(*each)) into.further[at->first].push_back(rank);
    }
  }
}

void add_mismatch(const std::map<int, const Operation*>& ranks, Hang& into) {
  const Operation& first = *first_told(ranks);
  for (const auto& [rank, each] : ranks) {
    // A rank of which only where it stands is told asks for nothing else.
    const bool is_same = each->op == first.op && each->bytes == first.bytes &&
                         (each->elements == first.elements || !each->elements || !first.elements);
    if (is_same || each->op == kUntoldOp || first.op == kUntoldOp) continue;
    if (into.mismatch.empty() && first.elements && first.rank)
      into.mismatch.push_back(fmt::format("rank {} asks for {}", *first.rank, words_of(first)));
    into.mismatch.push_back(fmt::format("rank {} asks for {}", rank, words_of(*each)));
  }
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

std::string plural(std::string_view word, std::size_t count) {
  return fmt::format("{}{}", word, count == 1 ? "" : "s");
}

void add_stalls(const std::vector<Told>& told, std::vector<Hang>& into) {
  for (const Told& file : told) {
    if (!file.stall) continue;
    Hang hang{.group = "Horovod", .stall = file.stall};
    for (const auto& [rank, count] : file.stall->tensors) hang.missing.push_back(rank);
    into.push_back(std::move(hang));
  }
}

std::string stall_text(const Hang& hang) {
  std::vector<std::string> counts;
  const bool is_one = hang.stall->tensors.size() == 1;
  for (const auto& [rank, count] : hang.stall->tensors) {
    const std::string unit = counts.empty() ? plural(" tensor", count) : "";
    counts.push_back(
        fmt::format("{}{}{}", count, unit, is_one ? "" : fmt::format(" for rank {}", rank)));
  }
  if (counts.size() > kMostCounts) {
    counts.resize(kMostCounts);
    counts.emplace_back("...");
  }
  return fmt::format(
      "{} {} did not come to what others wait for: Horovod names {}; the first is {}",
      plural("rank", hang.missing.size()), fmt::join(hang.missing, ", "), fmt::join(counts, ", "),
      printable(hang.stall->first));
}

/// "collective 808 of process group 9 that PyTorch's watchdog names (all_reduce)".
std::string what_text(const Hang& hang) {
  const std::string size = hang.bytes ? fmt::format(" of {} bytes", grouped(*hang.bytes)) : "";
  std::string where = "of group " + printable(hang.group);
  if (is_by_watchdog(hang.group)) {
    std::string_view name = hang.group;
    name.remove_prefix(std::min(name.size(), kWatchdog.size() + 1));
    const bool is_of_all = name.empty() || name == "default_pg" || name == kChecks;
    where = is_of_all ? "" : fmt::format("of process group {} ", printable(name));
    where +=
        name == kChecks ? "that PyTorch compared between ranks" : "that PyTorch's watchdog names";
  }
  const std::string op = hang.op == kUntoldOp ? "" : fmt::format(" ({}{})", hang.op, size);
  return fmt::format("collective {} {}{}", hang.sequence, where, op);
}

/// How many ranks there are is not told: others may stand elsewhere.
std::string standing_text(const Hang& hang) {
  const std::size_t count = hang.waiting.size();
  std::string text =
      fmt::format("{} {} {} in {}", plural("rank", count), fmt::join(hang.waiting, ", "),
                  count == 1 ? "stands" : "stand", what_text(hang));
  for (const auto& [number, ranks] : hang.further) {
    text +=
        fmt::format(", {} {} in {}", plural("rank", ranks.size()), fmt::join(ranks, ", "), number);
  }
  if (hang.without_dump > 0 || hang.further.empty()) {
    text += fmt::format(
        ", and of {} no line of it tells",
        hang.without_dump > 0 ? fmt::format("at least {} more", hang.without_dump) : "others");
  }
  return text;
}

}  // namespace

bool is_by_watchdog(std::string_view group) { return group.starts_with(kWatchdog); }

std::vector<Hang> hangs(const std::vector<Told>& told) {
  std::vector<Hang> found;
  for (const auto& [group, asked] : asked_by_group(told)) {
    const auto last = last_of(asked);
    for (const auto& [number, ranks] : asked) {
      const bool hangs = std::any_of(ranks.begin(), ranks.end(),
                                     [](const auto& each) { return is_open(*each.second); });
      if (!hangs) continue;
      const Operation& first = *first_told(ranks);
      Hang hang{.group = group, .sequence = number, .op = first.op, .bytes = first.bytes};
      for (const auto& [rank, each] : ranks) {
        if (is_open(*each)) hang.waiting.push_back(rank);
      }
      for (const auto& [rank, number_of_last] : last) {
        if (number_of_last >= number) continue;
        hang.missing.push_back(rank);
        // A report of dumps does not say what a missing rank's last one was.
        if (asked.at(number_of_last).at(rank)->state == State::Untold) continue;
        hang.last_of_missing =
            std::max(hang.last_of_missing.value_or(number_of_last), number_of_last);
      }
      add_mismatch(ranks, hang);
      add_further(asked, hang);
      int size = 0;
      for (const auto& [rank, each] : ranks) size = std::max(size, each->group_size);
      hang.without_dump = std::max(0, size - static_cast<int>(last.size()));
      found.push_back(std::move(hang));
      break;
    }
  }
  add_stalls(told, found);
  put_causes_first(found);
  return found;
}

std::string idle_ranks(const std::vector<Told>& told) {
  std::map<std::string, std::map<int, std::int64_t>> groups;
  for (const Told& file : told) {
    for (const Operation& each : file.operations) {
      if (!is_by_watchdog(each.group) || !each.rank) continue;
      if (is_open(each)) return {};
      groups[each.group][*each.rank] = each.sequence.value_or(0);
    }
  }
  if (groups.empty()) return {};
  std::vector<int> ranks;
  for (const auto& [rank, number] : groups.begin()->second) ranks.push_back(rank);
  return fmt::format(
      "PyTorch's watchdog was woken, but {} {} done all that {} asked for in {} group that it "
      "names: the collective that did not end is another group's, or other ranks'",
      fmt::format("{} {}", plural("rank", ranks.size()), fmt::join(ranks, ", ")),
      ranks.size() == 1 ? "has" : "have", ranks.size() == 1 ? "it" : "they",
      groups.size() == 1 ? "the" : "each");
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
  if (hang.stall) return stall_text(hang);
  std::string text;
  if (!hang.missing.empty()) {
    const bool is_one = hang.missing.size() == 1;
    text = fmt::format("{} {} did not join {}, in which {} {} {}",
                       plural("rank", hang.missing.size()), fmt::join(hang.missing, ", "),
                       what_text(hang), plural("rank", hang.waiting.size()),
                       fmt::join(hang.waiting, ", "), hang.waiting.size() == 1 ? "waits" : "wait");
    if (hang.last_of_missing)
      text += fmt::format("; {} last was {}", is_one ? "its" : "their", *hang.last_of_missing);
  } else if (is_by_watchdog(hang.group)) {
    text = standing_text(hang);
  } else if (hang.without_dump > 0) {
    text = fmt::format("{} does not end, and {} of its ranks left no dump", what_text(hang),
                       hang.without_dump);
  } else {
    text = fmt::format("all ranks joined {}, and it did not end", what_text(hang));
  }
  if (!hang.mismatch.empty()) {
    text += fmt::format("; they do not ask for the same: {}", fmt::join(hang.mismatch, ", "));
  }
  return text;
}

}  // namespace tw::operations
