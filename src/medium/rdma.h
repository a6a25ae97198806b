// SPDX-License-Identifier: Apache-2.0
// How the cards of an experiment's hosts send over RDMA (rdma/options.h): RoCE v2 in the
// largest packets that fit into the network's; repetition and control of the rate as a job says.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/medium/medium.h"
#include "trainwire/rdma/options.h"
#include "trainwire/spec/experiment.h"

namespace tw::medium {

/// Of a connection from a host whose own link has this rate.
rdma::Options rdma_options(const spec::Network& network, const Sending& sending, BitRate line);

/// Payload in a long message's bytes as rates count them.
double rdma_share(const spec::Network& network);

/// How a job's connections send. What other transports move is moved over TCP.
Manner manner_of(const spec::Job& job);

}  // namespace tw::medium
