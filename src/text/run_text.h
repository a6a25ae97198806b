// SPDX-License-Identifier: Apache-2.0
// What a run prints at its end: at most 30 lines.

#pragma once

#include "trainwire/record/run.h"

#include <string>
#include <string_view>
#include <vector>

namespace tw::text {

/// `name` is the experiment's, or its file's; `about` stands below it.
std::string run_text(const record::Run& run, const std::string& name, const std::string& folder,
                     std::string_view about = "");

/// "engine nfqueue", how it was simulated, or what loopback means.
std::string place_text(const std::string& engine);

/// What ranks of somebody's programs marked of their steps: a line for each job; "" for none.
std::string marked_text(const record::Run& run);

/// A line for each of the first, and how many more there are.
std::string faults_text(const std::vector<record::Fault>& faults);

/// At most five lines.
std::string traffic_text(const record::CrossTraffic& traffic);

std::string checks_text(const std::vector<record::Check>& checks);

/// The points of a sweep, a line each; of very many the first, and those that have a problem.
std::string points_text(const record::Run& sweep, const std::string& folder);

}  // namespace tw::text
