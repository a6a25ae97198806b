// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/experiment_file.h"
#include "trainwire/forecast/advise.h"
#include "trainwire/forecast/forecast.h"
#include "trainwire/forecast/need.h"
#include "trainwire/forecast/packets.h"
#include "trainwire/forecast/range.h"
#include "trainwire/forecast/scale.h"
#include "trainwire/forecast/what_if.h"
#include "trainwire/guide/commands.h"
#include "trainwire/guide/fitted_run.h"
#include "trainwire/guide/predict_document.h"
#include "trainwire/guide/predict_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::guide {
namespace {

/// What packet simulations of steps may have on links: some seconds.
constexpr double kMostPackets = 2e7;
constexpr double kAny = std::numeric_limits<double>::infinity();
/// What a step is made of, and what changes it, takes about so many more simulations.
constexpr double kAround = 20;

struct PredictOptions {
  std::shared_ptr<command::ExperimentFile> experiment;
  std::vector<std::string> what_if;
  std::string scale;
  std::string need;
  std::string level = "auto";
  std::string like;                         ///< folder of a run
  std::optional<like::Fitted> fitted = {};  ///< to it, or to the run that FILE is
  bool force = false;
  bool json = false;
  bool csv = false;
  bool advise = false;
  bool brief = false;
};

/// In the cluster's own sizes and times, one point of a sweep.
spec::Experiment loaded(const command::ExperimentFile& file) {
  spec::Experiment experiment = command::load(file);
  if (experiment.jobs.empty()) throw SpecError("no jobs: there is nothing to predict");
  if (!experiment.faults.empty()) {
    throw SpecError(
        "[[fault]]: what a fault costs depends on when it comes; `trainwire sim` tells, or leave "
        "faults out");
  }
  experiment.run.scale.value = 1;
  experiment.run.slow_motion.value = 1;
  experiment.sweep.clear();
  return experiment;
}

/// The same; with --like its jobs compute as those of the run did.
spec::Experiment loaded(const command::ExperimentFile& file, const PredictOptions& options) {
  spec::Experiment experiment = loaded(file);
  if (!options.like.empty()) compute_alike(experiment, *options.fitted);
  return experiment;
}

forecast::Variants variants_of(const PredictOptions& options) {
  return [options](const std::vector<std::string>& settings) {
    command::ExperimentFile changed = *options.experiment;
    changed.overrides.insert(changed.overrides.end(), settings.begin(), settings.end());
    changed.overrides.emplace_back("sweep={}");
    return loaded(changed, options);
  };
}

forecast::Asking asking_of(const PredictOptions& options) {
  forecast::Asking asking;
  if (options.level == "flow") asking.level = sim::Level::Flow;
  if (options.level == "packet") asking.level = sim::Level::Packet;
  asking.only_formula = options.level == "formula";
  asking.anywhere = options.force;
  if (options.fitted) adjust(asking, *options.fitted);
  return asking;
}

/// Each value by itself: what no experiment knows is an error of the question.
void require_known(const std::vector<forecast::Question>& questions,
                   const forecast::Variants& variants) {
  forecast::require_consistent(questions);
  for (const forecast::Question& question : questions) {
    try {
      variants({fmt::format("{}={}", question.key, question.values.front())});
    } catch (const SpecError& error) {
      throw SpecError(fmt::format("--what-if {}", forecast::without_set(error.what())));
    }
  }
}

std::string beyond(const PredictOptions& options, const spec::Experiment& experiment) {
  std::string sentence = forecast::beyond_range(experiment);
  if (!sentence.empty() && !options.force) {
    throw SpecError(sentence + "; --force answers all the same");
  }
  return sentence;
}

/// For each step, so that all are made in the same way. Curves, searches and advice have too many.
double most_packets(const PredictOptions& options,
                    const std::vector<forecast::Question>& questions) {
  const bool is_formula = options.level == "formula";
  if (is_formula || !options.scale.empty() || !options.need.empty() || options.advise) return 0;
  double rows = 1;
  for (const forecast::Question& question : questions) {
    rows *= static_cast<double>(question.values.size());
  }
  return kMostPackets / (questions.empty() ? 1 : 1 + rows);
}

/// As a shell takes it.
std::string word(const std::string& text) {
  const bool is_plain = std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 ||
           std::string_view("-_./=,:%+@").find(static_cast<char>(c)) != std::string_view::npos;
  });
  if (is_plain && !text.empty()) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

/// What is predicted, on a command line.
std::string source_of(const PredictOptions& options) {
  std::string text = word(options.experiment->path);
  for (const std::string& setting : options.experiment->overrides) {
    text += " --set " + word(setting);
  }
  return options.like.empty() ? text : text + " --like " + word(options.like);
}

bool may_scale(const spec::Experiment& experiment) {
  if (experiment.jobs.size() != 1 || !forecast::no_compute(experiment, 0).empty()) return false;
  try {
    forecast::settings_for_ranks(experiment, *experiment.jobs.front().ranks);
    return true;
  } catch (const SpecError&) {
    return false;
  }
}

Predicted predicted(const PredictOptions& options) {
  const spec::Experiment experiment = loaded(*options.experiment, options);
  const forecast::Variants variants = variants_of(options);
  forecast::Asking asking = asking_of(options);
  std::vector<forecast::Question> questions;
  for (const std::string& text : options.what_if) {
    questions.push_back(forecast::parse_question(text));
  }
  require_known(questions, variants);
  asking.most_packets = most_packets(options, questions);
  // As a run was fitted: with all its steps.
  if (options.fitted) asking.most_packets = options.level == "packet" ? kAny : 0;
  Predicted made{.name = *experiment.name,
                 .source = source_of(options),
                 .may_scale = may_scale(experiment),
                 .rate = *experiment.network.link.rate};
  made.like = options.fitted;
  made.beyond = beyond(options, experiment);
  const double constants = options.fitted ? uncertainty(*options.fitted) : 0;
  made.jobs =
      forecast::forecasts(experiment, variants, asking, constants,
                          options.brief ? forecast::Telling::Brief : forecast::Telling::Whole);
  if (made.like && options.like.empty()) name_hosts(made.jobs, *made.like);
  forecast::Asking rows = asking;
  if (made.jobs.front().step.method == forecast::Method::Packet) {
    rows.alike = forecast::Method::Packet;
  }
  made.what_ifs = forecast::what_ifs(experiment, questions, variants, rows, constants);
  if (!options.scale.empty()) {
    const forecast::Sizes sizes = forecast::parse_sizes(options.scale);
    const int most = forecast::sizes_of(sizes).back();
    if (most > forecast::kRange.ranks && !options.force) {
      throw SpecError(fmt::format(
          "--scale {}: predictions were checked for up to {} ranks; --force answers all the same",
          options.scale, grouped(forecast::kRange.ranks)));
    }
    made.scaling = forecast::scaling(experiment, sizes, variants, asking, constants);
  }
  if (!options.need.empty()) {
    made.need =
        forecast::need_of(experiment, forecast::parse_goal(options.need), asking, constants);
  }
  if (options.advise) made.advice = forecast::advise(experiment, variants, asking, constants);
  return made;
}

/// Whether packets of all that is asked for are few.
bool has_few_packets(const PredictOptions& options) {
  std::vector<forecast::Question> questions;
  for (const std::string& text : options.what_if) {
    questions.push_back(forecast::parse_question(text));
  }
  const double most = most_packets(options, questions);
  if (most <= 0) return false;
  const spec::Experiment experiment = loaded(*options.experiment, options);
  const double step_s = options.fitted->jobs.empty() ? 0 : options.fitted->jobs.front().step_s;
  const int seeds = forecast::has_chance(experiment) ? forecast::Asking().seeds : 1;
  const double around = options.brief ? 0 : kAround;
  return forecast::packets_of(experiment, step_s) * seeds * (around + kMostPackets / most) <=
         2 * kMostPackets;
}

/// What FILE is, and what it is to be like.
void read(PredictOptions& options) {
  if (options.csv && options.what_if.empty() == options.scale.empty()) {
    throw SpecError("--csv: one table can be printed, of --what-if or of --scale");
  }
  const bool is_of_run = is_run(options.experiment->path);
  if (is_of_run && !options.like.empty()) {
    throw SpecError(fmt::format("{} is a run itself: leave --like out, or name an experiment file",
                                options.experiment->path));
  }
  const std::string& run = is_of_run ? options.experiment->path : options.like;
  if (!run.empty()) {
    const bool by_packets = options.level == "packet";
    options.fitted =
        fitted_run(run, by_packets ? sim::Level::Packet : sim::Level::Flow, options.force);
  }
  if (is_of_run) put_in_place(*options.experiment, *options.fitted);
  command::read(*options.experiment);
  if (!options.fitted || options.level != "auto" || !has_few_packets(options)) return;
  try {
    options.fitted = fitted_run(run, sim::Level::Packet, options.force);
    options.level = "packet";
  } catch (const SpecError&) {  // there is something that only flows have
  }
}

int predict(PredictOptions options, command::Streams streams) {
  read(options);
  const Predicted made = predicted(options);
  nlohmann::ordered_json document = predict_document(made);
  const std::vector<command::Judged> judged =
      command::judge_all(command::load(*options.experiment).expectations, "predict", document);
  if (options.json) {
    fmt::print(streams.out, "{}\n", document.dump(2));
  } else if (options.csv) {
    fmt::print(streams.out, "{}", predict_csv(made));
  } else {
    fmt::print(streams.out, "{}{}", predict_text(made), command::expectations_text(judged));
  }
  streams.out.flush();
  return command::expectations_code(judged, streams.err);
}

}  // namespace

command::Body declare_predict(command::CommandLine& app) {
  const auto options = std::make_shared<PredictOptions>();
  options->experiment = command::add_experiment_file(
      app,
      "experiment file (TOML), - for standard input, or the folder of a run: what behaves like it");
  app.add_option("--like", options->like,
                 "compute, and be off the model, as in that run; then what-ifs are of the real job")
      .type_name("RUN");
  app.add_option("--what-if", options->what_if,
                 "the step with other settings, all combinations: network.rate=10Gbit,25Gbit; "
                 "repeatable")
      .type_name("KEY=VALUE,...")
      .repeatable();
  app.add_option("--scale", options->scale,
                 "throughput and efficiency of more ranks: 2..1024, doubling, or 2,3,5")
      .type_name("RANKS");
  app.add_option(
         "--need", options->need,
         "the bandwidth that a goal takes, and the delay and loss it bears: efficiency=0.9, "
         "or step=100ms")
      .type_name("GOAL");
  app.add_flag("--advise", options->advise,
               "what the job could do otherwise, ranked: strategies, servers, buckets, ranks on a "
               "host, sums made by switches");
  app.add_option(
         "--level", options->level,
         "auto (default): a formula where one holds, packets where they are nearer and few, "
         "else flows; formula: no answer where it does not hold; flow, packet: simulated "
         "that way")
      .type_name("LEVEL")
      .one_of({"auto", "formula", "flow", "packet"});
  app.add_flag("--brief", options->brief,
               "only the step: not what it is made of, nor what would change it");
  app.add_flag("--force", options->force, "answer beyond the range for which predictions hold");
  app.add_flag("--csv", options->csv, "print what-ifs, or the scaling curve, as CSV");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return predict(*options, streams); };
}

}  // namespace tw::guide
