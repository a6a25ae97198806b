// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/perf_table.h"

#include <algorithm>
#include <cmath>

namespace tw::nccl {
namespace {

constexpr std::int64_t kMostRanks = 1 << 20;
constexpr double kHalf_gbs = 0.005;  ///< bandwidths are printed with two decimals

/// What bus bandwidth over bandwidth may be, both as they were before they were rounded.
struct Factor {
  double low;
  double high;
};

/// Of the fastest row, of which rounding hides least.
Factor factor_of(const PerfTable& table) {
  const PerfRow& best = *std::max_element(
      table.rows.begin(), table.rows.end(),
      [](const PerfRow& a, const PerfRow& b) { return a.timed().algbw_gbs < b.timed().algbw_gbs; });
  const Timed& timed = best.timed();
  return {.low = (timed.busbw_gbs - kHalf_gbs) / (timed.algbw_gbs + kHalf_gbs),
          .high = (timed.busbw_gbs + kHalf_gbs) / std::max(timed.algbw_gbs - kHalf_gbs, 1e-9)};
}

constexpr double kSlack = 0.02;  ///< others' tables are not computed to the last digit

bool is_near(const Factor& factor, double value) {
  return factor.high - factor.low <= 2 * kSlack && factor.low - kSlack <= value &&
         value <= factor.high + kSlack;
}

/// For rows that are slow, of whose bandwidths rounding leaves little.
bool may_be(const Factor& factor, double value) {
  return factor.low - kSlack <= value && value <= factor.high + kSlack;
}

/// Whether the size is cut into a part for each rank: one at least has fewer elements than there are.
bool is_in_parts(const PerfRow& row) {
  const auto element = type_bytes(row.type);
  return element && row.count > 0 && row.bytes / row.count >= 2 * *element;
}

/// Of operations without a root that combine nothing: of those in parts all-to-all is the one that cannot be checked in place.
std::optional<Operation> exchange(const Factor& factor, const PerfRow& row, std::size_t ranks) {
  if (is_in_parts(row) && (row.in_place_unchecked || row.lacks_redop)) return Operation::AllToAll;
  if (is_in_parts(row) && row.in_place_checked) return Operation::AllGather;
  if (is_in_parts(row)) return {};
  return ranks > 1 && is_near(factor, 1) ? std::optional(Operation::SendRecv) : std::nullopt;
}

/// Of operations without a root that combine. Before 2023 sends and receives said so too.
std::optional<Operation> sum(const Factor& factor, const PerfRow& row, std::size_t ranks) {
  if (factor.low > 1 + kSlack) return Operation::AllReduce;
  if (is_in_parts(row)) return Operation::ReduceScatter;
  if (row.in_place_unchecked && may_be(factor, 1)) return Operation::SendRecv;
  // Of two ranks.
  if (row.in_place_checked && is_near(factor, 1)) return Operation::AllReduce;
  if (ranks < 2) return {};
  const double n = static_cast<double>(ranks);
  if (is_near(factor, 2 * (n - 1) / n)) return Operation::AllReduce;
  if (is_near(factor, (n - 1) / n)) return Operation::ReduceScatter;
  return {};
}

/// 0 where several numbers would do.
int ranks_by_columns(const PerfTable& table, Operation operation) {
  const PerfRow& last = table.rows.back();
  const auto element = type_bytes(last.type);
  if (in_parts(operation) && element && last.count > 0 && last.count <= last.bytes / *element) {
    const std::int64_t part = last.count * *element;
    const std::int64_t parts = last.bytes / part;
    return last.bytes % part == 0 && parts > 1 && parts < kMostRanks ? static_cast<int>(parts) : 0;
  }
  if (operation != Operation::AllReduce) return 0;
  // 2(n-1)/n is the factor: n is 2/(2-factor).
  const Factor factor = factor_of(table);
  if (factor.low < 1 - kSlack || factor.high >= 2) return 0;
  const double fewest = std::ceil(2 / (2 - factor.low));
  const double most = 2 / (2 - factor.high);
  return fewest <= most && most < fewest + 1 && fewest < kMostRanks ? static_cast<int>(fewest) : 0;
}

}  // namespace

std::optional<Operation> operation_by_columns(const PerfTable& table, std::size_t ranks) {
  const Factor factor = factor_of(table);
  const PerfRow& row = table.rows.front();
  // Before 2022 there was no such column where nothing is combined.
  const bool combines = !row.redop.empty() && row.redop != "none";
  PerfRow last = table.rows.back();
  last.in_place_checked = row.in_place_checked;  // the last may be cut off
  last.in_place_unchecked = row.in_place_unchecked;
  if (row.root.value_or(-1) < 0)
    return combines ? sum(factor, last, ranks) : exchange(factor, last, ranks);
  if (!is_near(factor, 1)) return {};
  return combines ? Operation::Reduce : Operation::Broadcast;
}

void complete(PerfTable& table, std::size_t listed) {
  if (!table.operation) table.operation = operation_by_columns(table, listed);
  const int by_columns = table.operation ? ranks_by_columns(table, *table.operation) : 0;
  table.ranks = by_columns > 0 ? by_columns : static_cast<int>(listed);
}

}  // namespace tw::nccl
