// SPDX-License-Identifier: Apache-2.0
// What a run prints at its end: at most 30 lines.

#pragma once

#include "trainwire/record/run.h"

#include <string>
#include <vector>

namespace tw::text {

/// `name` is the experiment's, or its file's.
std::string run_text(const record::Run& run, const std::string& name, const std::string& folder);

/// "engine nfqueue", or what loopback means.
std::string place_text(const std::string& engine);

/// At most five lines.
std::string traffic_text(const record::CrossTraffic& traffic);

std::string checks_text(const std::vector<record::Check>& checks);

/// The points of a sweep, a line each.
std::string points_text(const std::vector<record::Point>& points, const std::string& folder);

}  // namespace tw::text
