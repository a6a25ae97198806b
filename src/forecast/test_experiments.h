// SPDX-License-Identifier: Apache-2.0
// What tests of this module share.

#pragma once

#include "trainwire/spec/parse.h"
#include "trainwire/workload/vocabulary.h"

#include <string>
#include <vector>

namespace tw::forecast {

inline spec::Experiment parsed(const std::string& text, const std::vector<std::string>& sets = {}) {
  std::vector<spec::Override> overrides;
  for (const std::string& set : sets) overrides.push_back(spec::parse_override(set));
  return spec::parse(text, "x.toml", workload::vocabulary(), overrides);
}

}  // namespace tw::forecast
