// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/broken_links.h"

#include <algorithm>
#include <cmath>

namespace tw::network {

std::string_view word_of(spec::FaultKind kind) {
  switch (kind) {
    case spec::FaultKind::Kill:
      return "kill";
    case spec::FaultKind::Stop:
      return "stop";
    case spec::FaultKind::LinkDown:
      return "link-down";
    case spec::FaultKind::LinkFlap:
      return "link-flap";
    case spec::FaultKind::Slow:
      return "slow";
    case spec::FaultKind::Loss:
      return "loss";
  }
  return "";
}

std::vector<int> ports_of(const NetPlan& plan, const spec::Fault& fault) {
  std::vector<int> ports;
  for (std::size_t i = 0; i < plan.ports.size(); ++i) {
    const Port& port = plan.ports[i];
    const bool both = !fault.direction->has_value();
    if (port.link == *fault.link && (both || **fault.direction == port.direction)) {
      ports.push_back(static_cast<int>(i));
    }
  }
  return ports;
}

PortChange change_of(int port, BitRate usual, std::span<const LinkFault> faults) {
  PortChange change;
  double passes = 1;
  const auto at_most = [&](BitRate rate) {
    change.rate = std::min(change.rate.value_or(usual), rate);
  };
  for (const LinkFault& fault : faults) {
    const spec::Fault& of = *fault.fault;
    if (std::ranges::find(fault.ports, port) == fault.ports.end()) continue;
    change.is_down = change.is_down || *of.kind == spec::FaultKind::LinkDown || fault.is_down;
    if (*of.rate) at_most(**of.rate);
    if (*of.factor) at_most(usual * **of.factor);
    passes *= 1 - *of.loss;
  }
  change.loss = change.is_down ? 1 : 1 - passes;
  return change;
}

Duration until_flap(const spec::Fault& fault, bool is_down) {
  const std::int64_t period = fault.period->count();
  const std::int64_t down = std::llround(static_cast<double>(period) * *fault.duty);
  return Duration(is_down ? down : period - down);
}

}  // namespace tw::network
