// SPDX-License-Identifier: Apache-2.0
// A trace of torch.profiler (Kineto's chrome JSON) of one rank: its collectives, steps, and when its device
// computed.
//
// Collectives are the kernels of NCCL and RCCL, with the fields that PyTorch adds to them or to their
// record_param_comms, else with those of their nccl:* annotation (found by External id); without any kernel,
// what gloo:* annotations tell. Steps are ProfilerStep#N. PyTorch that was built without Kineto (Debian's) writes the
// trace of the older profiler, whose times count from the start of its recording: they are of clock Process, and what
// the processor computed stands for the device.
//
// Limits: the protocol in a kernel's name is not the one that ran, so it is not taken. A collective whose
// kernel the trace does not have (another stream, a CUDA graph without fields) has no size. Memory grows with
// collectives, steps, and stretches of computing, not with the file.

#pragma once

#include "trainwire/capture/byte_source.h"
#include "trainwire/operations/told.h"

namespace tw::readers {

/// Fills what is told; `records` counts collectives. REQUIRES: told.kind is set.
void read_kineto(capture::ByteSource& source, operations::Told& told);

}  // namespace tw::readers
