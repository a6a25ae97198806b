// SPDX-License-Identifier: Apache-2.0
// Which settings of two experiments differ.

#pragma once

#include "trainwire/record/value.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::study {

struct SettingDifference {
  std::string key;       ///< as in an experiment file: "job.model", "network.rate"
  std::string baseline;  ///< for people: "1 Gbit/s"; "unset" where there is none
  std::string other;
  bool operator==(const SettingDifference&) const = default;
};

/// Of two resolved experiments as a run folder keeps them. Left out: the experiment's name, and
/// what both derived from other settings. Nothing when either is not there.
std::vector<SettingDifference> differing_settings(const std::optional<record::Value>& baseline,
                                                  const std::optional<record::Value>& other);

}  // namespace tw::study
