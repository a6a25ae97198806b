// SPDX-License-Identifier: Apache-2.0
#include "trainwire/tables/compared.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace tw::tables {
namespace {

constexpr std::size_t kMostLines = 20;

struct Key {
  std::string op;
  std::int64_t bytes;
  auto operator<=>(const Key&) const = default;
};
struct Timed {
  double time_s;
  int ranks;
};

/// What a megabyte takes on the average: intervals of iperf3 are of no size that was chosen.
Timed of_megabyte(const Benchmark& benchmark) {
  constexpr double kMegabyte = 1e6;
  double bytes = 0;
  double time_s = benchmark.idle_s;
  for (const Curve& curve : benchmark.curves) {
    for (const Row& row : curve.rows) {
      bytes += static_cast<double>(row.bytes);
      time_s += row.time_s;
    }
  }
  return {.time_s = kMegabyte * time_s / bytes, .ranks = 2};
}

/// A size that is there twice counts as it was first.
std::map<Key, Timed> by_size(const Benchmark& benchmark) {
  std::map<Key, Timed> made;
  if (benchmark.program == "iperf3" && benchmark.rows() > 0) {
    made[{"send", 1'000'000}] = of_megabyte(benchmark);
    return made;
  }
  for (const Curve& curve : benchmark.curves) {
    for (const Row& row : curve.rows)
      made.try_emplace({curve.op, row.bytes}, Timed{row.time_s, curve.ranks});
  }
  return made;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string time_text(double seconds) { return readable(from_seconds(seconds)); }

}  // namespace

CurvesCompared compare_curves(const Benchmark& baseline, const Benchmark& other,
                              const std::string& path) {
  CurvesCompared made{.path = path};
  const auto first = by_size(baseline);
  const auto second = by_size(other);
  std::vector<double> differences;
  for (const auto& [key, timed] : first) {
    const auto found = second.find(key);
    const bool same_ranks =
        found != second.end() &&
        (timed.ranks == 0 || found->second.ranks == 0 || timed.ranks == found->second.ranks);
    if (!same_ranks) {
      ++made.only_one;
      continue;
    }
    made.rows.push_back({key.op, std::max(timed.ranks, found->second.ranks), key.bytes,
                         timed.time_s, found->second.time_s});
    const double relative = made.rows.back().relative();
    differences.push_back(relative);
    made.slower += relative > 0;
    made.faster += relative < 0;
  }
  made.only_one += second.size() - std::min(second.size(), made.rows.size());
  if (differences.empty()) {
    throw DataError(fmt::format(
        "comparing {}: no operation of the same size and number of ranks is in both tables; run "
        "both benchmarks with the same sizes",
        printable(path)));
  }
  made.middle = median(differences);
  return made;
}

std::string curves_text(const std::string& baseline, const std::vector<CurvesCompared>& compared) {
  std::string text;
  const std::size_t most = kMostLines / std::max<std::size_t>(1, compared.size());
  for (const CurvesCompared& each : compared) {
    text +=
        fmt::format("{} against {}: {:+.1f} % in the middle of {} sizes, {} slower, {} faster\n",
                    printable(each.path), printable(baseline), 100 * each.middle, each.rows.size(),
                    each.slower, each.faster);
    for (std::size_t i = 0; i < std::min(most, each.rows.size()); ++i) {
      // Where not all are shown, they are taken evenly from all sizes.
      const std::size_t at = each.rows.size() <= most
                                 ? i
                                 : i * (each.rows.size() - 1) / std::max<std::size_t>(1, most - 1);
      const SizeCompared& row = each.rows[at];
      text += fmt::format("  {:<15}{:>10} {:>11} {:>11}  {:+.1f} %\n", row.op,
                          readable(Bytes(row.bytes)), time_text(row.baseline_s),
                          time_text(row.other_s), 100 * row.relative());
    }
    if (each.only_one > 0)
      text += fmt::format("  {} sizes are in one of them only\n", each.only_one);
  }
  return text + "benchmarks print no spread: run them several times to tell a change from chance\n";
}

nlohmann::ordered_json curves_document(const std::string& baseline,
                                       const std::vector<CurvesCompared>& compared) {
  nlohmann::ordered_json document{{"schema", 1}, {"command", "compare"}, {"baseline", baseline}};
  document["tables"] = nlohmann::ordered_json::array();
  for (const CurvesCompared& each : compared) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const SizeCompared& row : each.rows) {
      rows.push_back({{"op", row.op},
                      {"ranks", row.ranks},
                      {"bytes", row.bytes},
                      {"baseline_s", row.baseline_s},
                      {"other_s", row.other_s},
                      {"relative", row.relative()}});
    }
    document["tables"].push_back({{"path", each.path},
                                  {"median_relative", each.middle},
                                  {"slower", each.slower},
                                  {"faster", each.faster},
                                  {"only_in_one", each.only_one},
                                  {"rows", std::move(rows)}});
  }
  return document;
}

}  // namespace tw::tables
