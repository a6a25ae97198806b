// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/compare_page.h"

#include "trainwire/base/error.h"
#include "trainwire/text/compare_output.h"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace tw::text {
namespace {

using nlohmann::ordered_json;

bool is_sweep(const std::string& folder) { return std::filesystem::exists(folder + "/points.csv"); }

ordered_json comparison_with(const std::string& baseline, const std::string& other) {
  try {
    const CompareView view{.baseline = baseline,
                           .comparisons = study::compare_folders(study::read_compared(baseline),
                                                                 study::read_compared(other))};
    return compare_document(view).at("comparisons").at(0);
  } catch (const Error& error) {
    return {{"run", other}, {"problem", error.what()}};
  }
}

}  // namespace

ordered_json page_comparisons(std::span<const std::string> folders) {
  ordered_json comparisons = ordered_json::array();
  if (is_sweep(folders.front())) return comparisons;
  for (const std::string& folder : folders.subspan(1)) {
    comparisons.push_back(comparison_with(folders.front(), folder));
  }
  return comparisons;
}

}  // namespace tw::text
