// SPDX-License-Identifier: Apache-2.0
// Any bytes are an experiment or a SpecError; an experiment survives being printed and read again.

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"
#include "trainwire/spec/print.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace {

using namespace tw;

/// The values without where they came from: printing makes defaults explicit.
nlohmann::ordered_json values(const spec::Experiment& experiment) {
  nlohmann::ordered_json document = spec::to_json(experiment).flatten();
  for (auto& [path, value] : document.items()) {
    if (path.ends_with("/origin")) value = nullptr;
  }
  return document;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const spec::Vocabulary vocabulary{
      .models = {"resnet50", "vgg16", "mlp", "transformer"},
      .strategies = {"ring", "tree", "binary_tree_star", "ps"},
      .devices = {"a100", "v100"},
      .served = {"ps"},
  };
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  spec::Experiment experiment;
  try {
    experiment = spec::parse(text, "fuzz.toml", vocabulary);
  } catch (const SpecError&) {
    return 0;
  }
  const spec::Experiment again = spec::parse(spec::to_toml(experiment), "printed.toml", vocabulary);
  check(values(again) == values(experiment), "a printed experiment reads back to the same values");
  return 0;
}
