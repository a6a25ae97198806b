// SPDX-License-Identifier: Apache-2.0
// One machine of a run, from its joining to its leaving: `trainwire host`.
//
// It proves that it knows the run's token, and so does the run (handshake.h); it says which host it
// is and by which device it reaches the others; then it does what it is told: captures and counts on that device, starts processes and passes on what
// they and the run say to one another, and at the end sends back every file that was written. Who
// started it does not matter.
//
// Its files lie in a folder of its own that goes with it. When the run is gone, or silent for half a
// minute, so are the processes and the folder.
//
// Limits: the token does not go over the network, everything else does as it is, without a cipher.
// Capturing needs root or CAP_NET_RAW on every host.

#pragma once

#include "trainwire/fleet/meeting.h"
#include "trainwire/transport/tcp/hello.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::fleet {

struct HostOptions {
  std::vector<Meeting> meetings;
  transport::tcp::Token token;
  int number = 0;
  std::optional<int> count = {};  ///< hosts, as far as whoever started it says
  std::string interface = {};     ///< of its data; "": that which reaches the run
};

/// Until the run says that it is done. Throws Error.
void run_host(const HostOptions& options);

}  // namespace tw::fleet
