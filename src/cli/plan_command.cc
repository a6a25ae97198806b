// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/commands.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/foreign/chakra_job.h"
#include "trainwire/text/plan_document.h"
#include "trainwire/text/plan_transfers.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

namespace tw::cli {
namespace {

int print_plan(const spec::Experiment& experiment, const std::string& path, bool json,
               command::Streams streams) {
  std::vector<predict::JobPlan> plans;
  for (const spec::Job& job : experiment.jobs) plans.push_back(predict::plan(experiment, job));
  nlohmann::ordered_json document = text::plan_document(experiment, plans);
  const std::vector<command::Judged> judged =
      command::judge_all(experiment.expectations, "plan", document);
  if (json) {
    fmt::print(streams.out, "{}\n", document.dump(2));
  } else {
    fmt::print(streams.out,
               "{}{}\nnext: trainwire plan {} --json for every pair, trainwire show {} for every "
               "setting\n",
               text::plan_text(experiment, plans), command::expectations_text(judged), path, path);
  }
  streams.out.flush();
  return command::expectations_code(judged, streams.err);
}

}  // namespace

command::Body declare_plan(command::CommandLine& app) {
  const auto file = command::add_experiment_file(app);
  const auto json = std::make_shared<bool>(false);
  const auto transfers = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "print one JSON document, with every host pair");
  app.add_flag("--transfers", *transfers,
               "print every transfer of every step instead, as CSV: who sends what to whom, in "
               "virtual time on links that nobody shares");
  const auto chakra = std::make_shared<std::string>();
  app.add_option("--chakra", *chakra,
                 "write the jobs as Chakra traces for ASTRA-sim into a new folder instead, two "
                 "steps of each rank, with a network and a system")
      .type_name("DIR");
  return [=](command::Streams streams) {
    if (!chakra->empty()) {
      constexpr int kSteps = 2;
      fmt::print(streams.out, "{}", foreign::write_chakra(command::load(*file), *chakra, kSteps));
      return 0;
    }
    if (!*transfers) return print_plan(command::load(*file), file->path, *json, streams);
    text::print_transfers(command::load(*file), streams.out);
    return 0;
  };
}

}  // namespace tw::cli
