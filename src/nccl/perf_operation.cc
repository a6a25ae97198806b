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

/// Of operations without a root, that combine or do not.
std::optional<Operation> without_root(double factor, bool combines, std::size_t ranks) {
  if (combines && factor > 1.02) return Operation::AllReduce;
  if (ranks < 2) return {};
  const double n = static_cast<double>(ranks);
  if (!combines) return is_near(factor, 1) ? std::optional(Operation::SendRecv) : std::nullopt;
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
  if (row.root.value_or(-1) < 0) return without_root(*factor, combines, ranks);
  if (!is_near(*factor, 1)) return {};
  return combines ? Operation::Reduce : Operation::Broadcast;
}

}  // namespace tw::nccl
