// SPDX-License-Identifier: Apache-2.0
// Two independent counts of the same thing, and whether they agree: what makes a run believable.

#pragma once

#include "trainwire/cli/capture_view.h"
#include "trainwire/lab/conduct.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

struct RunCheck {
  std::string name;
  bool ok = false;
  std::string expected;
  std::string found;
  std::string text;  ///< one sentence
};

std::vector<RunCheck> exec_checks(const lab::ConductOutcome& outcome,
                                  const lab::ConductRequest& request, const CaptureResult& result);
bool all_ok(const std::vector<RunCheck>& checks);

std::string checks_text(const std::vector<RunCheck>& checks);
nlohmann::ordered_json checks_document(const std::vector<RunCheck>& checks);

}  // namespace tw::cli
