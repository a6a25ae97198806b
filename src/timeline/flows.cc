// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/clean_text.h"
#include "trainwire/timeline/lanes.h"
#include "trainwire/timeline/parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tw::timeline {
namespace {

using result::TableReader;

std::map<std::string, std::string> hosts_by_address(const RunPart& run) {
  std::map<std::string, std::string> hosts;
  for (const record::Host& host : run.file.summary.hosts) {
    for (const std::string& address : host.addresses) hosts[address] = host.name;
  }
  return hosts;
}

struct FlowLife {
  std::int64_t number;
  std::int64_t first_ns;
  std::int64_t last_ns;
  std::int64_t bytes;
  std::string host;
  std::string name;
};

std::vector<FlowLife> read_flows(const TimelinePlan& plan) {
  std::vector<FlowLife> flows;
  const auto hosts = hosts_by_address(*plan.run);
  with_table(*plan.run, "flows", [&](TableReader& table) {
    const auto flow = table.column("flow"), source = table.column("source");
    const auto source_port = table.column("source_port");
    const auto destination = table.column("destination");
    const auto destination_port = table.column("destination_port");
    const auto type = table.column("class"), bytes = table.column("wire_bytes");
    const auto first = table.column("first_ns"), last = table.column("last_ns");
    while (table.next()) {
      const auto number = table.integer(flow), size = table.integer(bytes);
      const auto from = time_in(table, first), to = time_in(table, last);
      if (!number || !from || !to || !size || *to < *from) continue;
      if (!plan.window.touches(*from, *to)) continue;
      const std::string address = cleaned(table.text(source));
      const auto host = hosts.find(address);
      flows.push_back(
          {.number = *number,
           .first_ns = *from,
           .last_ns = *to,
           .bytes = *size,
           .host = host == hosts.end() ? address : cleaned(host->second),
           .name = cleaned(fmt::format("{}:{} > {}:{} ({})", table.text(source),
                                       table.text(source_port), table.text(destination),
                                       table.text(destination_port), table.text(type)))});
    }
  });
  return flows;
}

struct Burst {
  std::int64_t start_ns;
  std::int64_t end_ns;
  std::int64_t bytes;
};

/// Bursts of flows: windows with pauses no longer than a tolerance between them. The tolerance
/// doubles whenever there would be too many bursts.
class Bursts {
 public:
  explicit Bursts(std::size_t most) : most_(std::max<std::size_t>(most, 16)) {}

  void add(std::int64_t flow, const Burst& window) {
    tolerance_ns_ = std::max(tolerance_ns_, window.end_ns - window.start_ns);
    std::vector<Burst>& list = by_flow_[flow];
    if (!list.empty() && joins(list.back(), window)) {
      join(list.back(), window);
      return;
    }
    list.push_back(window);
    if (++count_ > most_) coarsen();
  }
  bool knows(std::int64_t flow) const { return by_flow_.contains(flow); }
  void expect(std::int64_t flow) { by_flow_[flow]; }
  const std::vector<Burst>& of(std::int64_t flow) const { return by_flow_.at(flow); }
  bool is_coarse() const { return is_coarse_; }

 private:
  bool joins(const Burst& before, const Burst& window) const {
    return window.start_ns >= before.start_ns && window.start_ns - before.end_ns <= tolerance_ns_;
  }
  static void join(Burst& burst, const Burst& window) {
    burst.end_ns = std::max(burst.end_ns, window.end_ns);
    burst.bytes = std::min(burst.bytes + window.bytes, kLastTime);
  }
  void coarsen() {
    is_coarse_ = true;
    const std::size_t before = count_;
    tolerance_ns_ = std::min<std::int64_t>(tolerance_ns_ * 2, INT64_MAX / 4);
    count_ = 0;
    for (auto& [flow, list] : by_flow_) {
      std::vector<Burst> kept;
      for (const Burst& burst : list) {
        if (!kept.empty() && joins(kept.back(), burst)) {
          join(kept.back(), burst);
        } else {
          kept.push_back(burst);
        }
      }
      count_ += kept.size();
      list = std::move(kept);
    }
    // Windows that are out of order never join: they are not worth waiting for.
    if (count_ == before) most_ *= 2;
  }

  std::size_t most_;
  std::size_t count_ = 0;
  std::int64_t tolerance_ns_ = 1;
  bool is_coarse_ = false;
  std::map<std::int64_t, std::vector<Burst>> by_flow_;
};

void read_bursts(const TimelinePlan& plan, Bursts& bursts) {
  with_table(*plan.run, "windows", [&](TableReader& table) {
    const auto scope = table.column("scope"), flow = table.column("flow");
    const auto start = table.column("start_ns"), width = table.column("width_ns");
    const auto bytes = table.column("wire_bytes");
    while (table.next()) {
      if (table.text(scope) != "flow") continue;
      const auto number = table.integer(flow), count = table.integer(bytes);
      const auto start_ns = time_in(table, start), width_ns = time_in(table, width);
      if (!number || !start_ns || !width_ns || !count || *width_ns == 0) continue;
      if (*count < 0 || *count > kLastTime) continue;
      if (!plan.window.touches(*start_ns, *start_ns + *width_ns) || !bursts.knows(*number)) {
        continue;
      }
      bursts.add(*number, {*start_ns, *start_ns + *width_ns, *count});
    }
  });
}

Track track_of(const FlowLife& flow, const std::vector<Burst>& bursts) {
  std::vector<Slice> slices;
  slices.push_back({.start_ns = flow.first_ns,
                    .end_ns = flow.last_ns,
                    .name = "flow",
                    .arguments = {{"flow", flow.number}, {"wire_bytes", flow.bytes}}});
  for (const Burst& burst : bursts) {
    // Windows begin before the first packet in them and end after the last.
    const std::int64_t start = std::max(burst.start_ns, flow.first_ns);
    const std::int64_t end = std::min(burst.end_ns, flow.last_ns);
    if (end < start) continue;
    slices.push_back({.start_ns = start,
                      .end_ns = end,
                      .name = "burst",
                      .arguments = {{"wire_bytes", burst.bytes}}});
  }
  std::vector<std::vector<Slice>> lanes = lanes_of(std::move(slices));
  return {.name = flow.name, .slices = std::move(lanes.front())};
}

}  // namespace

void add_flows(const TimelinePlan& plan, Pieces& pieces) {
  std::vector<FlowLife> flows = read_flows(plan);
  const std::size_t most = std::clamp<std::size_t>(plan.events / 20, 1, 1000);
  if (flows.size() > most) {
    pieces.notes.push_back(fmt::format("the {} largest of {} flows are shown", most, flows.size()));
    std::stable_sort(flows.begin(), flows.end(),
                     [](const FlowLife& a, const FlowLife& b) { return a.bytes > b.bytes; });
    flows.resize(most);
  }
  Bursts bursts(plan.events / 6);
  for (const FlowLife& flow : flows) bursts.expect(flow.number);
  read_bursts(plan, bursts);
  if (bursts.is_coarse()) {
    pieces.notes.emplace_back("bursts of flows with short pauses between them are taken together");
  }
  for (const FlowLife& flow : flows) {
    pieces.hosts[flow.host].push_back(track_of(flow, bursts.of(flow.number)));
  }
}

}  // namespace tw::timeline
