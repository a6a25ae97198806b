// SPDX-License-Identifier: Apache-2.0
// What the loss of whole trains of segments is to a stream that is a fluid: bursts as long as its
// trains are in the mean.
//
// A sender hands its line a millisecond of its rate at once, between two segments and what the device
// takes, and no more than half of its window (netsim/sender.h). Its window is what the rarer losses
// leave it, so the two are found together.
//
// Limits: a mean over a long transfer; the trains of a window that is still growing are not those.

#pragma once

#include "trainwire/fluid/tcp_stream.h"

namespace tw::medium {

/// Segments; at least 1. REQUIRES: path.loss > 0.
double mean_train(const fluid::TcpPath& path, double largest_train);

}  // namespace tw::medium
