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
constexpr double kMostEnds = 0.5;           ///< that an offset must explain
constexpr double kAsMany = 0.8;             ///< of the best: another step's offset explains fewer
constexpr double kAsWell = 0.95;            ///< of the best: it cannot be told from it
constexpr std::int64_t kCloser = 3;         ///< times as close: that is it
constexpr std::int64_t kLeast_ns = 20'000;  ///< that ends differ by anyway
constexpr double kNotChance = 3;            ///< times as many as at any offset
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

/// Offsets of pairs within a window of the sorted list.
struct Fit {
  std::int64_t offset_ns = 0;  ///< middle
  std::int64_t apart_ns = 0;   ///< middle of how far they are from it
  std::size_t count = 0;
};

Fit fit_of(const std::vector<std::int64_t>& offsets, std::size_t first, std::size_t end) {
  std::vector<std::int64_t> values(offsets.begin() + static_cast<std::ptrdiff_t>(first),
                                   offsets.begin() + static_cast<std::ptrdiff_t>(end));
  Fit made{.offset_ns = middle(values), .count = values.size()};
  for (std::int64_t& value : values) value = std::abs(value - made.offset_ns);
  made.apart_ns = middle(std::move(values));
  return made;
}

/// Those that explain at least `share` of what the fullest explains, none overlapping a fuller one; in order.
std::vector<Fit> full_windows(const std::vector<std::int64_t>& offsets, double share) {
  struct Window {
    std::size_t first;
    std::size_t end;
    std::size_t count() const { return end - first; }
  };
  std::vector<Window> windows;
  std::size_t most = 0;
  for (std::size_t first = 0, end = 0; first < offsets.size(); ++first) {
    while (end < offsets.size() && offsets[end] - offsets[first] <= kWindow_ns) ++end;
    windows.push_back({first, end});
    most = std::max(most, end - first);
  }
  std::vector<Window> kept;
  for (const Window& each : windows) {
    if (static_cast<double>(each.count()) < share * static_cast<double>(most)) continue;
    const bool overlaps = !kept.empty() && each.first < kept.back().end;
    if (!overlaps) {
      kept.push_back(each);
    } else if (each.count() > kept.back().count()) {
      kept.back() = each;
    }
  }
  std::vector<Fit> made;
  for (const Window& each : kept) made.push_back(fit_of(offsets, each.first, each.end));
  return made;
}

bool is_closer(const Fit& a, const Fit& b) {
  return kCloser * std::max(a.apart_ns, kLeast_ns) < b.apart_ns;
}

/// The one nearest to no offset, or the fullest where clocks are so far apart that nearness tells nothing; another one if it is much closer.
Fit best_of(const std::vector<Fit>& fits) {
  const auto by_distance = [](const Fit& a, const Fit& b) {
    return std::abs(a.offset_ns) < std::abs(b.offset_ns);
  };
  Fit best = *std::min_element(fits.begin(), fits.end(), by_distance);
  if (std::abs(best.offset_ns) > kNear_ns) {
    best = *std::max_element(fits.begin(), fits.end(),
                             [](const Fit& a, const Fit& b) { return a.count < b.count; });
  }
  for (const Fit& each : fits) {
    if (is_closer(each, best) && each.count >= best.count) best = each;
  }
  return best;
}

std::optional<std::int64_t> as_good(const std::vector<Fit>& fits, const Fit& best) {
  std::optional<std::int64_t> nearest;
  for (const Fit& each : fits) {
    const std::int64_t from_best = std::abs(each.offset_ns - best.offset_ns);
    const bool fits_as_well =
        static_cast<double>(each.count) >= kAsWell * static_cast<double>(best.count) &&
        !is_closer(best, each);
    if (from_best <= kWindow_ns || !fits_as_well) continue;
    if (!nearest || from_best < std::abs(*nearest - best.offset_ns)) nearest = each.offset_ns;
  }
  return nearest;
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
  const std::vector<Fit> fits = full_windows(offsets, kAsMany);
  const Fit best = best_of(fits);
  const auto span = static_cast<double>(offsets.back() - offsets.front());
  const double by_chance =
      static_cast<double>(offsets.size()) * static_cast<double>(kWindow_ns) / std::max(1.0, span);
  const auto matched = static_cast<double>(best.count);
  if (best.count < kFewest || matched < kMostEnds * static_cast<double>(ends_ns.size()) ||
      matched < kNotChance * by_chance) {
    return {};
  }
  return WireClock{.offset_ns = best.offset_ns,
                   .uncertainty_ns = best.apart_ns,
                   .matched = std::min(best.count, ends_ns.size()),
                   .ends = ends_ns.size(),
                   .also_ns = as_good(fits, best)};
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
