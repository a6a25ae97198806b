// SPDX-License-Identifier: Apache-2.0
// The keys of every section of an experiment file, in the order in which they are shown.

#pragma once

#include "trainwire/spec/experiment.h"
#include "trainwire/spec/field.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace tw::spec {

constexpr int kMostHosts = 1'000'000;
/// Of one job, and of all jobs together.
constexpr int kMostRanks = 1'000'000;
constexpr std::int64_t kMostSteps = 1'000'000'000'000;

/// Top level.
const std::vector<Field<Experiment>>& experiment_fields();
/// [network], without its [[network.link]].
const std::vector<Field<Network>>& network_fields();
/// [[network.link]].
const std::vector<Field<LinkOverride>>& link_fields();
/// [[job]].
const std::vector<Field<Job>>& job_fields();
/// [[traffic]].
const std::vector<Field<Traffic>>& traffic_fields();
/// Those of the lists above that only simulations obey.
std::vector<Field<Network>> simulated_network_fields();
std::vector<Field<Job>> simulated_job_fields();
/// Keys of a job that trains for real.
std::vector<Field<Job>> learned_job_fields();
std::vector<Field<Traffic>> simulated_traffic_fields();
/// Keys of those that are set to something else than they are by default: "network.paths".
std::vector<std::string> simulated_keys(const Experiment& experiment);
/// [[fault]], which only simulations make.
const std::vector<Field<Fault>>& fault_fields();
const std::vector<Field<Capture>>& capture_fields();
const std::vector<Field<Run>>& run_fields();
/// Commands that judge what an experiment expects of their --json document.
constexpr std::array<std::string_view, 9> kJudgingCommands{
    "plan", "predict", "run", "sim", "exec", "bench", "analyze", "fit", "compare"};
/// [[expect]].
const std::vector<Field<Expectation>>& expectation_fields();

/// Sections, besides the top-level keys; [sweep] has the paths of other keys as its own.
constexpr std::array<std::string_view, 8> kSections{"network", "job",   "traffic", "fault",
                                                    "capture", "sweep", "run",     "expect"};

}  // namespace tw::spec
