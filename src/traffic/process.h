// SPDX-License-Identifier: Apache-2.0
// One traffic process of a run, from its first message to its last (transport/control.h):
//
//   sink    <- task    -> {"port": N}
//           <- {"stop": true}    -> {"done": true, ...SinkCounts}
//   source  <- task    <- {"to": {"address", "port"}}    -> {"ready": true}
//           <- {"start": true}
//           plays for its duration, or until   <- {"stop": true}
//           -> {"done": true, "outcome": Outcome}    <- {"leave": true}, or the end of the channel
//
// When something fails: -> {"failed": "why"}.

#pragma once

#include "trainwire/os/file_descriptor.h"

namespace tw::traffic {

/// Returns the exit code: 0 when its work is done, 1 when it told why not. Never throws.
int run_traffic(os::FileDescriptor control);

}  // namespace tw::traffic
