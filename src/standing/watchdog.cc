// SPDX-License-Identifier: Apache-2.0
#include "trainwire/standing/watchdog.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/words.h"
#include "trainwire/operations/missing.h"

#include <algorithm>
#include <array>
#include <set>

namespace tw::standing {
namespace {

using operations::Operation;
using operations::State;

constexpr std::size_t kMost = 1'000'000;
constexpr std::size_t kLongestName = 64;  ///< of a group
constexpr std::string_view kCaught = "Watchdog caught collective operation timeout:";
constexpr std::string_view kMismatch = "Detected mismatch between collectives on ranks.";
constexpr std::string_view kDefault = "default_pg";

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The number behind the first of `names` that has one.
template <std::size_t N>
std::optional<std::int64_t> behind(std::string_view text,
                                   const std::array<std::string_view, N>& names) {
  for (const std::string_view name : names) {
    if (const auto number = number_behind(text, name)) return number;
  }
  return {};
}

/// "[rank3]:" tells the rank of all, "Rank 3]" that of the group.
std::optional<int> rank_of(std::string_view text) {
  auto rank = number_behind(text, "[rank");
  if (!rank) rank = number_behind(text, "Rank ");
  if (!rank || *rank < 0 || *rank >= 10'000'000) return {};
  return static_cast<int>(*rank);
}

/// "default_pg" of "[PG ID 0 PG GUID 0(default_pg) Rank 5]" and "[PG 0 (default_pg) Rank 5]", "9" of "[PG ID 2 PG GUID 9 Rank 7]", "1" of
/// "[PG 1 Rank 0]".
std::string group_in(std::string_view text) {
  Words words(text);
  if (!words.go_behind("[PG ")) return {};
  std::string_view name = words.rest();
  const std::size_t end = name.find(" Rank ");
  if (end == std::string_view::npos || end > 4 * kLongestName) return {};
  name = name.substr(0, end);
  if (const std::size_t guid = name.find("GUID "); guid != std::string_view::npos)
    name.remove_prefix(guid + 5);
  if (const std::size_t open = name.find('('); open != std::string_view::npos)
    name = name.substr(open + 1, name.find(')', open) - open - 1);
  while (name.ends_with(' ')) name.remove_suffix(1);
  if (name == "0") name = kDefault;
  return printable(name.substr(0, kLongestName));
}

/// 200 of "TensorShape=[20, 10]".
std::optional<std::int64_t> elements_in(std::string_view text) {
  Words words(text);
  if (!words.go_behind("TensorShape=[")) return {};
  std::optional<std::int64_t> product = 1;
  while (const auto size = words.whole()) {
    if (*size < 0) return {};
    product = product ? operations::product(*product, *size) : std::nullopt;
    if (!words.take(",")) break;
  }
  return words.take("]") ? product : std::nullopt;
}

/// Whether all ranks of a group ask with as many elements.
bool is_even(std::string_view op) {
  return op == "all_reduce" || op == "broadcast" || op == "reduce" || op == "reduce_scatter" ||
         op == "all_gather";
}

}  // namespace

bool is_of_watchdog(std::string_view line) {
  return has(line, kCaught) || has(line, kMismatch) || has(line, " detected by watchdog at work") ||
         has(line, "Timeout at NCCL work: ") ||
         (has(line, "ast enqueued NCCL work: ") && has(line, "ast completed NCCL work: "));
}

bool Watchdog::line(std::string_view text) {
  // It may be broken in two.
  if (text.ends_with("operation timeout:") || text.ends_with("operation timeout: ")) {
    torn_ = text;
    return true;
  }
  if (!torn_.empty() && text.starts_with("WorkNCCL(")) {
    const std::string whole = std::exchange(torn_, {}).append(text);
    return take(whole);
  }
  torn_.clear();
  if (is_of_watchdog(text)) return take(text);
  if (has(text, "ProcessGroupNCCL.cpp:")) highest_ = std::max(highest_, rank_of(text).value_or(-1));
  return false;
}

bool Watchdog::take(std::string_view text) {
  if (has(text, kMismatch)) {
    ++(took_mismatch(text) ? used_ : unclear_);
    return true;
  }
  const auto rank = rank_of(text);
  const bool is_understood =
      rank && (has(text, kCaught) ? took_work(text, *rank) : took_place(text, *rank));
  if (is_understood) {
    highest_ = std::max(highest_, *rank);
    ++used_;
  } else {
    ++unclear_;
  }
  return true;
}

/// "[Rank 1] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=808, OpType=ALLREDUCE, NumelIn=..".
bool Watchdog::took_work(std::string_view text, int rank) {
  const auto sequence = number_behind(text, "WorkNCCL(SeqNum=");
  Words words(text);
  if (!sequence || !words.go_behind("OpType=") || works_.size() >= kMost) return false;
  std::string op =
      operations::canonical_op(words.rest().substr(0, words.rest().find_first_of(",)")));
  if (op.empty()) return false;
  Work made{.rank = rank, .sequence = *sequence, .op = std::move(op), .group = group_in(text)};
  if (is_even(made.op)) made.elements = number_behind(text, "NumelIn=");
  works_.push_back(std::move(made));
  return true;
}

/// "Rank 1 is running collective: CollectiveFingerPrint(SequenceNumber=31, OpType=ALLREDUCE, TensorShape=[20, 10], ..), but Rank 0 is running
/// collective: CollectiveFingerPrint(SequenceNumber=31, OpType=..": both stand in the first one's number, for they were compared.
bool Watchdog::took_mismatch(std::string_view text) {
  std::optional<std::int64_t> sequence;
  std::size_t told = 0;
  for (Words words(text); words.go_behind("Rank ");) {
    const auto rank = words.small();
    if (!rank || !words.take("is running") || !words.go_behind("CollectiveFingerPrint(")) continue;
    const std::string_view print = words.rest().substr(0, words.rest().find(" Rank "));
    if (!sequence) sequence = number_behind(print, "SequenceNumber=");
    Words rest(print);
    if (!rest.go_behind("OpType=") || works_.size() >= kMost) continue;
    std::string op =
        operations::canonical_op(rest.rest().substr(0, rest.rest().find_first_of(",).")));
    if (op.empty()) continue;
    works_.push_back({.rank = *rank,
                      .sequence = sequence.value_or(0),
                      .op = std::move(op),
                      .group = std::string(operations::kChecks),
                      .elements = elements_in(rest.rest())});
    ++told;
  }
  return told > 0;
}

/// "[PG 1 Rank 3] Exception (..) detected by watchdog at work: 1580, last enqueued NCCL work: 1582, last completed NCCL work: 1579".
bool Watchdog::took_place(std::string_view text, int rank) {
  static constexpr std::array<std::string_view, 3> kStuck{
      " detected by watchdog at work: ", " detected by watchdog at work sequence id: ",
      "Timeout at NCCL work: "};
  static constexpr std::array<std::string_view, 2> kEnqueued{"ast enqueued NCCL work: ",
                                                             "ast enqueued work: "};
  static constexpr std::array<std::string_view, 2> kCompleted{"ast completed NCCL work: ",
                                                              "ast completed work: "};
  const auto stuck = behind(text, kStuck);
  const auto enqueued = behind(text, kEnqueued);
  const auto completed = behind(text, kCompleted);
  if ((!stuck && !(enqueued && completed)) || places_.size() >= kMost) return false;
  Place& place = places_[{group_in(text), rank}];
  if (!place.stuck) place.stuck = stuck;
  if (enqueued) place.enqueued = std::max(place.enqueued.value_or(*enqueued), *enqueued);
  if (completed) place.completed = std::max(place.completed.value_or(*completed), *completed);
  return true;
}

/// That in which the same rank, or else any other, stands in a collective of that number; "" where several are.
std::string Watchdog::group_of(const Work& work) const {
  if (!work.group.empty()) return work.group;
  std::set<std::string> of_rank;
  std::set<std::string> of_any;
  for (const auto& [key, place] : places_) {
    if (place.stuck != work.sequence) continue;
    of_any.insert(key.first);
    if (key.second == work.rank) of_rank.insert(key.first);
  }
  if (of_rank.size() == 1) return *of_rank.begin();
  return of_any.size() == 1 ? *of_any.begin() : std::string();
}

/// Nothing is known of the size of groups of some ranks.
int Watchdog::size_of(const std::string& group) const {
  return group.empty() || group == kDefault ? highest_ + 1 : 0;
}

void Watchdog::put(const std::string& group, int rank, const Place& place,
                   const std::vector<Work>& works, std::vector<Operation>& into) const {
  const bool is_idle = !place.stuck && place.enqueued && place.enqueued == place.completed;
  std::int64_t sequence = 0;
  if (is_idle) {
    sequence = *place.enqueued;
  } else {
    sequence = place.stuck ? *place.stuck : place.completed.value_or(0) + 1;
  }
  Operation made{.rank = rank,
                 .group = std::string(operations::kWatchdog) + (group.empty() ? "" : " " + group),
                 .group_size = size_of(group),
                 .op = "unknown",
                 .sequence = std::max<std::int64_t>(sequence, 0),
                 .state = is_idle ? State::Completed : State::Started};
  // What others tell of that collective holds where the rank's own line is not there.
  for (const Work& work : works) {
    if (work.sequence != sequence || is_idle) continue;
    if (work.rank != rank && made.op != "unknown") continue;
    made.op = work.op;
    if (work.rank == rank) made.elements = work.elements;
  }
  into.push_back(std::move(made));
}

void Watchdog::finish(std::vector<Operation>& operations) {
  std::map<std::string, std::vector<Work>> works;
  for (const Work& work : works_) {
    const std::string group = group_of(work);
    Place& place = places_[{group, work.rank}];
    if (!place.stuck || work.sequence < *place.stuck) place.stuck = work.sequence;
    works[group].push_back(work);
  }
  for (const auto& [key, place] : places_)
    put(key.first, key.second, place, works[key.first], operations);
}

}  // namespace tw::standing
