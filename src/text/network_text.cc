// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/network_text.h"

#include "trainwire/record/json.h"
#include "trainwire/testbed/choose.h"
#include "trainwire/testbed/shaping.h"
#include "trainwire/usage/links.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>

namespace tw::text {
namespace {

using network::NetPlan;
using network::Port;
using nlohmann::ordered_json;
using testbed::name_of;
using testbed::PathCheck;

constexpr std::size_t kMostRows = 40;

std::string node_name(const NetPlan& plan, int node) {
  const auto hosts = static_cast<int>(plan.hosts.size());
  return node < hosts ? plan.hosts[static_cast<std::size_t>(node)].name
                      : plan.switches[static_cast<std::size_t>(node - hosts)];
}

std::string percent(double share) {
  return share == 0 ? "0 %" : fmt::format("{:.3g} %", 100 * share);
}

std::string port_row(const NetPlan& plan, const Port& port) {
  std::string extra;
  if (port.jitter > Duration(0)) extra += fmt::format("  jitter {}", readable(port.jitter));
  if (port.loss_burst > 1) extra += fmt::format("  bursts of {:.3g}", port.loss_burst);
  if (port.ecn) extra += fmt::format("  ECN from {}", readable(*port.ecn));
  return fmt::format("  {:>8} > {:<8} {:>12} {:>9} {:>8} {:>10}{}\n", node_name(plan, port.from),
                     node_name(plan, port.to), readable(port.rate), readable(port.delay),
                     percent(port.loss), readable(port.queue), extra);
}

std::string_view fitness_name(testbed::Fitness fitness) {
  constexpr std::array<std::string_view, 3> kNames{"ok", "warn", "refused"};
  return kNames[static_cast<std::size_t>(fitness)];
}

}  // namespace

std::string plan_text(const NetPlan& plan, spec::Engine engine) {
  std::string text =
      fmt::format("{} hosts, {} {}, MTU {}, TCP {}, engine {}\n", plan.hosts.size(),
                  plan.switches.size(), plan.switches.size() == 1 ? "switch" : "switches", plan.mtu,
                  plan.congestion_control, name_of(engine));
  text += fmt::format("  TCP buffers grow to {}; largest segment {}; packets are {}\n\nhosts\n",
                      readable(plan.socket_buffer.value_or(plan.largest_window)),
                      readable(network::largest_segment(plan.ports.front().rate)),
                      plan.lossy() ? "lost one by one" : "not lost on purpose");
  for (std::size_t i = 0; i < std::min(plan.hosts.size(), kMostRows); ++i) {
    text += fmt::format("  {:<8} {}/{}\n", plan.hosts[i].name, plan.hosts[i].address,
                        plan.prefix_length);
  }
  if (plan.hosts.size() > kMostRows) {
    text += fmt::format("  ... and {} more\n", plan.hosts.size() - kMostRows);
  }
  text += fmt::format("\nlinks {:>4}   {:<8} {:>12} {:>9} {:>8} {:>10}\n", "from", "to", "rate",
                      "delay", "loss", "queue");
  for (std::size_t i = 0; i < std::min(plan.ports.size(), 2 * kMostRows); ++i) {
    text += port_row(plan, plan.ports[i]);
  }
  if (plan.ports.size() > 2 * kMostRows) {
    text +=
        fmt::format("  ... and {} more; --json has them all\n", plan.ports.size() - 2 * kMostRows);
  }
  return text;
}

ordered_json plan_document(const NetPlan& plan, spec::Engine engine,
                           const std::vector<PathCheck>& checks) {
  ordered_json hosts = ordered_json::array();
  for (const network::HostPlan& host : plan.hosts) {
    hosts.push_back({{"name", host.name}, {"address", host.address}});
  }
  return {{"schema", 1},
          {"engine", name_of(engine)},
          {"mtu", plan.mtu},
          {"congestion_control", plan.congestion_control},
          {"hosts", hosts},
          {"switches", plan.switches},
          {"network", record::to_json(usage::described(plan, checks))}};
}

std::string check_text(const NetPlan& plan, const std::vector<PathCheck>& checks) {
  std::string text = fmt::format("{:<18} {:>12} {:>12} {:>11} {:>11} {:>8} {:>8}\n", "path",
                                 "rate asked", "found", "rtt asked", "found", "loss", "found");
  for (const PathCheck& check : checks) {
    text += fmt::format(
        "{:<18} {:>12} {:>12} {:>11} {:>11} {:>8} {:>8}  {}\n",
        fmt::format("{} > {}", node_name(plan, check.path.from), node_name(plan, check.path.to)),
        readable(check.expected.rate), readable(check.found.rate.carried),
        readable(check.expected.round_trip), readable(check.found.round_trip.median),
        percent(check.expected.loss), percent(check.found.loss.share()),
        fitness_name(check.fitness));
  }
  for (const PathCheck& check : checks) {
    for (const std::string& problem : check.problems) {
      text += fmt::format("  {} > {}: {}\n", node_name(plan, check.path.from),
                          node_name(plan, check.path.to), problem);
    }
  }
  return text;
}

}  // namespace tw::text
