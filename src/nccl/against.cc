// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/against.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tw::nccl {
namespace {

constexpr std::int64_t kSmall = 4096;
constexpr std::int64_t kLarge = 1 << 20;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Whether a table's bus bandwidths are the operation's; nothing where rounding hides it.
std::optional<bool> has_factor(const PerfTable& table, Operation operation, int ranks) {
  for (const PerfRow& row : table.rows) {
    const Timed& timed = row.timed();
    if (timed.algbw_gbs < 1) continue;
    const double factor = timed.busbw_gbs / timed.algbw_gbs;
    return std::abs(factor - bus_factor(operation, ranks)) < 0.02;
  }
  return std::nullopt;
}

std::vector<Compared> rows_of(const PerfTable& table, const Cluster& cluster, Operation operation) {
  std::map<std::int64_t, std::vector<PerfRow>> by_size;
  for (const PerfRow& row : table.rows) by_size[row.bytes].push_back(row);
  std::vector<Compared> rows;
  for (auto& [bytes, same] : by_size) {
    std::sort(same.begin(), same.end(), [](const PerfRow& a, const PerfRow& b) {
      return a.timed().time_us < b.timed().time_us;
    });
    const Expected wanted = expected(cluster, operation, bytes);
    const PerfRow& row = same[same.size() / 2];
    rows.push_back({row, wanted, wanted.time_us / row.timed().time_us});
  }
  return rows;
}

void add_line(Comparison& found) {
  std::vector<double> bytes;
  std::vector<double> times;
  for (const Compared& row : found.rows) {
    bytes.push_back(static_cast<double>(row.measured.bytes));
    times.push_back(1e-6 * row.measured.timed().time_us);
  }
  try {
    found.line = stats::fit_alpha_beta(bytes, times);
  } catch (const DataError& error) {
    found.no_line = error.what();
    return;
  }
  const double alpha = found.line->alpha_s.value;
  const double beta = found.line->beta_s_per_byte.value;
  if (alpha <= 0 || beta <= 0) return;
  // Of a ratio, to first order; the interval is the line's, so its widths stand for deviations.
  const double a = (found.line->alpha_s.high - found.line->alpha_s.low) / 2 / alpha;
  const double b = (found.line->beta_s_per_byte.high - found.line->beta_s_per_byte.low) / 2 / beta;
  const double width = std::sqrt(a * a + b * b);
  const double knee = alpha / beta;
  found.knee_bytes = found.line->alpha_s;
  found.knee_bytes->value = knee;
  found.knee_bytes->low = knee * std::exp(-width);
  found.knee_bytes->high = knee * std::exp(width);
}

/// Bus bandwidth of large messages on a cluster, at the sizes that were measured.
double large_busbw(const Comparison& found, const Cluster& cluster, Operation operation) {
  std::vector<double> values;
  const std::size_t first = found.rows.size() - std::min<std::size_t>(found.rows.size(), 3);
  for (std::size_t i = first; i < found.rows.size(); ++i) {
    values.push_back(expected(cluster, operation, found.rows[i].measured.bytes).busbw_gbs);
  }
  return median(values);
}

void add_levels(Comparison& found, const Cluster& cluster, Operation operation) {
  std::vector<double> large;
  std::vector<double> small;
  std::vector<double> small_expected;
  const double factor = bus_factor(operation, cluster.ranks);
  const std::size_t first = found.rows.size() - std::min<std::size_t>(found.rows.size(), 3);
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    const Compared& row = found.rows[i];
    const double time = row.measured.timed().time_us;
    if (i >= first)
      large.push_back(factor * static_cast<double>(row.measured.bytes) / (1e3 * time));
    if (row.measured.bytes > kSmall) continue;
    small.push_back(time);
    small_expected.push_back(row.expected.time_us);
  }
  found.measured_busbw = median(large);
  found.expected_busbw = large_busbw(found, cluster, operation);
  if (small.empty()) return;
  found.small_time_us = median(small);
  found.small_expected_us = median(small_expected);
}

/// The same hardware with something less, and how one would say that.
struct Suspect {
  Cluster cluster;
  std::string text;
};

std::vector<Suspect> suspects(const Cluster& cluster) {
  std::vector<Suspect> all;
  const int hosts = cluster.hosts();
  for (int count = 1; hosts > 1 && count < cluster.nics.count; ++count) {
    Suspect one{cluster, fmt::format("{} of {} NICs is used", count, cluster.nics.count)};
    if (count > 1) one.text = fmt::format("{} of {} NICs are used", count, cluster.nics.count);
    one.cluster.nics.count = count;
    all.push_back(std::move(one));
  }
  if (hosts > 1 && cluster.transport == Transport::Ib) {
    Suspect one{cluster, "TCP is used instead of RDMA"};
    one.cluster.transport = Transport::Socket;
    all.push_back(std::move(one));
  }
  for (const double share : {0.5, 0.25, 0.1}) {
    // Fewer NICs would look the same, and are the more likely.
    if (hosts == 1 || cluster.nics.count > 1) break;
    Suspect one{cluster, {}};
    one.cluster.nics.rate = cluster.nics.rate * share;
    one.text = fmt::format("the link runs at {}", readable(one.cluster.nics.rate));
    all.push_back(std::move(one));
  }
  if (cluster.intra == Intra::NvLink && cluster.per_host > 1) {
    Suspect one{cluster, "GPUs of a host reach each other over PCIe instead of NVLink"};
    one.cluster.intra = Intra::Pcie;
    one.cluster.intra_gbs = 0;
    all.push_back(std::move(one));
  }
  return all;
}

/// What would change nothing explains nothing.
bool explains(const Comparison& found, double would) {
  return would <= kReached * found.expected_busbw &&
         std::abs(found.measured_busbw / would - 1) <= kExplains;
}

void add_explanations(Comparison& found, const Cluster& cluster, Operation operation) {
  if (found.measured_busbw >= kReached * found.expected_busbw) return;
  // An all-gather is a ring, whose bus bandwidth is that of an all-reduce by one.
  if (operation == Operation::AllReduce && cluster.hosts() > 1 && cluster.per_host > 1 &&
      explains(found, large_busbw(found, cluster, Operation::AllGather))) {
    found.explanations.emplace_back(
        "NCCL takes a ring, which sums nothing inside hosts first (NCCL_ALGO=RING)");
  }
  for (const Suspect& suspect : suspects(cluster)) {
    if (explains(found, large_busbw(found, suspect.cluster, operation))) {
      found.explanations.push_back(suspect.text);
    }
  }
}

std::string joined(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ", or ") + part;
  return text;
}

std::string rate_text(double gbs) {
  return gbs < 0.95 ? fmt::format("{:.2g}", gbs) : fmt::format("{:.1f}", gbs);
}

std::string sentence_of(const Comparison& found) {
  const double share = found.measured_busbw / found.expected_busbw;
  std::string text =
      fmt::format("Large messages reach {} of {} GB/s ({:.0f} %)", rate_text(found.measured_busbw),
                  rate_text(found.expected_busbw), 100 * share);
  if (found.rows.back().measured.bytes < kLarge) {
    return text + fmt::format("; the largest has {} only, too little to tell of bandwidth.",
                              exact(Bytes(found.rows.back().measured.bytes)));
  }
  if (share > 1.15) {
    return text + ": more than such hardware should give; is it as told?";
  }
  if (share >= kReached) return text + ": as expected.";
  if (found.explanations.empty()) {
    return text + "; nothing that is looked for here (NICs, RDMA, link speed, NVLink) explains it.";
  }
  return text + ": looks like " + joined(found.explanations) + ".";
}

void add_notes(Comparison& found, const PerfFile& file, const PerfTable& table) {
  if (file.alone) {
    found.notes.push_back(
        "each process is its own rank 0: nccl-tests was built without MPI=1, and every process "
        "measured its own host");
  }
  if (file.tables.size() > 1) {
    found.notes.push_back(fmt::format("the file has {} tables; this is one of them, of {} rows",
                                      file.tables.size(), table.rows.size()));
  }
  if (file.contradictory > 0) {
    found.notes.push_back(fmt::format("{} row{} left out: time and bandwidth contradict each other",
                                      file.contradictory,
                                      file.contradictory == 1 ? " is" : "s are"));
  }
  std::int64_t wrong = 0;
  for (const PerfRow& row : table.rows) wrong += row.wrong;
  if (wrong > 0) found.notes.push_back(fmt::format("{} values came out wrong", wrong));
  if (found.small_time_us > 3 * found.small_expected_us && found.small_expected_us > 0) {
    found.notes.push_back(fmt::format(
        "small messages take {:.0f} us where {:.0f} are expected: the network's delay, processors "
        "that save power, or TCP",
        found.small_time_us, found.small_expected_us));
  }
}

}  // namespace

const PerfTable& table_of(const PerfFile& file, Operation operation, int ranks) {
  for (const PerfTable& table : file.tables) {
    const bool is_named = table.operation == operation;
    if (table.operation && !is_named) continue;
    // Processes that measured alone have no factor of any number of ranks.
    if (is_named && table.ranks < 2) return table;
    if (has_factor(table, operation, ranks).value_or(true)) return table;
  }
  const PerfTable& first = file.tables.front();
  if (first.operation && first.operation != operation) {
    throw DataError(fmt::format("the file is about {}, not {}; write --op {}",
                                name_of(*first.operation), name_of(operation),
                                name_of(*first.operation)));
  }
  throw DataError(fmt::format(
      "the file's bus bandwidth is not {:.4g} times its algorithm bandwidth, as {} of {} ranks has "
      "it; is --op or --ranks another?",
      bus_factor(operation, ranks), name_of(operation), ranks));
}

Comparison compare(const Cluster& cluster, Operation operation, const PerfFile& file) {
  const PerfTable& table = table_of(file, operation, cluster.ranks);
  Comparison found;
  found.rows = rows_of(table, cluster, operation);
  add_line(found);
  add_levels(found, cluster, operation);
  if (found.rows.back().measured.bytes >= kLarge) add_explanations(found, cluster, operation);
  found.sentence = sentence_of(found);
  add_notes(found, file, table);
  return found;
}

}  // namespace tw::nccl
