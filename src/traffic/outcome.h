// SPDX-License-Identifier: Apache-2.0
// What sources and sinks tell at their end.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/load/outcome.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>

namespace tw::traffic {

using load::CompletionClass;
using load::Outcome;

nlohmann::json to_json(const Outcome& outcome);
/// Throws DataError when it is none.
Outcome outcome_from(const nlohmann::json& document);

/// What a sink took.
struct SinkCounts {
  Bytes received = {};           ///< payload over TCP
  std::int64_t flows = 0;        ///< complete
  std::int64_t connections = 0;  ///< accepted
  std::int64_t refused = 0;      ///< closed for a wrong token or for want of room
  std::int64_t datagrams = 0;
  Bytes datagram_bytes = {};
  bool operator==(const SinkCounts&) const = default;
};

nlohmann::json to_json(const SinkCounts& counts);
SinkCounts counts_from(const nlohmann::json& document);

}  // namespace tw::traffic
