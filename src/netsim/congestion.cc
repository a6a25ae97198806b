// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/congestion.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tw::netsim {
namespace {

constexpr double kMltcpSlope = 1.75;
constexpr double kMltcpIntercept = 0.25;
constexpr std::array<std::string_view, 5> kNames = {"reno", "cubic", "dctcp", "bbr", "mltcp"};

/// RFC 5681: half after a loss, one segment more a round trip.
class Reno : public Congestion {
 public:
  int threshold(const Window& window, Cause) override { return std::max(window.segments / 2, 2); }

  void grow(const AckNews& news, Window& window) override {
    if (!news.window_limited) return;
    int acknowledged = news.delivered;
    if (window.is_slow_start()) acknowledged = slow_start(window, acknowledged);
    if (acknowledged > 0) additive_increase(window, per(news, window), acknowledged);
  }

 protected:
  /// Acknowledged segments for each by which the window grows.
  virtual int per(const AckNews&, const Window& window) const { return window.segments; }
};

/// MLTCP on Reno (Rajasekaran, Narang, Zabreyko & Ghobadi, "MLTCP: A Distributed Technique to
/// Approximate Centralized Flow Scheduling For Machine Learning", HotNets 2024,
/// 10.1145/3696348.3696878): a window grows by F(share) = 1.75 share + 0.25 segments a round trip
/// instead of one, where `share` of the bytes of its job's present step have been acknowledged. Who is
/// nearer to its end gets more, so jobs that compete drift apart until one sends while the other
/// computes.
///
/// Where we differ: the sender is told when a step begins and how many bytes the last one had, and
/// finds neither by pauses between acknowledgements.
class Mltcp : public Reno {
  int per(const AckNews& news, const Window& window) const override {
    const double scaled = window.segments / mltcp_gain(news.step_share);
    return std::max(1, static_cast<int>(std::lround(scaled)));
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

double mltcp_gain(double step_share) {
  return step_share < 0 ? 1 : kMltcpSlope * std::min(step_share, 1.0) + kMltcpIntercept;
}

std::unique_ptr<Congestion> make_mltcp() { return std::make_unique<Mltcp>(); }

std::span<const std::string_view> congestion_names() { return kNames; }

std::unique_ptr<Congestion> make_congestion(const std::string& name) {
  if (name == "reno") return make_reno();
  if (name == "cubic") return make_cubic();
  if (name == "dctcp") return make_dctcp();
  if (name == "bbr") return make_bbr();
  if (name == "mltcp") return make_mltcp();
  throw SpecError(fmt::format(
      "network.congestion_control: \"{}\" cannot be simulated packet by packet; there are {}", name,
      fmt::join(kNames, ", ")));
}

}  // namespace tw::netsim
