// SPDX-License-Identifier: Apache-2.0
#include "trainwire/standing/flight_report.h"

#include "trainwire/base/words.h"

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tw::standing {
namespace {

using operations::Operation;

constexpr std::string_view kTitle = "Not all ranks joining collective";
constexpr std::string_view kMissing = "missing ranks: ";
constexpr std::string_view kOfAll = "default_pg";
constexpr std::size_t kMostRanks = 1'000'000;

/// One collective, as its lines tell it.
struct Block {
  std::optional<std::int64_t> sequence = {};
  std::string group = {};
  std::string op = {};
  std::set<int> missing = {};
  std::set<int> expected = {};
  int count = 0;  ///< of expected ranks, where only that is told
  std::int64_t in = 0;
  std::int64_t out = 0;
  operations::State state = operations::State::Untold;
};

/// Of "{3, 4, 5}".
std::set<int> ranks_of(std::string_view text) {
  std::set<int> ranks;
  Words words(text);
  if (!words.take("{")) return ranks;
  while (const auto rank = words.small()) {
    if (ranks.size() < kMostRanks) ranks.insert(*rank);
    if (!words.take(",")) break;
  }
  return ranks;
}

/// All elements of "[[1024, 2], [8]]" together; 0 where they do not fit into 62 bits.
std::int64_t elements_of(std::string_view sizes) {
  std::int64_t all = 0;
  while (true) {
    const std::size_t open = sizes.find_first_of("0123456789");
    if (open == std::string_view::npos) return all;
    std::optional<std::int64_t> elements = 1;
    Words sides(sizes.substr(open, sizes.find(']', open) - open));
    do {
      const auto side = sides.whole();
      if (!side || *side < 0) return 0;
      elements = operations::product(*elements, *side);
    } while (elements && sides.take(","));
    if (!elements || *elements > (std::int64_t{1} << 61) - all) return 0;
    all += *elements;
    sizes.remove_prefix(std::min(sizes.find(']', open), sizes.size()));
  }
}

operations::State state_named(std::string_view word) {
  using enum operations::State;
  constexpr std::array kStates{Scheduled, Started, Completed};
  const auto found = std::find_if(kStates.begin(), kStates.end(), [&](operations::State state) {
    return operations::name_of(state) == word;
  });
  return found == kStates.end() ? Untold : *found;
}

std::string_view behind(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  return at == std::string_view::npos ? std::string_view() : line.substr(at + name.size());
}

/// "5 at entry 4", ", sequence number: 5".
std::optional<std::int64_t> sequence_of(std::string_view behind_title) {
  const std::string_view number = behind(behind_title, "sequence number:");
  return Words(number.empty() ? behind_title : number).whole();
}

void take(std::string_view line, Block& into) {
  if (const auto value = behind(line, "group info: "); !value.empty()) {
    const std::string_view word = Words(value).word();
    const std::size_t colon = word.find(':');
    into.group = word.substr(colon == std::string_view::npos ? 0 : colon + 1);
  } else if (const auto op = behind(line, "collective: "); !op.empty()) {
    into.op = operations::canonical_op(Words(op).word());
  } else if (const auto missing = behind(line, kMissing); !missing.empty()) {
    into.missing = ranks_of(missing);
  } else if (const auto expected = behind(line, "expected ranks: "); !expected.empty()) {
    into.expected = ranks_of(expected);
    into.count =
        std::max(Words(expected).small().value_or(0), static_cast<int>(into.expected.size()));
  } else if (const auto in = behind(line, "input sizes: "); !in.empty()) {
    into.in = elements_of(in);
  } else if (const auto out = behind(line, "output sizes: "); !out.empty()) {
    into.out = elements_of(out);
  } else if (const auto state = behind(line, "collective state: "); !state.empty()) {
    into.state = state_named(Words(state).word());
  }
}

/// Who stands in it: all that are expected, but for those that are missing.
std::set<int> waiting_in(const Block& block) {
  std::set<int> ranks = block.expected;
  const bool is_of_all = ranks.empty() && block.group == kOfAll;
  const int count = is_of_all ? std::min(block.count, static_cast<int>(kMostRanks)) : 0;
  for (int rank = 0; rank < count; ++rank) ranks.insert(rank);
  for (const int rank : block.missing) ranks.erase(rank);
  return ranks;
}

class Report {
 public:
  explicit Report(operations::Told& told) : told_(told) {}

  void line(std::string_view text) {
    if (const std::size_t at = text.find(kTitle); at != std::string_view::npos) {
      end_block();
      block_ = Block{.sequence = sequence_of(text.substr(at + kTitle.size()))};
    } else if (block_) {
      take(text, *block_);
    }
  }

  void end_block() {
    if (!block_) return;
    const std::set<int> waiting = waiting_in(*block_);
    if (!block_->sequence || block_->op.empty() || block_->missing.empty()) {
      skips_.add("collectives whose lines are not all there");
    } else if (waiting.empty()) {
      skips_.add("collectives of which it is not told who waits");
    } else {
      add(waiting);
    }
    block_ = {};
  }

  void finish() {
    end_block();
    skips_.write_to(told_);
  }

 private:
  void add(const std::set<int>& waiting) {
    Operation each{.group = block_->group,
                   .group_size = block_->count,
                   .op = block_->op,
                   .sequence = block_->sequence,
                   .state = block_->state};
    each.elements = operations::message_elements(each.op, block_->in, block_->out, each.group_size);
    for (const int rank : waiting) {
      each.rank = rank;
      told_.operations.push_back(each);
    }
    ++told_.records;
    // Ranks that did not come are seen by their dumps, which say no more of them here. Those of the first of a group count, for what
    // follows hangs because of it.
    if (!groups_.insert(block_->group).second) return;
    for (const int rank : block_->missing) {
      told_.operations.push_back({.rank = rank,
                                  .group = block_->group,
                                  .group_size = block_->count,
                                  .op = block_->op,
                                  .sequence = *block_->sequence - 1});
    }
  }

  operations::Told& told_;
  std::optional<Block> block_;
  std::set<std::string> groups_;
  operations::Skips skips_;
};

}  // namespace

bool is_flight_report(std::string_view text) {
  return text.find(kTitle) != std::string_view::npos &&
         text.find(kMissing) != std::string_view::npos;
}

void read_flight_report(std::string_view text, operations::Told& told) {
  Report report(told);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\r"), text.size());
    report.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  report.finish();
  if (told.operations.empty() && told.reasons.empty())
    told.reasons.emplace_back("it names no collective that ranks did not join");
}

}  // namespace tw::standing
