// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/features_timer.h"

#include "trainwire/measure/round_trip.h"
#include "trainwire/testbed/features_attempt.h"
#include "trainwire/watch/proc.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <vector>

namespace tw::testbed {
namespace {

constexpr int kSleeps = 200;
constexpr Duration kSleep = std::chrono::milliseconds(1);

watch::MachineTime machine_time() {
  std::ifstream file("/proc/stat");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return watch::parse_machine_time(text, ::sysconf(_SC_CLK_TCK)).value_or(watch::MachineTime{});
}

std::vector<Duration> sleep_often() {
  // Otherwise the kernel adds up to 50 us of its own.
  ::prctl(PR_SET_TIMERSLACK, 1);
  std::vector<Duration> late;
  for (int i = 0; i < kSleeps; ++i) {
    const auto start = std::chrono::steady_clock::now();
    std::this_thread::sleep_for(kSleep);
    late.push_back(std::chrono::steady_clock::now() - start - kSleep);
  }
  std::sort(late.begin(), late.end());
  return late;
}

double share(Duration part, Duration whole) {
  return whole > Duration(0) ? seconds(part) / seconds(whole) : 0;
}

/// "median p99 steal", times in ns.
std::string measure() {
  const watch::MachineTime before = machine_time();
  const std::vector<Duration> late = sleep_often();
  const watch::MachineTime after = machine_time();
  return fmt::format("{} {} {}", measure::nearest_rank(late, 0.5).count(),
                     measure::nearest_rank(late, 0.99).count(),
                     share(after.steal - before.steal, after.total - before.total));
}

}  // namespace

TimerQuality measure_timer() {
  std::istringstream text(attempt(Privilege::Root, measure).reason);
  std::int64_t median = 0;
  std::int64_t p99 = 0;
  TimerQuality quality;
  text >> median >> p99 >> quality.steal;
  quality.median = Duration(median);
  quality.p99 = Duration(p99);
  return quality;
}

}  // namespace tw::testbed
