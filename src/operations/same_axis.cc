// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/same_axis.h"

#include "trainwire/operations/imported.h"

#include <algorithm>
#include <cstdlib>

namespace tw::operations {
namespace {

constexpr std::int64_t kPause_ns = 1'000'000;   ///< shorter ones are inside a collective
constexpr std::int64_t kWindow_ns = 2'000'000;  ///< ends of one collective, by packets and by ranks
constexpr std::int64_t kNear_ns = 10'000'000'000;
constexpr std::size_t kFewest = 3;
constexpr double kMostEnds = 0.5;  ///< that an offset must explain
constexpr double kAsMany = 0.8;    ///< of the best: another step's offset explains fewer
constexpr double kNotChance = 3;   ///< times as many as at any offset
constexpr std::size_t kMostTold = 400;
constexpr std::size_t kMostPauses = 6000;

/// About so many of them, evenly.
void thin(std::vector<std::int64_t>& times, std::size_t most) {
  if (times.size() <= most) return;
  std::vector<std::int64_t> kept;
  for (std::size_t i = 0; i < most; ++i) kept.push_back(times[i * times.size() / most]);
  times = std::move(kept);
}

std::int64_t middle(std::vector<std::int64_t> values) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Offsets of pairs, [first, end) of the sorted list, that are within a window.
struct Window {
  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t count() const { return end - first; }
};

/// Of windows that hold at least `share` of the fullest's the one nearest to no offset; the fullest where clocks are so far
/// apart that nearness tells nothing.
Window nearest_full(const std::vector<std::int64_t>& offsets, double share) {
  Window fullest;
  std::vector<Window> windows;
  for (std::size_t first = 0, end = 0; first < offsets.size(); ++first) {
    while (end < offsets.size() && offsets[end] - offsets[first] <= kWindow_ns) ++end;
    windows.push_back({first, end});
    if (end - first > fullest.count()) fullest = windows.back();
  }
  const auto distance = [&](const Window& window) {
    return std::abs(offsets[(window.first + window.end) / 2]);
  };
  Window best;
  for (const Window& each : windows) {
    if (static_cast<double>(each.count()) < share * static_cast<double>(fullest.count())) continue;
    if (best.count() == 0 || distance(each) < distance(best) - kWindow_ns / 2 ||
        (distance(each) < distance(best) + kWindow_ns / 2 && each.count() > best.count())) {
      best = each;
    }
  }
  return distance(best) > kNear_ns ? fullest : best;
}

/// Of collectives after which no rank comes to the next one for a while.
std::vector<std::int64_t> ends_of(const Imported& imported) {
  std::vector<std::int64_t> ends;
  std::optional<std::int64_t> last;
  for (const Arrival& arrival : imported.arrivals) {  // by their first rank
    if (last && arrival.first_ns - *last >= kPause_ns) ends.push_back(*last);
    last = std::max(last.value_or(arrival.end_ns), arrival.end_ns);
  }
  if (last) ends.push_back(*last);
  return ends;
}

void move_all(Imported& imported, std::int64_t by) {
  for (Told& file : imported.told) {
    move_times(file, by);
    file.clock_offset_ns += by;
  }
  for (Arrival& arrival : imported.arrivals) {
    arrival.first_ns -= by;
    arrival.last_ns -= by;
    arrival.end_ns -= by;
    for (Part& part : arrival.parts) {
      part.start_ns -= by;
      part.end_ns -= by;
    }
  }
  if (!imported.steps) return;
  for (double& start : imported.steps->starts_s) start -= 1e-9 * static_cast<double>(by);
}

}  // namespace

bool WireClock::is_other() const {
  return std::abs(offset_ns) > kOwnClock_ns && std::abs(offset_ns) > 3 * uncertainty_ns;
}

std::optional<WireClock> wire_clock(std::vector<std::int64_t> ends_ns,
                                    std::vector<std::int64_t> pauses_ns) {
  if (ends_ns.size() < kFewest || pauses_ns.size() < kFewest) return {};
  thin(ends_ns, kMostTold);
  thin(pauses_ns, kMostPauses);
  std::vector<std::int64_t> offsets;
  offsets.reserve(ends_ns.size() * pauses_ns.size());
  for (const std::int64_t end : ends_ns) {
    for (const std::int64_t pause : pauses_ns) offsets.push_back(pause - end);
  }
  std::sort(offsets.begin(), offsets.end());
  const Window best = nearest_full(offsets, kAsMany);
  const auto span = static_cast<double>(offsets.back() - offsets.front());
  const double by_chance =
      static_cast<double>(offsets.size()) * static_cast<double>(kWindow_ns) / std::max(1.0, span);
  const auto matched = static_cast<double>(best.count());
  if (best.count() < kFewest || matched < kMostEnds * static_cast<double>(ends_ns.size()) ||
      matched < kNotChance * by_chance) {
    return {};
  }
  std::vector<std::int64_t> values(offsets.begin() + static_cast<std::ptrdiff_t>(best.first),
                                   offsets.begin() + static_cast<std::ptrdiff_t>(best.end));
  WireClock made{.offset_ns = middle(values),
                 .matched = std::min(best.count(), ends_ns.size()),
                 .ends = ends_ns.size()};
  for (std::int64_t& value : values) value = std::abs(value - made.offset_ns);
  made.uncertainty_ns = middle(std::move(values));
  return made;
}

void put_on_axis_of(const std::vector<Span>& wire, Imported& imported) {
  std::vector<std::int64_t> pauses;
  for (std::size_t i = 0; i < wire.size(); ++i) {
    if (i + 1 == wire.size() || wire[i + 1].start_ns - wire[i].end_ns >= kPause_ns)
      pauses.push_back(wire[i].end_ns);
  }
  imported.wire_clock = wire_clock(ends_of(imported), std::move(pauses));
  if (imported.wire_clock && imported.wire_clock->is_other())
    move_all(imported, -imported.wire_clock->offset_ns);
}

}  // namespace tw::operations
