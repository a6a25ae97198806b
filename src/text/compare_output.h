// SPDX-License-Identifier: Apache-2.0
// Comparisons as text of at most 30 lines and as one JSON document.

#pragma once

#include "trainwire/study/comparison.h"
#include "trainwire/study/limit.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::text {

/// A row that --fail-if failed.
struct FailedRow {
  std::string path;
  std::vector<std::string> settings;
  std::string title;
  std::string text;
};

/// Why a run's figures are not to be relied on.
struct Doubt {
  std::string path;
  std::string text;
};

struct CompareView {
  std::string baseline;  ///< path
  std::vector<study::Comparison> comparisons;
  std::optional<study::Limit> limit = {};
  std::vector<FailedRow> failed = {};
  std::vector<Doubt> doubts = {};
};

/// One comparison in full; of several the first row of each.
std::string compare_text(const CompareView& view);

nlohmann::ordered_json compare_document(const CompareView& view);

}  // namespace tw::text
