// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/resolve.h"

#include <fmt/format.h>

namespace tw::spec {
namespace {

void check_end(std::string_view key, const std::string& host, const Surroundings& around,
               keys::Section& section) {
  if (!section.readable({key})) return;
  if (host.empty()) {
    section.refuse(fmt::format("traffic needs {} = a host", key));
  } else if (around.hosts_known) {
    std::string problem = host_problem(around.network, host);
    if (!problem.empty()) section.refuse(key, std::move(problem));
  }
}

void check_amount(const Traffic& traffic, keys::Section& section) {
  if (!section.readable({"kind", "load", "file"})) return;
  const bool is_listed = *traffic.kind == TrafficKind::File;
  if (is_listed && !*traffic.file) section.refuse("kind", "needs file = the list of flows");
  const bool has_load = traffic.load->share || traffic.load->rate;
  if (!is_listed && !has_load) section.refuse("traffic needs load = 0.8 or load = \"800Mbit\"");
}

void check_burst(const Traffic& traffic, keys::Section& section) {
  if (*traffic.kind != TrafficKind::Burst) return;
  if (section.readable({"burst_height"}) && *traffic.burst_height <= 1) {
    section.refuse("burst_height", "a burst rises above the mean; write more than 1");
  }
  if (section.readable({"burst_width", "period"}) && *traffic.burst_width >= *traffic.period) {
    section.refuse(is_explicit(traffic.burst_width) ? "burst_width" : "period",
                   fmt::format("bursts of {} do not fit in a period of {}; write a longer period",
                               exact(*traffic.burst_width), exact(*traffic.period)));
  }
}

}  // namespace

void resolve_traffic(const Traffic& traffic, const Surroundings& around, keys::Section& section) {
  check_end("from", *traffic.from, around, section);
  // A list of flows says itself where they go.
  if (*traffic.kind != TrafficKind::File || !traffic.to->empty()) {
    check_end("to", *traffic.to, around, section);
  }
  if (section.readable({"from", "to"}) && !traffic.from->empty() && *traffic.from == *traffic.to) {
    section.refuse("to", fmt::format("{} is where it comes from; write another host", *traffic.to));
  }
  check_amount(traffic, section);
  check_burst(traffic, section);
}

}  // namespace tw::spec
