// SPDX-License-Identifier: Apache-2.0
// PyTorch's flight recorder as JSON (_dump_nccl_trace_json, _dump_fr_trace_json), of one rank: the last
// collectives of every group, and how far each came.
//
// Its started and completed times are when a watchdog looked, every 100 ms: they are not used as times of the
// operation. What is used is when the program asked (time_created_ns) and the state.
//
// Limits: the dump does not say whose it is; the caller tells the rank from the file's name. Dumps of torch
// are pickle, which is never opened here.

#pragma once

#include "trainwire/capture/byte_source.h"
#include "trainwire/operations/told.h"

namespace tw::readers {

void read_flight_recorder(capture::ByteSource& source, operations::Told& told);

}  // namespace tw::readers
