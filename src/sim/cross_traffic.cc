// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/cross_traffic.h"

#include <algorithm>
#include <cstddef>

namespace tw::sim {
namespace {

/// Of a tag: these bits number the messages of a source, those above the sources.
constexpr int kSourceShift = 32;

}  // namespace

BitRate narrowest(const network::Network& network, int from, int to) {
  std::optional<BitRate> least;
  for (const int port : network.path(from, to)) {
    const BitRate rate = network.request(port).rate;
    if (!least || rate < *least) least = rate;
  }
  return *least;
}

CrossTraffic::CrossTraffic(const spec::Experiment& experiment, medium::Medium& medium) {
  const network::Network& network = medium.network();
  for (const load::Entry& entry :
       load::entries(experiment, [&](int from, int to) { return narrowest(network, from, to); })) {
    sources_.emplace_back(entry, experiment, medium, kCrossTag | sources_.size() << kSourceShift);
  }
}

TrafficSource& CrossTraffic::source(medium::Tag tag) {
  return sources_[static_cast<std::size_t>((tag & ~kCrossTag) >> kSourceShift)];
}

std::optional<Duration> CrossTraffic::next() const {
  std::optional<Duration> first;
  for (const TrafficSource& source : sources_) {
    const std::optional<Duration> next = source.next();
    if (next && (!first || *next < *first)) first = next;
  }
  return first;
}

void CrossTraffic::advance(Duration now) {
  for (TrafficSource& source : sources_) source.advance(now);
}

std::vector<PlayedTraffic> CrossTraffic::end(Duration now) {
  std::vector<PlayedTraffic> played;
  for (TrafficSource& source : sources_) {
    source.end(now);
    played.push_back(
        {.entry = source.entry(), .outcome = source.outcome(), .flows = source.flows()});
  }
  return played;
}

}  // namespace tw::sim
