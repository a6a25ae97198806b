// SPDX-License-Identifier: Apache-2.0
// What all carriers of a run counted, put together: bytes from host to host.

#pragma once

#include "trainwire/carrier/assignment.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>

namespace tw::carrier {

/// By the addresses of sender and receiver.
using StreamBytes = std::map<std::pair<std::string, std::string>, std::int64_t>;

/// Each direction of each connection once: as its sender counted it, or, where the sender was no
/// carrier (a launcher's daemon), as its receiver did.
StreamBytes stream_bytes(std::span<const TcpCount> counts);

}  // namespace tw::carrier
