// SPDX-License-Identifier: Apache-2.0
// What tests of this module share: a vocabulary, an experiment or its problems from text, and files
// of the source tree.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"

#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tw::spec {

inline Vocabulary test_vocabulary() {
  return {.models = {"resnet50", "vgg16", "mobilenetv2", "bert-large", "mlp"},
          .strategies = {"ring", "tree", "binary_tree_star", "ps"},
          .devices = {"a100", "v100"},
          .served = {"ps"}};
}

inline std::vector<Override> overrides_of(const std::vector<std::string>& sets) {
  std::vector<Override> overrides;
  for (const std::string& set : sets) overrides.push_back(parse_override(set));
  return overrides;
}

inline Experiment parsed(std::string_view text, const std::vector<std::string>& sets = {}) {
  return parse(text, "x.toml", test_vocabulary(), overrides_of(sets));
}

/// The message of the SpecError, or "" when there is none.
inline std::string problems(std::string_view text, const std::vector<std::string>& sets = {}) {
  try {
    parsed(text, sets);
    return "";
  } catch (const SpecError& error) {
    return error.what();
  }
}

inline std::string contents(const std::string& path_in_source) {
  std::ifstream file(std::string(TW_SOURCE_DIR) + "/" + path_in_source);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// A little of everything: read, printed and read again by several tests.
inline const std::vector<std::string>& varied_experiments() {
  static const std::vector<std::string> texts{
      "",
      R"(
name = "quotes \" and \u0007 bells"
[network]
hosts = 6
topology = "dumbbell"
left = 2
rate = "1234567891bit"
delay = 0
core_rate = "2.5Gbit"
core_delay = "3ms"
ecn = 30000
[[job]]
model = "VGG-16"
strategy = "ps"
workers = 4
servers = 2
asynchronous = true
verify = false
[[job]]
parameters = "97MB"
hosts = ["host5", "host1"]
ranks = 5
)",
      R"(
[network]
topology = "fattree"
hosts = 16
queue = "1.5bdp"
[[network.link]]
at = "edge0-agg1"
direction = "from_host"
loss = "0.001%"
[[network.link]]
at = "host3"
delay = "100us"
[job]
framework = "kungfu"
model = "resnet50"
batch = 64
epochs = 2.5
dataset = 50000
straggler = "host3"
placement = ["host3", "host3", "host1"]
widths = [784, 10]
compute_time = "180ms"
[[traffic]]
kind = "burst"
from = "host0"
to = "host1"
load = "80%"
[[traffic]]
kind = "file"
from = "host0"
to = "host1"
file = "flows.csv"
[[traffic]]
from = "host2"
to = "host1"
load = "0bit"
[[expect]]
of = "plan"
metric = "jobs.0.step.total_bytes"
equals = 1e20
[[expect]]
of = "run"
metric = "x"
at_least = -1
at_most = 1.5
[sweep]
"job.framework" = ["horovod", "pytorch"]
"job.placement" = [["host3"], ["host3", "host1"]]
"network.rate" = ["1Gbit"]
)",
  };
  return texts;
}

}  // namespace tw::spec
