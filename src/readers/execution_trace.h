// SPDX-License-Identifier: Apache-2.0
// What a rank was asked to do, without times to trust: PyTorch's execution trace (ExecutionTraceObserver, JSON), and Chakra's
// (.et).
//
// Of PyTorch's, nodes record_param_comms are operations. Of Chakra's, collectives, sends and receives with a size; a
// converted trace has host-side shadows of each collective without one, which are counted as skipped.
//
// Limits: bytes of Chakra's all-gather and reduce-scatter are what the file says, whichever side that is.

#pragma once

#include "trainwire/capture/byte_source.h"
#include "trainwire/operations/told.h"

#include <string_view>

namespace tw::readers {

void read_execution_trace(capture::ByteSource& source, operations::Told& told);
void read_chakra(std::string_view bytes, operations::Told& told);

}  // namespace tw::readers
