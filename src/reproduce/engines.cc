// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/command/hosts_file.h"
#include "trainwire/command/run_options.h"
#include "trainwire/command/run_status.h"
#include "trainwire/forecast/forecast.h"
#include "trainwire/guide/predict_document.h"
#include "trainwire/lab/measure.h"
#include "trainwire/predict/plan.h"
#include "trainwire/record/json.h"
#include "trainwire/reproduce/analysed.h"
#include "trainwire/reproduce/answers.h"
#include "trainwire/sim/describe.h"
#include "trainwire/sim/simulate.h"
#include "trainwire/sweep/sweep.h"
#include "trainwire/text/plan_document.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

namespace tw::reproduce {
namespace {

constexpr int kMostRuns = 3;

command::ExperimentFile file_of(const Question& question) {
  command::ExperimentFile file{
      .path = question.experiment, .overrides = question.settings, .content = question.content};
  file.overrides.emplace_back("sweep={}");  // artefacts vary settings themselves
  return file;
}

/// In the cluster's own sizes and times.
spec::Experiment at_full_size(const command::ExperimentFile& file) {
  spec::Experiment experiment = command::load(file);
  if (experiment.jobs.empty()) throw SpecError(fmt::format("{}: no jobs", file.path));
  experiment.run.scale.value = 1;
  experiment.run.slow_motion.value = 1;
  return experiment;
}

nlohmann::ordered_json planned(const spec::Experiment& experiment) {
  std::vector<predict::JobPlan> plans;
  for (const spec::Job& job : experiment.jobs) plans.push_back(predict::plan(experiment, job));
  return text::plan_document(experiment, plans);
}

nlohmann::ordered_json predicted(const command::ExperimentFile& file) {
  const spec::Experiment experiment = at_full_size(file);
  const forecast::Variants variants = [&](const std::vector<std::string>& settings) {
    command::ExperimentFile changed = file;
    changed.overrides.insert(changed.overrides.end(), settings.begin(), settings.end());
    return at_full_size(changed);
  };
  guide::Predicted made{.name = *experiment.name, .source = file.path};
  made.jobs = forecast::forecasts(experiment, variants, {}, 0, forecast::Telling::Brief);
  return guide::predict_document(made);
}

nlohmann::ordered_json simulated(const spec::Experiment& experiment, sim::Level level,
                                 const std::function<bool()>& goes_on) {
  const sim::Simulated found = sim::simulate(
      experiment, level, {.goes_on = [&](Duration) { return !goes_on || goes_on(); }});
  return record::to_json(sim::described(experiment, found));
}

nlohmann::ordered_json document_of(const Question& question, const std::function<bool()>& goes_on) {
  if (question.engine == Engine::Analyze && !question.experiment.ends_with(".toml")) {
    return analysed(question.experiment);
  }
  const command::ExperimentFile file = file_of(question);
  switch (question.engine) {
    case Engine::Plan:
      return planned(command::load(file));
    case Engine::Predict:
      return predicted(file);
    case Engine::Flow:
      return simulated(at_full_size(file), sim::Level::Flow, goes_on);
    case Engine::Analyze:
      return analysed(command::load(file), goes_on);
    default:
      return simulated(at_full_size(file), sim::Level::Packet, goes_on);
  }
}

/// The same for the same question and the same file: FNV-1a (Fowler, Noll, Vo).
std::string number_of(const Question& question) {
  std::uint64_t hash = 14695981039346656037u;
  const std::string text = question.key() + "\n" + command::read_whole(question.experiment);
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  }
  return fmt::format("{:016x}", hash);
}

/// What an earlier start has measured.
nlohmann::ordered_json kept(const std::string& path) {
  std::ifstream in(path);
  if (!in) return {};
  nlohmann::ordered_json document = nlohmann::ordered_json::parse(in, nullptr, false);
  return document.is_discarded() ? nlohmann::ordered_json() : document;
}

void keep(const std::string& path, const nlohmann::ordered_json& document) {
  std::ofstream out(path + ".new");
  out << record::dumped(document) << '\n';
  out.close();
  std::error_code failed;
  if (out) std::filesystem::rename(path + ".new", path, failed);
  if (!out || failed) throw SystemError(fmt::format("writing {}: is the disk full?", path));
}

Answer measured_anew(const Question& question, const std::string& path, command::Streams streams) {
  const command::ExperimentFile file = file_of(question);
  const spec::Experiment experiment = command::load(file);
  command::refuse_simulated(experiment, "reproduce");
  const lab::RunPlace place{.checks_network = false};
  lab::require_runnable(experiment, place);
  Answer found;
  for (int i = 0; i < kMostRuns; ++i) {
    record::RunFolder folder(path + ".run", command::provenance_of("reproduce", file, streams),
                             result::IfThere::Replace);
    command::RunStatus status(streams, false);
    const lab::Measured measured = lab::measure(experiment, place, folder, status.observer());
    if (measured.interrupted) return {.failure = "interrupted", .interrupted = true};
    found.document = record::to_json(measured.run);
    found.failure =
        measured.failure ? *measured.failure : sweep::problem_of(measured.run).value_or("");
    if (found.failure.empty()) break;
  }
  if (found.failure.empty()) keep(path + ".json", found.document);
  return found;
}

}  // namespace

Answer answer(const Question& question, const std::function<bool()>& goes_on) {
  try {
    return {.document = document_of(question, goes_on)};
  } catch (const SpecError& error) {
    return {.failure = error.what(), .asked_wrongly = true};
  } catch (const Error& error) {
    return {.failure = error.what()};
  }
}

Answer measure(const Question& question, const std::string& folder, command::Streams streams) {
  try {
    std::filesystem::create_directories(folder);
    const std::string path = folder + "/" + number_of(question);
    if (auto document = kept(path + ".json"); !document.is_null()) {
      return {.document = std::move(document), .was_kept = true};
    }
    return measured_anew(question, path, streams);
  } catch (const SpecError& error) {
    return {.failure = error.what(), .asked_wrongly = true};
  } catch (const std::filesystem::filesystem_error& error) {
    throw SystemError(fmt::format("making {}: {}", folder, error.what()));
  } catch (const Error& error) {
    return {.failure = error.what()};
  }
}

}  // namespace tw::reproduce
