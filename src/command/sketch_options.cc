// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/sketch_options.h"

#include "trainwire/sketch/flag.h"
#include "trainwire/workload/vocabulary.h"

#include <fmt/format.h>

namespace tw::command {
namespace {

/// Somebody's program has no model, and steps of its own.
bool means_something(const sketch::Flag& flag, sketch::For purpose) {
  return purpose == sketch::For::Training || flag.section != "[[job]]" || flag.key == "ranks";
}

std::vector<std::string> texts(const std::vector<std::string_view>& names) {
  return {names.begin(), names.end()};
}

/// Values that the key takes, where they have names.
std::vector<std::string> values_of(const sketch::Flag& flag) {
  if (flag.key == "model") return texts(workload::vocabulary().models);
  if (flag.key == "strategy") return texts(workload::vocabulary().strategies);
  return sketch::words_of(flag.section, flag.key);
}

std::string usual_of(const sketch::Flag& flag) {
  if (flag.key == "model") return std::string(sketch::kUsualModel);
  return sketch::usual_in_words(flag.section, flag.key);
}

}  // namespace

std::shared_ptr<sketch::Sketch> add_sketch(CommandLine& app, sketch::For purpose) {
  auto flags = std::make_shared<sketch::Sketch>();
  for (const sketch::Flag& flag : sketch::flags()) {
    if (!means_something(flag, purpose)) continue;
    app.add_option(
           std::string(flag.option), flags->values[std::string(flag.option)],
           fmt::format("{}; default: {}", sketch::meaning(flag.section, flag.key), usual_of(flag)))
        .type_name(std::string(flag.word))
        .suggests(values_of(flag));
  }
  app.add_option("--link", flags->links,
                 "a link that differs, e.g. host1:to:120Mbit or core:1Gbit,loss=1%; repeatable")
      .type_name(std::string(sketch::kLinkForm))
      .repeatable();
  app.add_option("--traffic", flags->traffic,
                 "cross traffic, e.g. host2:host0:0.8:websearch; repeatable")
      .type_name(std::string(sketch::kTrafficForm))
      .repeatable();
  return flags;
}

sketch::Sketch given(const sketch::Sketch& flags) {
  sketch::Sketch given = flags;
  std::erase_if(given.values, [](const auto& flag) { return flag.second.empty(); });
  return given;
}

ExperimentFile file_of(const sketch::Sketch& given, sketch::For purpose,
                       std::vector<std::string> overrides) {
  return {.path = "the flags",
          .overrides = std::move(overrides),
          .text = sketch::written(given, purpose)};
}

}  // namespace tw::command
