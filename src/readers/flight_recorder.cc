// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/flight_recorder.h"

#include "trainwire/readers/json_pieces.h"

#include <algorithm>
#include <map>

namespace tw::readers {
namespace {

using operations::Operation;
using operations::Told;

constexpr std::size_t kMostOperations = 4'000'000;

/// All elements of [[513000], [4, 2]] together.
std::optional<std::int64_t> elements_of(std::string_view sizes) {
  std::int64_t all = 0;
  for (Elements tensors(sizes); tensors.next();) {
    std::int64_t elements = 1;
    for (Elements sides(tensors.value()); sides.next();) {
      const auto side = whole_of(sides.value());
      const auto more = side ? operations::product(elements, *side) : std::nullopt;
      if (!more) return {};
      elements = *more;
    }
    if (all > (std::int64_t{1} << 61) || elements > (std::int64_t{1} << 61)) return {};
    all += elements;
  }
  return all;
}

/// Of "[0, 1, 2, 3]".
int ranks_in(std::string_view text) {
  if (text.find_first_of("0123456789") == std::string_view::npos) return 0;
  return static_cast<int>(
      std::min<std::ptrdiff_t>(std::count(text.begin(), text.end(), ',') + 1, 10'000'000));
}

operations::State state_of(std::string_view text) {
  if (text == "completed") return operations::State::Completed;
  if (text == "started") return operations::State::Started;
  return text == "scheduled" ? operations::State::Scheduled : operations::State::Untold;
}

/// An entry, before groups are known.
struct Entry {
  Operation operation;
  std::string group;  ///< its name in pg_config
  std::int64_t in = 0;
  std::int64_t out = 0;
};

std::string first_string(std::string_view array) {
  Elements each(array);
  return each.next() ? std::string(string_of(each.value())) : std::string();
}

std::optional<Entry> entry_of(std::string_view text) {
  Entry made;
  bool is_p2p = false;
  std::optional<std::int64_t> collective;
  std::optional<std::int64_t> message;
  for (Members each(text); each.next();) {
    const std::string_view key = each.key();
    if (key == "profiling_name") {
      const std::string name(string_of(each.value()));
      made.operation.op = operations::canonical_op(name);
      // "nccl:send 0->1"
      const std::size_t arrow = name.find("->");
      if (arrow != std::string::npos) {
        const auto peer = whole_of(std::string_view(name).substr(arrow + 2));
        if (peer && *peer >= 0 && *peer < 10'000'000) made.operation.peer = static_cast<int>(*peer);
      }
    }
    if (key == "process_group") made.group = first_string(each.value());
    if (key == "collective_seq_id" || key == "seq_id")  // the latter before torch 2.4
      collective = whole_of(each.value());
    if (key == "p2p_seq_id") message = whole_of(each.value());
    if (key == "is_p2p") is_p2p = each.value() == "true";
    if (key == "input_sizes") made.in = elements_of(each.value()).value_or(0);
    if (key == "output_sizes") made.out = elements_of(each.value()).value_or(0);
    if (key == "input_dtypes" || (key == "output_dtypes" && made.operation.dtype.empty())) {
      made.operation.dtype = first_string(each.value());
    }
    if (key == "state") made.operation.state = state_of(string_of(each.value()));
    if (key == "time_created_ns") made.operation.enqueue_ns = whole_of(each.value());
  }
  if (made.operation.op.empty()) return {};
  made.operation.sequence = is_p2p ? message : collective;
  return made;
}

}  // namespace

void read_flight_recorder(capture::ByteSource& source, Told& told) {
  operations::Skips skips;
  std::vector<Entry> entries;
  std::map<std::string, std::string> ranks_of;  // by the group's name
  Pieces pieces(source, "entries");
  while (pieces.next()) {
    if (!pieces.is_element()) {
      if (pieces.key() != "pg_config") continue;
      for (Members group(pieces.value()); group.next();) {
        for (Members each(group.value()); each.next();) {
          if (each.key() == "ranks") ranks_of[std::string(group.key())] = string_of(each.value());
        }
      }
      continue;
    }
    auto entry = entry_of(pieces.value());
    if (!entry) {
      skips.add("entries that are not JSON, or of a kind that is not known");
    } else if (entries.size() < kMostOperations) {
      entries.push_back(std::move(*entry));
    } else {
      skips.add("entries beyond four million");
    }
  }
  std::size_t unsized = 0;
  for (Entry& each : entries) {
    const std::string& ranks = ranks_of[each.group];
    Operation& made = each.operation;
    made.group = ranks.empty() ? each.group : each.group + " " + ranks.substr(0, 256);
    made.group_size = ranks_in(ranks);
    const auto bytes = operations::element_bytes(made.dtype);
    const auto elements = operations::message_elements(made.op, each.in, each.out, made.group_size);
    if (bytes && elements) made.bytes = operations::product(*elements, *bytes);
    if (!made.bytes) ++unsized;
    told.operations.push_back(std::move(made));
  }
  told.records = told.operations.size();
  skips.write_to(told);
  if (unsized > 0) told.reasons.push_back(std::to_string(unsized) + " entries have no size");
  if (pieces.ended_early())
    told.reasons.emplace_back("the file ends in the middle; what is before was used");
  if (told.operations.empty())
    told.reasons.emplace_back(
        "it has no entries: TORCH_FR_BUFFER_SIZE was 0, or no collective was asked for");
}

}  // namespace tw::readers
