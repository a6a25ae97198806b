// SPDX-License-Identifier: Apache-2.0
// What a run prints at its end: at most 30 lines.

#pragma once

#include "trainwire/cli/capture_view.h"
#include "trainwire/cli/exec_checks.h"
#include "trainwire/cli/expect.h"
#include "trainwire/cli/run_steps.h"
#include "trainwire/cli/run_traffic.h"
#include "trainwire/lab/training.h"
#include "trainwire/network/plan.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// How full the fullest direction of a link was while steps were counted.
struct Utilisation {
  std::string link;
  bool from_host = true;
  double share = 0;
  double rate_bps = 0;
};

/// A run as it is shown.
struct RunView {
  std::string name;
  std::string place;  ///< "engine nfqueue", "loopback: ..."
  std::vector<lab::TrainingJob> jobs = {};
  std::vector<StepFigures> figures = {};      ///< by job
  std::vector<std::int64_t> sent_bytes = {};  ///< by job: by all ranks in all steps
  std::optional<Utilisation> busiest = {};
  TrafficView traffic = {};
  std::vector<RunCheck> checks = {};
  std::vector<Judged> expectations = {};  ///< none when it was interrupted or failed
};

/// From the counters that were sampled meanwhile.
std::optional<Utilisation> busiest_link(const lab::ConductOutcome& outcome,
                                        const network::NetPlan& plan, std::int64_t begin_ns,
                                        std::int64_t end_ns);

std::string run_text(const RunView& view, const CaptureResult& result, const std::string& folder);

/// "jobs" and "utilisation" of the document.
nlohmann::ordered_json jobs_document(const RunView& view);

}  // namespace tw::cli
