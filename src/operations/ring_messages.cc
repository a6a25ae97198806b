// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/ring_messages.h"

#include <algorithm>
#include <vector>

namespace tw::operations {
namespace {

constexpr std::int64_t kCellTraffic_bytes = 16 << 10;
constexpr std::int64_t kSteps = 8;          ///< that a buffer is divided into
constexpr std::int64_t kGrain_bytes = 512;  ///< of chunks of simple
constexpr std::int64_t kAligned_bytes = 16;
constexpr std::int64_t kMost_bytes = std::int64_t{1} << 42;  ///< beyond, products may not fit
constexpr int kMostRanks = 1 << 16;
constexpr int kMostChannels = 64;  ///< of NCCL
constexpr std::int64_t kLargestBuffer_bytes = 1 << 30;

std::int64_t divided_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// How NCCL handles one kind of operation.
struct Rules {
  bool is_ll = false;
  bool goes_twice = false;     ///< all-reduce: round the ring to sum, and again to spread
  bool has_all_parts = false;  ///< every rank sends: not broadcast and reduce
  std::int64_t ranks = 0;
  std::int64_t element = 0;  ///< bytes
  std::int64_t chunk = 0;    ///< elements
  std::int64_t slices = 1;   ///< of a chunk

  std::int64_t traffic() const {
    return (goes_twice ? 2 : has_all_parts ? ranks : 1) * (is_ll ? 4 : 1);
  }
  /// Ranks that pass a chunk on.
  std::int64_t hops() const { return (ranks - 1) * (has_all_parts ? (goes_twice ? 2 : ranks) : 1); }
  Messages passed_on(std::int64_t elements) const {
    const std::int64_t data = elements * element;
    return {.count = slices * hops(), .bytes = (is_ll ? ll_bytes(data) : data) * hops()};
  }
};

/// Elements of each channel.
std::vector<std::int64_t> parts_of(std::int64_t count, const Rules& rules, std::int64_t channels) {
  const std::int64_t traffic = rules.traffic();
  const std::int64_t cell = 16 * divided_up(divided_up(kCellTraffic_bytes, traffic), 16);
  const std::int64_t cells = divided_up(count * rules.element, cell);
  const std::int64_t share = std::max(
      kCellTraffic_bytes, std::max(kCellTraffic_bytes, count * rules.element * traffic) / channels);
  std::int64_t each = std::min(cells, divided_up(share, cell * traffic));
  const std::int64_t first = channels == 1 ? cells : each;
  std::int64_t middle = (cells - first) / each;
  std::int64_t last = (cells - first) % each;
  if (1 + middle + (last > 0 ? 1 : 0) > channels) {
    middle = channels - 2;
    each = (cells - first) / (middle + 1);
    last = each + (cells - first) % (middle + 1);
  }
  std::vector<std::int64_t> parts{first};
  parts.insert(parts.end(), static_cast<std::size_t>(middle), each);
  if (last > 0) parts.push_back(last);
  const std::int64_t per_cell = cell / rules.element;
  for (std::int64_t& part : parts) part *= per_cell;
  parts.back() -= cells * per_cell - count;
  return parts;
}

/// Ranks hold a chunk each; when fewer elements are left than that, all chunks become smaller.
Messages summed(std::int64_t part, const Rules& rules) {
  const std::int64_t loop = rules.ranks * rules.chunk;
  Messages made = rules.passed_on(rules.chunk) * (part / loop * rules.ranks);
  const std::int64_t left = part % loop;
  if (left == 0) return made;
  const std::int64_t aligned = kAligned_bytes / rules.element;
  const std::int64_t chunk = aligned * divided_up(divided_up(left, rules.ranks), aligned);
  made += rules.passed_on(chunk) * (left / chunk);
  made += rules.passed_on(left % chunk);
  made += rules.passed_on(0) * (rules.ranks - left / chunk - 1);
  return made;
}

Messages passed_along(std::int64_t part, const Rules& rules) {
  Messages made = rules.passed_on(rules.chunk) * (part / rules.chunk);
  if (part % rules.chunk > 0) made += rules.passed_on(part % rules.chunk);
  return made;
}

std::optional<Rules> rules_of(const Operation& operation, std::int64_t buffer_bytes) {
  const auto element = element_bytes(operation.dtype);
  const bool is_ll = operation.protocol == "ll";
  if (operation.algorithm != "ring" || (!is_ll && operation.protocol != "simple") || !element ||
      operation.group_size < 2 || operation.group_size > kMostRanks || operation.channels < 1) {
    return {};
  }
  Rules rules{.is_ll = is_ll, .ranks = operation.group_size, .element = *element};
  rules.goes_twice = operation.op == "all_reduce";
  rules.has_all_parts =
      rules.goes_twice || operation.op == "all_gather" || operation.op == "reduce_scatter";
  if (!rules.has_all_parts && operation.op != "broadcast" && operation.op != "reduce") return {};
  rules.slices = rules.has_all_parts && !is_ll ? 2 : 1;
  const std::int64_t steps = rules.has_all_parts ? kSteps / 2 : 1;
  const std::int64_t chunk_bytes =
      is_ll ? kLlChunk_bytes : buffer_bytes / kSteps * steps / kGrain_bytes * kGrain_bytes;
  rules.chunk = chunk_bytes / rules.element;
  return rules.chunk > 0 ? std::optional(rules) : std::nullopt;
}

}  // namespace

std::optional<Messages> ring_messages(const Operation& operation, std::int64_t buffer_bytes) {
  const bool fits = operation.bytes && *operation.bytes >= 0 && *operation.bytes <= kMost_bytes &&
                    operation.channels <= kMostChannels && buffer_bytes <= kLargestBuffer_bytes;
  if (!fits) return {};
  const auto rules = rules_of(operation, buffer_bytes);
  if (!rules) return {};
  // Of all-gather and reduce-scatter NCCL counts what one rank gives or gets.
  const std::int64_t whole = rules->has_all_parts && !rules->goes_twice
                                 ? *operation.bytes / rules->ranks
                                 : *operation.bytes;
  const std::int64_t count = whole / rules->element;
  Messages made;
  if (count == 0) return made;
  for (const std::int64_t part : parts_of(count, *rules, operation.channels))
    made += rules->goes_twice ? summed(part, *rules) : passed_along(part, *rules);
  return made;
}

}  // namespace tw::operations
