// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/shapes.h"

#include "trainwire/base/error.h"
#include "trainwire/testbed/netem.h"
#include "trainwire/testbed/shaping.h"

namespace tw::lab {
namespace {

fleet::Shape shape_of(const network::NetPlan& plan, const network::Port& port) {
  const testbed::Bucket bucket = testbed::bucket_for(port, plan.mtu, plan.lossy());
  return {.rate_bps = bucket.rate.bits_per_second(),
          .burst_bytes = bucket.burst.count(),
          .limit_bytes = bucket.limit.count(),
          .delay_ns = port.delay.count(),
          .jitter_ns = port.jitter.count(),
          .loss = port.loss,
          .loss_burst = port.loss_burst,
          .packets = testbed::packets_in_flight(plan, port, port.delay)};
}

}  // namespace

std::vector<fleet::DeviceShape> shapes_of(const network::NetPlan& plan) {
  if (plan.switches.size() > 1) {
    throw SpecError(
        "--shape: machines shape what they send and receive, not links between switches; take "
        "network.topology = \"star\", or leave --shape out");
  }
  std::vector<fleet::DeviceShape> shapes(plan.hosts.size());
  for (const network::Port& port : plan.ports) {
    const bool leaves = port.from < static_cast<int>(plan.hosts.size());
    const auto host = static_cast<std::size_t>(leaves ? port.from : port.to);
    (leaves ? shapes[host].out : shapes[host].in) = shape_of(plan, port);
  }
  return shapes;
}

}  // namespace tw::lab
