// SPDX-License-Identifier: Apache-2.0
// Fits a run folder, changes settings of the fitted experiment and prints as JSON what a step would
// take then: like_step FOLDER [--change KEY=VALUE[;KEY=VALUE...]]... What bench/like compares with runs.

#include "trainwire/base/error.h"
#include "trainwire/like/like.h"
#include "trainwire/record/run_file.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/spec/parse.h"
#include "trainwire/spec/print.h"
#include "trainwire/workload/vocabulary.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace {

using Json = nlohmann::ordered_json;

tw::spec::Experiment changed(const tw::like::Fitted& fitted, const std::string& changes) {
  std::vector<tw::spec::Override> overrides;
  std::istringstream words(changes);
  for (std::string word; std::getline(words, word, ';');) {
    overrides.push_back(tw::spec::parse_override(word));
  }
  return tw::spec::parse(tw::spec::to_toml(fitted.experiment), "fitted", tw::workload::vocabulary(),
                         overrides);
}

Json predicted(const tw::like::Fitted& fitted, const std::string& changes) {
  const tw::spec::Experiment experiment = changed(fitted, changes);
  const tw::record::Run run = tw::sim::described(
      experiment, tw::sim::simulate(experiment, fitted.level), tw::sim::Telling::Summary);
  Json steps = Json::array();
  for (std::size_t job = 0; job < fitted.jobs.size(); ++job) {
    const double simulated = run.jobs.at(job).step->median_s;
    const double compute = tw::like::compute_s(experiment, job);
    steps.push_back({{"simulated_s", simulated},
                     {"compute_s", compute},
                     {"step_s", tw::like::step_s(fitted.jobs[job],
                                                 {.step_s = simulated, .compute_s = compute})}});
  }
  return {{"change", changes}, {"jobs", steps}};
}

Json document(const tw::like::Fitted& fitted, const std::vector<std::string>& changes) {
  Json constants = Json::array();
  for (const tw::like::Constant& one : fitted.constants) {
    constants.push_back({{"name", one.name},
                         {"value", one.value},
                         {"low", one.low},
                         {"high", one.high},
                         {"unit", one.unit},
                         {"from", one.from}});
  }
  Json predictions = Json::array();
  for (const std::string& change : changes) predictions.push_back(predicted(fitted, change));
  return {{"constants", constants}, {"cannot", fitted.cannot}, {"predictions", predictions}};
}

}  // namespace

int main(int argc, char** argv) {
  std::string folder;
  std::vector<std::string> changes;
  bool anyway = false;
  bool packets = false;
  CLI::App app("Predicts steps like those of a run");
  app.add_option("FOLDER", folder)->required();
  app.add_option("--change", changes);
  app.add_flag("--anyway", anyway, "also where checks of the run failed");
  app.add_flag("--packets", packets, "simulates packet by packet, not flow by flow");
  CLI11_PARSE(app, argc, argv);
  try {
    const tw::record::RunFile file = tw::record::read_run(folder);
    const auto fitted =
        tw::like::fit(file.summary, folder,
                      {.level = packets ? tw::sim::Level::Packet : tw::sim::Level::Flow,
                       .in_spite_of_checks = anyway});
    fmt::print("{}\n", document(fitted, changes).dump(2));
  } catch (const tw::Error& error) {
    fmt::print(stderr, "like_step: {}\n", error.what());
    return 1;
  }
  return 0;
}
