// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/congestion.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace tw::netsim {
namespace {

constexpr std::array<std::string_view, 4> kNames = {"reno", "cubic", "dctcp", "bbr"};

/// RFC 5681: half after a loss, one segment more a round trip.
class Reno : public Congestion {
 public:
  int threshold(const Window& window, Cause) override { return std::max(window.segments / 2, 2); }

  void grow(const AckNews& news, Window& window) override {
    if (!news.window_limited) return;
    int acknowledged = news.delivered;
    if (window.is_slow_start()) acknowledged = slow_start(window, acknowledged);
    if (acknowledged > 0) additive_increase(window, window.segments, acknowledged);
  }
};

}  // namespace

int slow_start(Window& window, int acknowledged) {
  const int grown = std::min(window.segments + acknowledged, window.threshold);
  const int left = acknowledged - (grown - window.segments);
  window.segments = grown;
  return left;
}

void additive_increase(Window& window, int per, int acknowledged) {
  if (window.counted >= per) {
    window.counted = 0;
    ++window.segments;
  }
  window.counted += acknowledged;
  if (window.counted >= per) {
    window.segments += window.counted / per;
    window.counted %= per;
  }
}

std::unique_ptr<Congestion> make_reno() { return std::make_unique<Reno>(); }

std::span<const std::string_view> congestion_names() { return kNames; }

std::unique_ptr<Congestion> make_congestion(const std::string& name) {
  if (name == "reno") return make_reno();
  if (name == "cubic") return make_cubic();
  if (name == "dctcp") return make_dctcp();
  if (name == "bbr") return make_bbr();
  throw SpecError(fmt::format(
      "network.congestion_control: \"{}\" cannot be simulated packet by packet; there are {}", name,
      fmt::join(kNames, ", ")));
}

}  // namespace tw::netsim
