// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/commands.h"
#include "trainwire/cli/expect.h"
#include "trainwire/cli/experiment_file.h"
#include "trainwire/cli/plan_document.h"
#include "trainwire/cli/plan_transfers.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace tw::cli {
namespace {

int print_plan(const spec::Experiment& experiment, const std::string& path, bool json,
               Streams streams) {
  std::vector<predict::JobPlan> plans;
  for (const spec::Job& job : experiment.jobs) plans.push_back(predict::plan(experiment, job));
  nlohmann::ordered_json document = plan_document(experiment, plans);
  const std::vector<Judged> judged = judge_all(experiment.expectations, "plan", document);
  if (json) {
    fmt::print(streams.out, "{}\n", document.dump(2));
  } else {
    fmt::print(streams.out,
               "{}{}\nnext: trainwire plan {} --json for every pair, trainwire show {} for every "
               "setting\n",
               plan_text(experiment, plans), expectations_text(judged), path, path);
  }
  streams.out.flush();
  return expectations_code(judged, streams.err);
}

}  // namespace

Body declare_plan(CommandLine& app) {
  const auto file = add_experiment_file(app);
  const auto json = std::make_shared<bool>(false);
  const auto transfers = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one JSON document, with every host pair");
  app.add_flag("--transfers", *transfers,
               "print every transfer of every step instead, as CSV: who sends what to whom, in "
               "virtual time on links that nobody shares");
  return [=](Streams streams) {
    if (!*transfers) return print_plan(load(*file), file->path, *json, streams);
    print_transfers(load(*file), streams.out);
    return 0;
  };
}

}  // namespace tw::cli
