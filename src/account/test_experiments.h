// SPDX-License-Identifier: Apache-2.0
// Experiments of tests, resolved.

#pragma once

#include "trainwire/collective/strategies.h"
#include "trainwire/spec/parse.h"

#include <string>

namespace tw::account {

inline spec::Experiment parsed(const std::string& text) {
  spec::Vocabulary words{
      .models = {"resnet50"}, .strategies = {}, .devices = {"a100"}, .served = {"ps"}};
  for (const collective::Strategy& strategy : collective::catalogue()) {
    words.strategies.push_back(strategy.name);
  }
  return spec::parse(text, "x.toml", words, {});
}

}  // namespace tw::account
