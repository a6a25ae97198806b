// SPDX-License-Identifier: Apache-2.0
// Any traffic that repeats, or nearly so, through everything that recognises training in it: what
// is said is in range, and about hosts that are there.

#include "trainwire/base/error.h"
#include "trainwire/diagnose/analysis.h"
#include "trainwire/flow/bursts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tw::diagnose {

using namespace flow;
using namespace gather;
namespace {

constexpr std::int64_t kGapNs = 500'000;
constexpr std::int64_t kTickNs = 50'000;
constexpr std::size_t kMostMessages = 32;
constexpr int kMostSteps = 40;

struct Rhythm {
  std::uint8_t steps;
  std::uint8_t period;      ///< in 64 ticks
  std::uint8_t rest_every;  ///< steps, then a pause as long as four; 0: never
  /// Bits: link-local and multicast ones, one view or several; the other five: how much later the
  /// second half of the steps is, in powers of two of a period. A capture that was stopped and
  /// resumed, a clock that was set.
  std::uint8_t addresses;
};

/// Sent in every step, or in some.
struct Message {
  std::uint8_t ends;   ///< sender, receiver and port: 3, 3 and 2 bits
  std::uint8_t steps;  ///< a part of them: every (low half)-th from (high half) on
  std::uint16_t offset_ticks;
  std::uint16_t kilobytes;
  std::uint8_t length_ticks;
  std::uint8_t jitter_ticks;  ///< times the step's number, modulo 7
};
static_assert(sizeof(Rhythm) == 4 && sizeof(Message) == 8);

using Connections = std::map<std::array<std::uint16_t, 3>, std::vector<Burst>>;

void play(const Rhythm& rhythm, const Message& message, Connections& connections) {
  const auto from = static_cast<std::uint16_t>(1 + (message.ends & 7));
  const auto to = static_cast<std::uint16_t>(1 + (message.ends >> 3 & 7));
  if (from == to) return;
  std::vector<Burst>& bursts =
      connections[{from, to, static_cast<std::uint16_t>(message.ends >> 6)}];
  const std::int64_t period = kTickNs * 64 * (1 + rhythm.period);
  std::int64_t begin = 0;
  for (int step = 0; step < rhythm.steps % kMostSteps; ++step, begin += period) {
    if (rhythm.rest_every > 0 && step % rhythm.rest_every == 0) begin += 4 * period;
    if (step == rhythm.steps % kMostSteps / 2)
      begin += (period << (rhythm.addresses >> 3)) - period;
    if (step < message.steps >> 4 || step % (1 + (message.steps & 15)) != 0) continue;
    const std::int64_t start =
        begin + kTickNs * (message.offset_ticks + step % 7 * message.jitter_ticks);
    const std::uint64_t bytes = 1 + 1000 * std::uint64_t{message.kilobytes};
    bursts.push_back({.start_ns = start,
                      .end_ns = start + kTickNs * message.length_ticks,
                      .bytes = bytes,
                      .packets = static_cast<std::uint32_t>(1 + bytes / 1448)});
  }
}

Flow flow_of(const std::array<std::uint16_t, 3>& ends, std::vector<Burst> bursts) {
  sort_by_start(bursts);
  join_bursts(bursts, kGapNs);
  Flow flow{.key = {.source = ends[0],
                    .destination = ends[1],
                    .source_port = ends[2],
                    .destination_port = 5,
                    .protocol = 6}};
  flow.first_ns = bursts.front().start_ns;
  for (const Burst& burst : bursts) {
    flow.last_ns = std::max(flow.last_ns, burst.end_ns);
    flow.packets += burst.packets;
    flow.payload_bytes += burst.bytes;
  }
  flow.wire_bytes = flow.payload_bytes + 66 * flow.packets;
  flow.estimated_wire_packets = flow.packets;
  flow.saw_syn = ends[2] % 2 == 0;
  flow.bursts = std::move(bursts);
  return flow;
}

packet::Address address_of(std::uint32_t number, std::uint8_t kinds) {
  if (number == 7 && (kinds & 1) != 0) return packet::v4_address(0xe0000001);
  if (number == 8 && (kinds & 2) != 0) return packet::v4_address(0xa9fe0001);
  return packet::v4_address(0x0a000000 + number);
}

Captured traffic_of(const Rhythm& rhythm, const Connections& connections) {
  Captured traffic{};
  traffic.burst_gap_ns = kGapNs;
  traffic.addresses.emplace_back();
  for (std::uint32_t i = 1; i <= 8; ++i) {
    traffic.addresses.push_back(address_of(i, rhythm.addresses));
  }
  traffic.files.resize((rhythm.addresses & 4) != 0 ? 2 : 1);
  traffic.files.back().view = traffic.files.size() - 1;
  for (const auto& [ends, bursts] : connections) {
    if (bursts.empty()) continue;
    traffic.flows.push_back(flow_of(ends, bursts));
    const Flow& flow = traffic.flows.back();
    traffic.totals.packets += flow.packets;
    traffic.totals.wire_bytes += flow.wire_bytes;
    traffic.totals.last_ns = std::max(traffic.totals.last_ns, flow.last_ns);
    PairCount pair{.source = flow.key.source, .destination = flow.key.destination};
    pair.packets = flow.packets;
    pair.wire_bytes = flow.wire_bytes;
    pair.payload_bytes = pair.stream_bytes = flow.payload_bytes;
    traffic.pairs.push_back(pair);
  }
  return traffic;
}

void check_share(double value, const char* what) { check(value >= 0 && value <= 1, what); }

void check_analysis(const Analysis& analysis, const Captured& traffic) {
  const auto is_host = [&](const std::string& name) {
    return std::any_of(analysis.hosts.begin(), analysis.hosts.end(),
                       [&](const Host& host) { return host.name == name; });
  };
  check(analysis.classes.size() == traffic.flows.size(), "every flow has a class");
  check(!analysis.findings.empty() && analysis.findings.size() <= 7, "one to seven findings");
  check_share(analysis.iterations.confidence, "a confidence is a share");
  check(std::isfinite(analysis.iterations.median_s), "times are numbers");
  for (const Iteration& step : analysis.iterations.steps) {
    check(step.start_ns <= step.end_ns && step.exchange_start_ns <= step.exchange_end_ns,
          "a step ends after it began");
  }
  for (const Collective& collective : analysis.collectives) {
    check_share(collective.confidence, "a confidence is a share");
    check(std::all_of(collective.order.begin(), collective.order.end(), is_host),
          "collectives are of hosts");
  }
  if (analysis.bottleneck) {
    check(is_host(analysis.bottleneck->from) && is_host(analysis.bottleneck->to),
          "links are between hosts");
    check(analysis.bottleneck->rate_bps > 0, "a slow link still has a rate");
    check_share(analysis.bottleneck->confidence, "a confidence is a share");
  }
  if (analysis.straggler) {
    check(is_host(analysis.straggler->host), "a straggler is a host");
    check_share(analysis.straggler->confidence, "a confidence is a share");
  }
}

void run(std::span<const std::uint8_t> input) {
  Rhythm rhythm;
  if (input.size() < sizeof rhythm) return;
  std::memcpy(&rhythm, input.data(), sizeof rhythm);
  input = input.subspan(sizeof rhythm);
  Connections connections;
  for (std::size_t i = 0; i < kMostMessages && input.size() >= sizeof(Message); ++i) {
    Message message;
    std::memcpy(&message, input.data(), sizeof message);
    play(rhythm, message, connections);
    input = input.subspan(sizeof message);
  }
  const Captured traffic = traffic_of(rhythm, connections);
  check_analysis(analyse(traffic), traffic);
}

}  // namespace
}  // namespace tw::diagnose

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  tw::diagnose::run({data, size});
  return 0;
}
