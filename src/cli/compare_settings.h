// SPDX-License-Identifier: Apache-2.0
// Which settings of two experiments differ.

#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace tw::cli {

struct SettingDifference {
  std::string key;       ///< as in an experiment file: "job.model", "network.rate"
  std::string baseline;  ///< for people: "1 Gbit/s"; "unset" where there is none
  std::string other;
  bool operator==(const SettingDifference&) const = default;
};

/// Of two resolved experiments as a run folder keeps them. Left out: the experiment's name, and
/// what both derived from other settings. Nothing when either is null.
std::vector<SettingDifference> differing_settings(const nlohmann::ordered_json& baseline,
                                                  const nlohmann::ordered_json& other);

}  // namespace tw::cli
