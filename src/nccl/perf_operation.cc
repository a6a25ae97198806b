// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/perf_table.h"

#include <cmath>

namespace tw::nccl {
namespace {

constexpr double kLeast_gbs = 0.5;  ///< bandwidths are printed with two decimals

/// Bus bandwidth over bandwidth of the fastest row; nothing where rounding hides it.
std::optional<double> factor_of(const PerfTable& table) {
  std::optional<double> factor;
  double best_gbs = kLeast_gbs;
  for (const PerfRow& row : table.rows) {
    const Timed& timed = row.timed();
    if (timed.algbw_gbs < best_gbs) continue;
    best_gbs = timed.algbw_gbs;
    factor = timed.busbw_gbs / timed.algbw_gbs;
  }
  return factor;
}

bool is_near(double a, double b) { return std::abs(a - b) <= 0.02; }

/// Whether the size is cut into a part for each rank: one at least has fewer elements than there are.
bool is_in_parts(const PerfRow& row) {
  const auto element = type_bytes(row.type);
  return element && row.count > 0 && row.bytes / row.count >= 2 * *element;
}

/// Of operations without a root that combine nothing: what is in parts and cannot be checked in place is all-to-all.
std::optional<Operation> exchange(double factor, const PerfRow& row, std::size_t ranks) {
  if (is_in_parts(row))
    return row.in_place_unchecked ? std::optional(Operation::AllToAll) : std::nullopt;
  return ranks > 1 && is_near(factor, 1) ? std::optional(Operation::SendRecv) : std::nullopt;
}

/// Of operations without a root that combine. Before 2023 sends and receives said so too.
std::optional<Operation> sum(double factor, const PerfRow& row, std::size_t ranks) {
  if (factor > 1.02) return Operation::AllReduce;
  if (is_in_parts(row)) return Operation::ReduceScatter;
  if (row.in_place_unchecked && is_near(factor, 1)) return Operation::SendRecv;
  if (ranks < 2) return {};
  const double n = static_cast<double>(ranks);
  if (is_near(factor, 2 * (n - 1) / n)) return Operation::AllReduce;
  if (is_near(factor, (n - 1) / n)) return Operation::ReduceScatter;
  return {};
}

}  // namespace

std::optional<Operation> operation_by_columns(const PerfTable& table, std::size_t ranks) {
  const auto factor = factor_of(table);
  const PerfRow& row = table.rows.front();
  if (!factor || row.redop.empty()) return {};
  const bool combines = row.redop != "none";
  const PerfRow& last = table.rows.back();
  if (row.root.value_or(-1) < 0)
    return combines ? sum(*factor, last, ranks) : exchange(*factor, last, ranks);
  if (!is_near(*factor, 1)) return {};
  return combines ? Operation::Reduce : Operation::Broadcast;
}

}  // namespace tw::nccl
