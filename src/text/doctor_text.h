// SPDX-License-Identifier: Apache-2.0
// What a machine can emulate, for people and as a document: what works, what that means for
// results, and how to get the rest.

#pragma once

#include "trainwire/testbed/features.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>

namespace tw::text {

/// Whether there is any engine that networks can be emulated with.
bool can_emulate(const testbed::Features& features);

/// Sum of all busy links up to which the network, not the processors, is the limit (measured:
/// docs/emulation.md). `whole_packets`: on an engine that cannot lose packets out of super-packets.
BitRate network_bound_rate(const testbed::Features& features, bool whole_packets);

/// At most 30 lines. `beside` are lines on what else there is, where networks can be emulated.
std::string doctor_text(const testbed::Features& features, const std::string& beside = "");
nlohmann::ordered_json doctor_document(const testbed::Features& features);

}  // namespace tw::text
