// SPDX-License-Identifier: Apache-2.0
// What a run says of its cross traffic: what was asked for, what came of it, and whether the wire
// agrees.

#pragma once

#include "trainwire/cli/capture_view.h"
#include "trainwire/cli/exec_checks.h"
#include "trainwire/lab/cross_traffic.h"
#include "trainwire/network/plan.h"
#include "trainwire/result/run_folder.h"
#include "trainwire/traffic/outcome.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace tw::cli {

/// How fast gradients went from one host to another while they did.
struct GradientPair {
  std::string from;
  std::string to;
  double rate_bps = 0;  ///< stream bytes over the time in which any were under way
  bool shared = false;  ///< its way has a link that cross traffic takes in the same direction
};

struct TrafficView {
  std::vector<lab::CrossTraffic> entries = {};
  std::vector<std::optional<traffic::Outcome>> outcomes = {};  ///< by entry
  std::vector<GradientPair> gradients = {};

  bool is_empty() const { return entries.empty(); }
};

/// By host names; empty without packets.
std::vector<GradientPair> gradient_pairs(const CaptureResult& result, const network::NetPlan& plan,
                                         const std::vector<lab::CrossTraffic>& entries);

/// At most five lines.
std::string traffic_text(const TrafficView& view);

/// Rates as frames on the link: of the whole, and of each entry with its flows.
nlohmann::ordered_json traffic_document(const TrafficView& view);

/// What the wire shows lies between what was acknowledged and what was sent.
RunCheck traffic_check(const TrafficView& view, const CaptureResult& result);

/// From the sources' files into the table; the files are removed.
void take_flows(const TrafficView& view, result::RunFolder& folder);

}  // namespace tw::cli
