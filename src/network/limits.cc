// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/limits.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <map>

namespace tw::network {
namespace {

std::size_t at(Direction direction) { return direction == Direction::FromHost ? 0 : 1; }

constexpr std::array kDirections{Direction::FromHost, Direction::ToHost};

/// Bytes that leave and enter something.
using Load = std::array<Bytes, 2>;

/// The parts of a list of zones that the other list does not have.
std::vector<int> without(const std::vector<int>& zones, const std::vector<int>& others) {
  std::vector<int> left;
  for (const int zone : zones) {
    if (std::find(others.begin(), others.end(), zone) == others.end()) left.push_back(zone);
  }
  return left;
}

/// The whole of a number divided among some, as the one with most gets it.
Bytes largest_share(Bytes bytes, std::int64_t among) {
  return Bytes((bytes.count() + among - 1) / among);
}

double seconds_for(Bytes bytes, BitRate rate) {
  return static_cast<double>(bytes.count()) * 8 / rate.bits_per_second();
}

/// The slowest of many; named at the end only, since names cost more than numbers.
struct Slowest {
  enum class Kind { Nothing, Host, Zone };
  Kind kind = Kind::Nothing;
  int number = 0;  ///< of the host or zone
  Direction direction = {};
  Bytes bytes = {};
  BitRate rate = {};

  void take(const Slowest& other) {
    if (other.bytes.count() == 0) return;
    const bool is_first = kind == Kind::Nothing;
    if (is_first || seconds_for(other.bytes, other.rate) > seconds_for(bytes, rate)) *this = other;
  }
};

}  // namespace

double Bottleneck::seconds() const { return seconds_for(bytes, rate); }

std::vector<Limits::Crossing> Limits::crossings(int from, int to) const {
  const std::vector<int> ours = network_.wiring().zones_of(from);
  const std::vector<int> theirs = network_.wiring().zones_of(to);
  std::vector<Crossing> crossed;
  for (const int zone : without(ours, theirs)) crossed.push_back({zone, Direction::FromHost});
  for (const int zone : without(theirs, ours)) crossed.push_back({zone, Direction::ToHost});
  return crossed;
}

const Limits::Group& Limits::group(const Crossing& crossing) {
  auto [known, is_new] = groups_.try_emplace(crossing.zone);
  if (is_new) {
    const Zone zone = network_.wiring().zone(crossing.zone);
    for (const Direction direction : kDirections) {
      Group& group = known->second[at(direction)];
      group.least_delay = Duration::max();
      for (const int link : zone.links) {
        const int port = 2 * (network_.hosts() + link) + static_cast<int>(at(direction));
        const Request& asked = network_.request(port);
        group.sum = BitRate(group.sum.bits_per_second() + asked.rate.bits_per_second());
        group.fastest = std::max(group.fastest, asked.rate);
        group.least_delay = std::min(group.least_delay, asked.delay);
      }
    }
  }
  return known->second[at(crossing.direction)];
}

BitRate Limits::fastest(int from, int to) {
  check(from != to, "a flow has two ends");
  BitRate rate = std::min(network_.request(2 * from).rate, network_.request(2 * to + 1).rate);
  for (const Crossing& crossing : crossings(from, to)) {
    rate = std::min(rate, group(crossing).fastest);
  }
  return rate;
}

Duration Limits::least_delay(int from, int to) {
  check(from != to, "a path has two ends");
  Duration delay = network_.request(2 * from).delay + network_.request(2 * to + 1).delay;
  for (const Crossing& crossing : crossings(from, to)) delay += group(crossing).least_delay;
  return delay;
}

std::string Limits::name_of(int zone) const {
  const Zone crossed = network_.wiring().zone(zone);
  if (crossed.links.size() > 1) return crossed.name;
  return network_.wiring().link_name(crossed.links.front());
}

std::optional<Bottleneck> Limits::bottleneck(std::span<const Demand> demands) {
  std::map<int, Load> of_hosts, of_zones;
  Slowest slowest, single;  // the second: of a flow for itself
  for (const Demand& demand : demands) {
    of_hosts[demand.from][at(Direction::FromHost)] += demand.bytes;
    of_hosts[demand.to][at(Direction::ToHost)] += demand.bytes;
    const Bytes flow = largest_share(demand.bytes, demand.flows);
    for (const Crossing& crossing : crossings(demand.from, demand.to)) {
      of_zones[crossing.zone][at(crossing.direction)] += demand.bytes;
      const auto [zone, direction] = crossing;
      single.take({Slowest::Kind::Zone, zone, direction, flow, group(crossing).fastest});
    }
  }
  for (const Direction direction : kDirections) {
    const std::size_t way = at(direction);
    for (const auto& [host, load] : of_hosts) {
      const BitRate rate = network_.request(2 * host + static_cast<int>(way)).rate;
      slowest.take({Slowest::Kind::Host, host, direction, load[way], rate});
    }
    for (const auto& [zone, load] : of_zones) {
      slowest.take({Slowest::Kind::Zone, zone, direction, load[way], group({zone, direction}).sum});
    }
  }
  slowest.take(single);
  if (slowest.kind == Slowest::Kind::Nothing) return {};
  const bool is_host = slowest.kind == Slowest::Kind::Host;
  return Bottleneck{.where = is_host ? spec::host_name(slowest.number) : name_of(slowest.number),
                    .direction = slowest.direction,
                    .bytes = slowest.bytes,
                    .rate = slowest.rate};
}

}  // namespace tw::network
