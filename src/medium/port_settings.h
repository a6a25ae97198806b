// SPDX-License-Identifier: Apache-2.0
// What an experiment asks of a port beyond its link: what one loss takes away, how early and whom it
// marks or drops, whether switches pause RDMA.

#pragma once

#include "trainwire/netsim/port.h"
#include "trainwire/network/network.h"
#include "trainwire/spec/experiment.h"

#include <vector>

namespace tw::medium {

/// Of every port. Throws SpecError for links without a rate. REQUIRES: the network is of `asked`.
///
/// Marks and early drops spare hosts' own ports, which hold back what they cannot take; RDMA is marked there, and nowhere dropped
/// early.
std::vector<netsim::PortSettings> port_settings(const spec::Network& asked,
                                                const network::Network& network);

}  // namespace tw::medium
