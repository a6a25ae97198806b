// SPDX-License-Identifier: Apache-2.0
#include "trainwire/timeline/lanes.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace tw::timeline {
namespace {

struct Lane {
  std::vector<Slice> slices;
  std::vector<std::int64_t> open_ends;  ///< of slices that are not over yet, the innermost last

  bool takes(const Slice& slice) {
    while (!open_ends.empty() && open_ends.back() <= slice.start_ns) open_ends.pop_back();
    return open_ends.empty() || slice.end_ns <= open_ends.back();
  }
};

}  // namespace

std::vector<std::vector<Slice>> lanes_of(std::vector<Slice> slices) {
  std::stable_sort(slices.begin(), slices.end(), [](const Slice& a, const Slice& b) {
    return std::tuple(a.start_ns, -a.end_ns) < std::tuple(b.start_ns, -b.end_ns);
  });
  std::vector<Lane> lanes;
  for (Slice& slice : slices) {
    auto lane =
        std::find_if(lanes.begin(), lanes.end(), [&](Lane& each) { return each.takes(slice); });
    if (lane == lanes.end()) lane = lanes.insert(lanes.end(), Lane());
    lane->open_ends.push_back(slice.end_ns);
    lane->slices.push_back(std::move(slice));
  }
  std::vector<std::vector<Slice>> made;
  for (Lane& lane : lanes) made.push_back(std::move(lane.slices));
  return made;
}

void walk(const std::vector<Slice>& lane, const std::function<void(const Slice&)>& begin,
          const std::function<void(const Slice&)>& end) {
  std::vector<const Slice*> open;
  const auto close_until = [&](std::int64_t time_ns) {
    while (!open.empty() && open.back()->end_ns <= time_ns) {
      end(*open.back());
      open.pop_back();
    }
  };
  for (const Slice& slice : lane) {
    close_until(slice.start_ns);
    begin(slice);
    open.push_back(&slice);
  }
  close_until(INT64_MAX);
}

}  // namespace tw::timeline
