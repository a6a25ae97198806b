// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/check.h"

#include "trainwire/testbed/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace tw::testbed {
namespace {

using std::chrono::microseconds;

constexpr double kGoodRate = 0.03;
constexpr double kFairRate = 0.10;
constexpr double kGoodTime = 0.05;
constexpr double kFairTime = 0.10;
constexpr Duration kGoodLate = microseconds(50);
constexpr Duration kFairLate = microseconds(500);
constexpr double kFairLoss = 0.10;

void add(PathCheck& check, Fitness fitness, std::string problem) {
  check.fitness = std::max(check.fitness, fitness);
  check.problems.push_back(std::move(problem));
}

void judge_rate(PathCheck& check) {
  const double ratio = check.found.rate.carried / check.expected.rate;
  const double off = std::abs(ratio - 1);
  if (off <= kGoodRate) return;
  add(check, off <= kFairRate ? Fitness::Warned : Fitness::Refused,
      fmt::format("the rate is {} instead of {} ({:+.1f} %)", readable(check.found.rate.carried),
                  readable(check.expected.rate), 100 * (ratio - 1)));
}

void judge_round_trip(PathCheck& check) {
  const Duration asked = check.expected.round_trip;
  const Duration off = std::chrono::abs(check.found.round_trip.median - asked);
  const auto share = [&](double part) {
    return Duration(static_cast<std::int64_t>(part * static_cast<double>(asked.count())));
  };
  if (off <= std::max(kGoodLate, share(kGoodTime))) return;
  add(check, off <= std::max(kFairLate, share(kFairTime)) ? Fitness::Warned : Fitness::Refused,
      fmt::format("the round trip is {} instead of {}", readable(check.found.round_trip.median),
                  readable(asked)));
}

void judge_loss(PathCheck& check) {
  const measure::ShareInterval interval = check.found.loss.interval();
  const double asked = check.expected.loss;
  if (measure::contains(interval, asked)) return;
  const bool is_near =
      measure::contains({interval.low * (1 - kFairLoss), interval.high * (1 + kFairLoss)}, asked);
  add(check, is_near ? Fitness::Warned : Fitness::Refused,
      fmt::format("{:.3g} % of packets are lost instead of {:.3g} %",
                  100 * check.found.loss.share(), 100 * asked));
}

PathCheck check_path(const Cluster& cluster, const CheckedPath& path, int attempts) {
  const measure::PathExpectation expected = expectation(cluster.plan(), path);
  PathCheck best;
  for (int i = 0; i < attempts; ++i) {
    const measure::PathMeasurement found =
        measure::measure_path(end_of(cluster, path.from), end_of(cluster, path.to), expected);
    PathCheck now = judge(path, expected, found);
    if (i == 0 || now.fitness < best.fitness) best = std::move(now);
    if (best.fitness == Fitness::Good) break;
  }
  return best;
}

}  // namespace

measure::PathEnd end_of(const Cluster& cluster, int host) {
  return {.network = cluster.host(host),
          .address = cluster.plan().hosts[static_cast<std::size_t>(host)].address};
}

PathCheck judge(const CheckedPath& path, const measure::PathExpectation& expected,
                const measure::PathMeasurement& found) {
  PathCheck check{.path = path, .expected = expected, .found = found};
  judge_rate(check);
  judge_round_trip(check);
  judge_loss(check);
  return check;
}

std::vector<PathCheck> check_network(const Cluster& cluster, const CheckOptions& options) {
  const std::vector<CheckedPath> paths = paths_to_check(cluster.plan(), options.coverage);
  calibrate(cluster);
  std::vector<PathCheck> checks;
  for (const CheckedPath& path : paths) {
    if (options.stop && options.stop()) break;
    if (options.progress) options.progress(checks.size(), paths.size());
    checks.push_back(check_path(cluster, path, options.attempts));
  }
  return checks;
}

Fitness worst(const std::vector<PathCheck>& checks) {
  Fitness fitness = Fitness::Good;
  for (const PathCheck& check : checks) fitness = std::max(fitness, check.fitness);
  return fitness;
}

}  // namespace tw::testbed
