// SPDX-License-Identifier: Apache-2.0
// What tests of this module share: plans from the text of an experiment.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/spec/parse.h"

#include <string>

namespace tw::network {

inline NetPlan plan_of(const std::string& network) {
  const spec::Vocabulary words{.models = {"resnet50"}, .strategies = {"ring"}, .devices = {"a100"}};
  return make_plan(spec::parse("[network]\n" + network, "x.toml", words, {}));
}

/// "host0>switch>host1".
inline std::string path_text(const NetPlan& plan, int from, int to) {
  const auto name = [&](int node) {
    const auto hosts = static_cast<int>(plan.hosts.size());
    return node < hosts ? plan.hosts[static_cast<std::size_t>(node)].name
                        : plan.switches[static_cast<std::size_t>(node - hosts)];
  };
  std::string text = name(from);
  for (const int port : plan.path(from, to)) {
    text += ">" + name(plan.ports[static_cast<std::size_t>(port)].to);
  }
  return text;
}

}  // namespace tw::network
