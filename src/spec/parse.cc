// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/parse.h"

#include "trainwire/keys/problem.h"
#include "trainwire/keys/tree.h"
#include "trainwire/spec/override.h"
#include "trainwire/spec/read.h"
#include "trainwire/spec/resolve.h"

#include <fmt/format.h>

namespace tw::spec {
namespace {

void apply_overrides(keys::Table& root, std::span<const Override> overrides,
                     std::vector<keys::Problem>& problems) {
  for (std::size_t i = 0; i < overrides.size(); ++i) {
    const keys::Place place{.set = static_cast<int>(i)};
    const std::optional<keys::Node> value = keys::read_value(overrides[i].value, place);
    std::string problem =
        value ? set_value(root, overrides[i].key, *value) : "the value is not text in UTF-8";
    if (!problem.empty()) problems.push_back({place, overrides[i].key, std::move(problem)});
    // What was set may itself be a single section.
    list_repeated_sections(root);
  }
}

std::vector<std::string> as_written(std::span<const Override> overrides) {
  std::vector<std::string> texts;
  for (const Override& o : overrides) texts.push_back(fmt::format("{}={}", o.key, o.value));
  return texts;
}

}  // namespace

Experiment parse(std::string_view text, std::string_view file, const Vocabulary& vocabulary,
                 std::span<const Override> overrides) {
  keys::Table root = keys::read_tree(text, file);
  list_repeated_sections(root);
  std::vector<keys::Problem> problems;
  apply_overrides(root, overrides, problems);
  Experiment experiment = read_experiment(root, vocabulary, problems);
  experiment.sweep = read_sweep(root, vocabulary, problems);
  if (!problems.empty()) throw SpecError(keys::message(problems, file, as_written(overrides)));
  for (Job& job : experiment.jobs) fill_lists(job, experiment.network);
  return experiment;
}

}  // namespace tw::spec
