// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/series.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tw::flow {
namespace {

constexpr std::size_t kLateWindows = 16;
constexpr std::uint32_t kMost = std::numeric_limits<std::uint32_t>::max();

void add_saturating(std::uint32_t& sum, std::uint64_t bytes) {
  sum = static_cast<std::uint32_t>(std::min<std::uint64_t>(sum + bytes, kMost));
}

bool is_before(const Window& window, std::uint32_t index) { return window.index < index; }

}  // namespace

std::uint32_t Clock::index_of(std::int64_t time_ns) const {
  const std::int64_t since = std::max<std::int64_t>(time_ns - origin_ns, 0);
  return static_cast<std::uint32_t>(std::min<std::int64_t>(since / width_ns, kMost - 1));
}

Series::Series(std::vector<Window> windows) : windows_(std::move(windows)) {
  std::sort(windows_.begin(), windows_.end(),
            [](const Window& a, const Window& b) { return a.index < b.index; });
  std::size_t kept = 0;
  for (const Window& window : windows_) {
    if (kept > 0 && windows_[kept - 1].index == window.index) {
      add_saturating(windows_[kept - 1].bytes, window.bytes);
    } else {
      windows_[kept++] = window;
    }
  }
  windows_.resize(kept);
}

std::size_t Series::add_late(std::uint32_t index, std::uint64_t bytes) {
  const bool all_are_young = windows_.size() <= kLateWindows;
  const auto oldest =
      all_are_young ? windows_.begin() : windows_.end() - static_cast<int>(kLateWindows);
  const auto at = std::lower_bound(oldest, windows_.end(), index, is_before);
  if (at->index == index || (at == oldest && !all_are_young)) {
    add_saturating(at->bytes, bytes);
    return 0;
  }
  windows_.insert(at, {.index = index, .bytes = saturated(bytes)});
  return 1;
}

void Series::fold() {
  std::size_t kept = 0;
  for (const Window& window : windows_) {
    const std::uint32_t index = window.index / 2;
    if (kept > 0 && windows_[kept - 1].index == index) {
      add_saturating(windows_[kept - 1].bytes, window.bytes);
    } else {
      windows_[kept++] = {.index = index, .bytes = window.bytes};
    }
  }
  windows_.resize(kept);
  windows_.shrink_to_fit();
}

void Series::merge(const Series& other, const Clock& from, const Clock& to, const TimeMap& map) {
  check(from.width_ns == to.width_ns, "series of one width are merged");
  std::vector<Window> merged;
  merged.reserve(windows_.size() + other.windows_.size());
  const auto append = [&](std::uint32_t index, std::uint32_t bytes) {
    if (!merged.empty() && merged.back().index == index) {
      add_saturating(merged.back().bytes, bytes);
    } else {
      merged.push_back({.index = index, .bytes = bytes});
    }
  };
  auto own = windows_.begin();
  for (const Window& window : other.windows_) {
    const std::uint32_t index = to.index_of(map(from.begin_of(window.index)) + to.width_ns / 2);
    for (; own != windows_.end() && own->index <= index; ++own) append(own->index, own->bytes);
    append(index, window.bytes);
  }
  for (; own != windows_.end(); ++own) append(own->index, own->bytes);
  windows_ = std::move(merged);
}

void Series::subtract(const Series& part) {
  auto own = windows_.begin();
  for (const Window& window : part.windows_) {
    own = std::lower_bound(own, windows_.end(), window.index, is_before);
    if (own == windows_.end()) break;
    if (own->index == window.index) own->bytes -= std::min(own->bytes, window.bytes);
  }
  std::erase_if(windows_, [](const Window& window) { return window.bytes == 0; });
}

void Series::scale(std::uint64_t numerator, std::uint64_t denominator) {
  check(denominator > 0 && numerator <= denominator, "a series is scaled by at most one");
  const double factor = static_cast<double>(numerator) / static_cast<double>(denominator);
  double owed = 0;
  for (Window& window : windows_) {
    owed += factor * window.bytes;
    window.bytes = static_cast<std::uint32_t>(std::llround(owed));
    owed -= window.bytes;
  }
  std::erase_if(windows_, [](const Window& window) { return window.bytes == 0; });
}

std::uint64_t Series::bytes() const {
  std::uint64_t sum = 0;
  for (const Window& window : windows_) sum += window.bytes;
  return sum;
}

double most_in(std::span<const Series* const> series, std::uint32_t windows) {
  std::vector<Window> filled;
  for (const Series* one : series) {
    filled.insert(filled.end(), one->windows().begin(), one->windows().end());
  }
  const auto is_before = [](const Window& a, const Window& b) { return a.index < b.index; };
  if (series.size() > 1) std::sort(filled.begin(), filled.end(), is_before);
  std::uint64_t inside = 0;
  std::uint64_t most = 0;
  std::size_t low = 0;
  for (const Window& window : filled) {
    inside += window.bytes;
    while (std::uint64_t{filled[low].index} + windows <= window.index)
      inside -= filled[low++].bytes;
    most = std::max(most, inside);
  }
  return static_cast<double>(most);
}

}  // namespace tw::flow
