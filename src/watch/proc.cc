// SPDX-License-Identifier: Apache-2.0
#include "trainwire/watch/proc.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <numeric>
#include <vector>

namespace tw::watch {
namespace {

/// The numbers that `text` begins with, up to the end of its line; none when something else stands
/// among them.
std::vector<std::int64_t> numbers_of_line(std::string_view text) {
  text = text.substr(0, text.find('\n'));
  std::vector<std::int64_t> numbers;
  while (true) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    if (text.empty()) return numbers;
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc()) return {};
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

}  // namespace

std::optional<MachineTime> parse_machine_time(std::string_view stat, long ticks_per_second) {
  constexpr std::string_view kAll = "cpu ";
  if (!stat.starts_with(kAll)) return std::nullopt;
  // user nice system idle iowait irq softirq steal guest guest_nice (proc(5)); the guests' time is
  // also in user and nice.
  enum Column : std::size_t { Idle = 3, Wait = 4, Steal = 7, Count = 8 };
  const std::vector<std::int64_t> ticks = numbers_of_line(stat.substr(kAll.size()));
  if (ticks.size() < Count) return std::nullopt;
  const std::int64_t total = std::accumulate(ticks.begin(), ticks.begin() + Count, std::int64_t{0});
  const Duration tick(1'000'000'000 / ticks_per_second);
  return MachineTime{.busy = tick * (total - ticks[Idle] - ticks[Wait] - ticks[Steal]),
                     .steal = tick * ticks[Steal],
                     .total = tick * total};
}

std::optional<ThreadTime> parse_schedstat(std::string_view schedstat) {
  // Time on the processor, time waiting for it, both in nanoseconds, and turns.
  const std::vector<std::int64_t> numbers = numbers_of_line(schedstat);
  if (numbers.size() != 3) return std::nullopt;
  return ThreadTime{.run = Duration(numbers[0]), .wait = Duration(numbers[1])};
}

}  // namespace tw::watch
