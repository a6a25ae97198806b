// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/paced_rate.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace tw::diagnose {
namespace {

constexpr std::uint64_t kLargestTrain = 69'000;  ///< the largest packet's payload, as frames
constexpr std::size_t kFewestAlike = 17;         ///< trains of one rate; fewer agree by chance
constexpr double kSameRate = 0.06;
constexpr double kLeastShare = 1.0 / 12;

struct Train {
  double rate_bps;
  double bytes;
};

/// By rate. The last burst is followed by nothing that could be the next train.
std::vector<Train> trains_of(std::span<const flow::Burst> bursts) {
  std::vector<Train> trains;
  for (std::size_t i = 0; i + 1 < bursts.size(); ++i) {
    const std::int64_t time = bursts[i + 1].start_ns - bursts[i].start_ns;
    if (time <= 0 || bursts[i].bytes > kLargestTrain) continue;
    const auto bytes = static_cast<double>(bursts[i].bytes);
    trains.push_back({bytes * 8e9 / static_cast<double>(time), bytes});
  }
  std::sort(trains.begin(), trains.end(),
            [](const Train& a, const Train& b) { return a.rate_bps < b.rate_bps; });
  return trains;
}

}  // namespace

std::optional<double> paced_rate_bps(std::span<const flow::Burst> bursts) {
  double all = 0;
  for (const flow::Burst& burst : bursts) all += static_cast<double>(burst.bytes);
  const std::vector<Train> trains = trains_of(bursts);
  double most = 0;
  double rate = 0;
  double inside = 0;
  std::size_t high = 0;
  for (std::size_t low = 0; low < trains.size(); ++low) {
    while (high < trains.size() &&
           trains[high].rate_bps <= (1 + kSameRate) * trains[low].rate_bps) {
      inside += trains[high++].bytes;
    }
    if (inside > most && high - low >= kFewestAlike) {
      most = inside;
      rate = trains[low + (high - low) / 2].rate_bps;
    }
    inside -= trains[low].bytes;
  }
  return most >= kLeastShare * all ? std::optional(rate) : std::nullopt;
}

}  // namespace tw::diagnose
