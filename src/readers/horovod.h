// SPDX-License-Identifier: Apache-2.0
// Horovod's timeline, recorded on rank 0: negotiation and exchange of every tensor.
//
// A pid is a tensor; B and E nest. Tensors that were fused share the interval of their activity
// (NCCL_ALLREDUCE and the like) and are one operation, of their bytes together. Waiting is what NEGOTIATE takes, and who
// was ready last stands in its ticks. The file may be cut off anywhere.
//
// Limits: only rank 0's side; arrivals of others are when rank 0 heard of them.

#pragma once

#include "trainwire/capture/byte_source.h"
#include "trainwire/operations/told.h"

namespace tw::readers {

void read_horovod(capture::ByteSource& source, operations::Told& told);

}  // namespace tw::readers
