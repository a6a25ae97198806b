// SPDX-License-Identifier: Apache-2.0
// A cluster too fast for this machine, made small enough: run.scale applied, once.
//
// Rates, queues, marks and loads are divided by run.scale and times are kept, so a step takes as
// long as at full size. What an experiment only names (a model, a distribution of flow sizes) keeps
// its name and gets a `payload_divisor` instead, for those who look the name up. In the result
// run.scale is 1: scaling it again changes nothing, and whoever builds or counts from it needs to
// know nothing of scales.
//
// run.slow_motion is the other way to fit a cluster into a machine: rates are divided by it and all
// times multiplied, while sizes, queues in bytes and loss stay as they are. In packets nothing
// changes, so it is right where loss, queues or short delays matter, and it takes that many times
// as long. TCP's own timers (200 ms and more) are not slowed down.
//
// Applied where an experiment is about to be run, before the network's plan, the ranks' tasks and
// the cross traffic are made; records, plans and predictions speak of the experiment as it was.
//
// Limits: packets and their headers stay as large as they are, so a packet takes longer on the
// line; socket buffers are kept as given. network/scale_doubts.h says where that misleads.

#pragma once

#include "trainwire/spec/experiment.h"

namespace tw::spec {

/// REQUIRES: the experiment is resolved.
Experiment scaled(Experiment experiment);

}  // namespace tw::spec
