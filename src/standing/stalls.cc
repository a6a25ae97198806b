// SPDX-License-Identifier: Apache-2.0
#include "trainwire/standing/stalls.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/words.h"

#include <algorithm>
#include <functional>
#include <set>
#include <vector>

namespace tw::standing {
namespace {

constexpr std::string_view kMissing = " [missing ranks: ";
constexpr std::string_view kReady = " [ready ranks: ";
constexpr std::size_t kLongestName = 128;
constexpr std::size_t kMostRanks = 100'000;
constexpr std::size_t kMostSeen = 1'000'000;

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// 5, 1 and 4 of "5, 1, 4]".
std::vector<int> ranks_in(std::string_view text) {
  std::vector<int> made;
  Words words(text);
  while (const auto rank = words.small()) {
    if (made.size() < kMostRanks) made.push_back(*rank);
    if (!words.take(",")) break;
  }
  return made;
}

std::string_view last_word(std::string_view text) {
  return text.substr(text.find_last_of(" :") + 1);  // npos + 1 is 0
}

}  // namespace

bool is_of_stall(std::string_view line) {
  return has(line, kMissing) || has(line, kReady) ||
         has(line, "submitted to be reduced, gathered or broadcasted by subset of ranks");
}

bool Stalls::line(std::string_view text) {
  if (took_tensor(text)) return true;
  if (text.ends_with("Missing ranks:") || text.ends_with("Stalled ranks:"))
    return lists_ranks_ = true;
  lists_ranks_ = lists_ranks_ && took_rank(text);
  return lists_ranks_ || is_of_stall(text);
}

void Stalls::add(int rank, std::string_view tensor) {
  if (!told_) told_ = {.first = printable(tensor.substr(0, kLongestName))};
  const bool is_new =
      seen_.size() < kMostSeen && seen_.emplace(rank, std::hash<std::string_view>()(tensor)).second;
  if (is_new) ++told_->tensors[rank];
}

/// "HorovodBroadcast_x_0 [missing ranks: 1]", several in a line.
bool Stalls::took_tensor(std::string_view text) {
  bool is_any = false;
  for (const std::string_view mark : {kMissing, kReady}) {
    for (std::size_t at = text.find(mark); at != text.npos; at = text.find(mark, at + 1)) {
      const std::string_view tensor = last_word(text.substr(0, at));
      const std::vector<int> ranks = ranks_in(text.substr(at + mark.size()));
      is_any = is_any || !ranks.empty();
      if (mark == kMissing) {
        for (const int rank : ranks) add(rank, tensor);
        continue;
      }
      const std::set<int> ready(ranks.begin(), ranks.end());
      const int end = ready.empty() ? 0 : std::min(*ready.rbegin(), static_cast<int>(kMostRanks));
      for (int rank = 0; rank < end; ++rank) {
        if (!ready.contains(rank)) add(rank, tensor);
      }
    }
  }
  return is_any;
}

/// "1: [tensor, tensor ...]", behind mpirun's "[1,0]<stderr>:" too.
bool Stalls::took_rank(std::string_view text) {
  constexpr std::string_view kTag = ">:";
  if (const std::size_t tag = text.find(kTag); text.starts_with('[') && tag != text.npos)
    text.remove_prefix(tag + kTag.size());
  Words words(text);
  const auto rank = words.small();
  if (!rank || !words.take(":") || !words.take("[")) return false;
  for (std::string_view rest = words.rest(); !rest.empty();) {
    const std::size_t end = std::min(rest.find_first_of(",]"), rest.size());
    if (end > 0 && rest.substr(0, end) != " ...") add(*rank, rest.substr(0, end));
    if (end >= rest.size() || rest[end] == ']') break;
    rest.remove_prefix(std::min(end + 2, rest.size()));
  }
  return true;
}

}  // namespace tw::standing
