// SPDX-License-Identifier: Apache-2.0
// What sends from a switch's device: rate and queue by a token bucket, and, where the kernel has
// netem, delay and loss in front of it.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/testbed/links.h"

#include <string>

namespace tw::testbed {

/// netem delays what leaves by a device, wherever it came from. Throws SpecError when links from
/// hosts differ in delay, jitter or loss, which only the other engines can do.
void require_netem_can(const network::NetPlan& plan);

/// Packets of the largest size that the delay keeps in flight, twice, and the queue.
std::int64_t packets_in_flight(const network::NetPlan& plan, const network::Port& port,
                               Duration delay);

/// Sets up the device that sends what the port carries.
void set_up_port(Links& links, const network::NetPlan& plan, int port, const std::string& device,
                 spec::Engine engine);

/// More loss on what the port carries, from now on.
void lose_more(Links& links, const network::NetPlan& plan, int port, const std::string& device,
               double loss);

}  // namespace tw::testbed
