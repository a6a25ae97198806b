// SPDX-License-Identifier: Apache-2.0
#include "trainwire/excerpt/selection.h"

#include "trainwire/base/error.h"
#include "trainwire/diagnose/finding_kinds.h"
#include "trainwire/gather/ports.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

namespace tw::excerpt {
namespace {

using diagnose::Analysis;
using diagnose::FlowClass;
using gather::Captured;

constexpr std::size_t kMostPairs = 64;  ///< a filter with more is no help
constexpr std::size_t kMostFlows = 16;

std::vector<packet::Address> addresses_of(const std::string& host, const Analysis& analysis,
                                          const Captured& traffic) {
  std::vector<packet::Address> addresses;
  for (const gather::Host& candidate : analysis.hosts) {
    if (candidate.name != host) continue;
    for (const std::uint32_t number : candidate.addresses) {
      addresses.push_back(gather::real_address(traffic.addresses[number]));
    }
  }
  return addresses;
}

std::vector<Way> ways_from(const std::string& host, const Analysis& analysis,
                           const Captured& traffic) {
  std::vector<Way> ways;
  for (const packet::Address& from : addresses_of(host, analysis, traffic)) {
    ways.push_back({.from = from});
  }
  return ways;
}

std::vector<Way> ways_between(const std::string& from, const std::string& to,
                              const Analysis& analysis, const Captured& traffic) {
  std::vector<Way> ways;
  for (Way& way : ways_from(from, analysis, traffic)) {
    for (const packet::Address& other : addresses_of(to, analysis, traffic)) {
      way.to = other;
      ways.push_back(way);
    }
  }
  return ways;
}

/// Pairs of addresses between which gradients go; none when they are too many to write down.
std::vector<Way> gradient_ways(const Analysis& analysis, const Captured& traffic) {
  std::vector<Way> ways;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    if (analysis.classes[i] != FlowClass::Gradient) continue;
    const flow::FlowKey& key = traffic.flows[i].key;
    const Way way{.from = gather::real_address(traffic.addresses[key.source]),
                  .to = gather::real_address(traffic.addresses[key.destination])};
    if (std::find(ways.begin(), ways.end(), way) == ways.end()) ways.push_back(way);
    if (ways.size() > kMostPairs) return {};
  }
  return ways;
}

Way way_of(const flow::Flow& flow, const Captured& traffic) {
  const bool has_ports = !flow.key.is_rocev2() && (flow.key.is_tcp() || flow.key.protocol == 17);
  return {.from = gather::real_address(traffic.addresses[flow.key.source]),
          .to = gather::real_address(traffic.addresses[flow.key.destination]),
          .protocol = has_ports ? flow.key.protocol : std::uint8_t{0},
          .from_port = has_ports ? flow.key.source_port : std::uint16_t{0},
          .to_port = has_ports ? flow.key.destination_port : std::uint16_t{0}};
}

/// The flows with the most of what `measure` counts.
std::vector<Way> largest_flows(const Captured& traffic,
                               const std::function<std::uint64_t(std::size_t)>& measure) {
  std::vector<std::pair<std::uint64_t, std::size_t>> flows;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    if (const std::uint64_t bytes = measure(i); bytes > 0) flows.emplace_back(bytes, i);
  }
  std::stable_sort(flows.begin(), flows.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  if (flows.size() > kMostFlows) flows.resize(kMostFlows);
  std::vector<Way> ways;
  for (const auto& flow : flows) ways.push_back(way_of(traffic.flows[flow.second], traffic));
  return ways;
}

std::vector<Way> repeated_flows(const Captured& traffic) {
  return largest_flows(traffic, [&](std::size_t i) {
    return traffic.flows[i].retransmitted_bytes + traffic.flows[i].recovered_bytes;
  });
}

std::vector<Way> other_flows(const Analysis& analysis, const Captured& traffic) {
  return largest_flows(traffic, [&](std::size_t i) -> std::uint64_t {
    const FlowClass is = analysis.classes[i];
    const bool counts = is != FlowClass::Gradient && is != FlowClass::Cross;
    return counts ? traffic.flows[i].stream_bytes() : 0;
  });
}

/// From its root, before the first step.
Selection first_model(const Analysis& analysis, const Captured& traffic) {
  Selection selection;
  for (const diagnose::Collective& collective : analysis.collectives) {
    if (collective.operation != "broadcast") continue;
    selection.ways = ways_from(collective.order.front(), analysis, traffic);
    selection.to_ns = analysis.iterations.steps.front().exchange_start_ns;
  }
  return selection;
}

std::string time_text(std::int64_t ns) {
  return fmt::format("{}.{:09}", ns / 1'000'000'000, ns % 1'000'000'000);
}

std::string way_text(const Way& way) {
  const std::string_view ip = way.from.is_v4() ? "ip" : "ipv6";
  std::string text = fmt::format("{}.src == {}", ip, way.from.text());
  if (way.to) text += fmt::format(" && {}.dst == {}", ip, way.to->text());
  if (way.protocol != 0) {
    const std::string_view transport = way.protocol == 6 ? "tcp" : "udp";
    text += fmt::format(" && {0}.srcport == {1} && {0}.dstport == {2}", transport, way.from_port,
                        way.to_port);
  }
  return text;
}

bool has(const Way& way, const packet::Packet& packet, const packet::Address& source,
         const packet::Address& destination) {
  if (way.from != source || (way.to && *way.to != destination)) return false;
  if (way.protocol == 0) return true;
  return way.protocol == packet.ip_protocol && way.from_port == packet.source_port &&
         way.to_port == packet.destination_port;
}

}  // namespace

Selection of_finding(const Analysis& analysis, const Captured& traffic, std::size_t i) {
  check(i < analysis.findings.size(), "a finding that there is");
  const std::string_view kind = analysis.findings[i].kind;
  if (kind == diagnose::kSlowLink && analysis.bottleneck) {
    const diagnose::Bottleneck& slow = *analysis.bottleneck;
    return {.ways = ways_between(slow.from, slow.to, analysis, traffic)};
  }
  if (kind == diagnose::kStraggler && analysis.straggler) {
    return {.ways = ways_from(analysis.straggler->host, analysis, traffic)};
  }
  if (kind == diagnose::kSentAgain) return {.ways = repeated_flows(traffic), .repeats = true};
  if (kind == diagnose::kOtherTraffic) return {.ways = other_flows(analysis, traffic)};
  if (kind == diagnose::kNoTraining || analysis.iterations.steps.empty()) return {};
  if (kind == diagnose::kFirstModel) return first_model(analysis, traffic);
  if (kind == diagnose::kFirstStep) return of_step(analysis, 0);
  return {.ways = gradient_ways(analysis, traffic)};
}

Selection of_step(const Analysis& analysis, std::size_t i) {
  check(i < analysis.iterations.steps.size(), "a step that there is");
  const diagnose::Iteration& step = analysis.iterations.steps[i];
  return {.from_ns = std::min(step.start_ns, step.exchange_start_ns),
          .to_ns = std::max(step.end_ns, step.exchange_end_ns)};
}

std::string wireshark_filter(const Selection& selection) {
  std::vector<std::string> parts;
  std::vector<std::string> ways;
  for (const Way& way : selection.ways) ways.push_back(way_text(way));
  if (ways.size() == 1) parts.push_back(ways.front());
  if (ways.size() > 1) parts.push_back(fmt::format("(({}))", fmt::join(ways, ") || (")));
  if (selection.from_ns) {
    parts.push_back(fmt::format("frame.time_epoch >= {}", time_text(*selection.from_ns)));
  }
  if (selection.to_ns) {
    parts.push_back(fmt::format("frame.time_epoch <= {}", time_text(*selection.to_ns)));
  }
  if (selection.repeats) parts.emplace_back("tcp.analysis.retransmission");
  return fmt::format("{}", fmt::join(parts, " && "));
}

bool selects(const Selection& selection, const packet::Packet& packet,
             const packet::Address& source, const packet::Address& destination) {
  if (selection.from_ns && packet.time_ns < *selection.from_ns) return false;
  if (selection.to_ns && packet.time_ns > *selection.to_ns) return false;
  return selection.ways.empty() ||
         std::any_of(selection.ways.begin(), selection.ways.end(),
                     [&](const Way& way) { return has(way, packet, source, destination); });
}

}  // namespace tw::excerpt
