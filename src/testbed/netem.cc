// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/netem.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>

namespace tw::testbed {
namespace {

bool leaves_host(const network::NetPlan& plan, const network::Port& port) {
  return port.from < static_cast<int>(plan.hosts.size());
}

/// The first link and this one, at once: every host's first link is the same (require_netem_can).
Netem both_links(const network::NetPlan& plan, const network::Port& port) {
  Netem netem{
      .delay = port.delay, .jitter = port.jitter, .loss = port.loss, .loss_burst = port.loss_burst};
  if (port.to < static_cast<int>(plan.hosts.size())) {
    const network::Port& first = plan.ports.front();
    netem.delay += first.delay;
    const double squares = std::pow(static_cast<double>(port.jitter.count()), 2) +
                           std::pow(static_cast<double>(first.jitter.count()), 2);
    netem.jitter = Duration(static_cast<std::int64_t>(std::sqrt(squares)));
    netem.loss = 1 - (1 - port.loss) * (1 - first.loss);
    netem.loss_burst = std::max(port.loss_burst, first.loss_burst);
  }
  netem.limit = packets_in_flight(plan, port, netem.delay);
  return netem;
}

}  // namespace

void require_netem_can(const network::NetPlan& plan) {
  const network::Port& first = plan.ports.front();
  for (const network::Port& port : plan.ports) {
    if (!leaves_host(plan, port)) continue;
    const bool is_same = port.delay == first.delay && port.jitter == first.jitter &&
                         port.loss == first.loss && port.loss_burst == first.loss_burst;
    if (!is_same) {
      throw SpecError(
          "network.engine: netem needs the same delay and loss on every link from a host; use "
          "engine = \"nfqueue\" or \"tap\"");
    }
  }
}

std::int64_t packets_in_flight(const network::NetPlan& plan, const network::Port& port,
                               Duration delay) {
  const Bytes bytes = (port.rate * delay) * 2 + port.queue;
  return bytes.count() / network::frame_bytes(plan.mtu).count() + 100;
}

void set_up_port(Links& links, const network::NetPlan& plan, int port, const std::string& device,
                 spec::Engine engine) {
  const network::Port& settings = plan.ports[static_cast<std::size_t>(port)];
  const bool lossy = plan.lossy();
  if (lossy) links.set_offload(device, false);
  links.set_largest_segment(device, network::largest_segment(settings.rate));
  links.shape(device, bucket_for(settings, plan.mtu, lossy));
  if (engine == spec::Engine::Netem) links.add_netem(device, both_links(plan, settings));
}

void lose_more(Links& links, const network::NetPlan& plan, int port, const std::string& device,
               double loss) {
  network::Port settings = plan.ports[static_cast<std::size_t>(port)];
  if (leaves_host(plan, settings)) {
    // What the plan asks of a first link is done by the switches; this comes on top of it.
    return links.add_netem(
        device, {.loss = loss, .limit = packets_in_flight(plan, settings, settings.delay)});
  }
  settings.loss = 1 - (1 - settings.loss) * (1 - loss);
  links.add_netem(device, both_links(plan, settings));
}

}  // namespace tw::testbed
