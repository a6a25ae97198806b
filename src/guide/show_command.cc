// SPDX-License-Identifier: Apache-2.0
#include "trainwire/command/experiment_file.h"
#include "trainwire/guide/commands.h"
#include "trainwire/predict/plan.h"
#include "trainwire/spec/print.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tw::guide {
namespace {

/// What follows from the jobs' models: known to the modules above the experiment only.
std::string derived_text(const spec::Experiment& experiment) {
  std::string text;
  for (const spec::Job& job : experiment.jobs) {
    const predict::JobPlan plan = predict::plan(experiment, job);
    text += fmt::format(
        "# derived: {}: model {} ({}), {} trainable parameters, {} of gradients in {} bucket{}\n",
        plan.name, plan.model, plan.model_source, grouped(plan.trainable),
        readable(plan.gradient_bytes), plan.step.buckets, plan.step.buckets == 1 ? "" : "s");
    text += fmt::format("# derived: {}: compute {} a step ({})\n", plan.name,
                        readable(plan.compute.total()), plan.compute.source);
  }
  return text;
}

nlohmann::ordered_json document_of(const spec::Experiment& experiment) {
  nlohmann::ordered_json document{
      {"schema", 1}, {"command", "show"}, {"experiment", spec::to_json(experiment)}};
  nlohmann::ordered_json& derived = document["derived"] = nlohmann::ordered_json::array();
  for (const spec::Job& job : experiment.jobs) {
    const predict::JobPlan plan = predict::plan(experiment, job);
    derived.push_back({{"job", plan.name},
                       {"model", plan.model},
                       {"trainable_parameters", plan.trainable},
                       {"gradient_bytes", plan.gradient_bytes.count()},
                       {"buckets", plan.step.buckets},
                       {"compute_s", seconds(plan.compute.total())},
                       {"compute_source", plan.compute.source}});
  }
  return document;
}

}  // namespace

command::Body declare_show(command::CommandLine& app) {
  const auto file = command::add_experiment_file(app);
  const auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one JSON document");
  return [file, json](command::Streams streams) {
    const spec::Experiment experiment = command::load(*file);
    if (*json) {
      fmt::print(streams.out, "{}\n", document_of(experiment).dump(2));
    } else {
      fmt::print(streams.out, "{}\n{}", spec::to_toml(experiment), derived_text(experiment));
    }
    return 0;
  };
}

}  // namespace tw::guide
