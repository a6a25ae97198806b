// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/cli/capture_document.h"
#include "trainwire/cli/command.h"
#include "trainwire/cli/experiment_file.h"
#include "trainwire/cli/lab_output.h"
#include "trainwire/cli/run_checks.h"
#include "trainwire/cli/run_steps.h"
#include "trainwire/cli/run_text.h"
#include "trainwire/cli/training_run.h"
#include "trainwire/lab/rank_talk.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <memory>

namespace tw::cli {
namespace {

struct Options {
  std::shared_ptr<ExperimentFile> experiment;
  TrainingPlace place;
  std::string out;
  bool force = false;
  bool json = false;
  bool keep = false;
  bool keep_going = false;
};

/// One experiment, measured.
class Run {
 public:
  Run(const Options& options, const spec::Experiment& experiment, Streams streams)
      : options_(options),
        experiment_(experiment),
        streams_(streams),
        training_(options.place, experiment, streams) {}

  int run() {
    training_.prepare();
    result::RunFolder folder =
        take_folder("run", *options_.experiment, options_.out, options_.force, streams_);
    folder.table("steps");
    training_.make_jobs(std::filesystem::absolute(folder.path()).string());
    lab::RankTalk talk(training_.jobs());
    const lab::ConductOutcome outcome = training_.conduct(talk);
    return finish(outcome, talk, folder);
  }

 private:
  RunView view_of(const lab::ConductOutcome& outcome, const lab::RankTalk& talk,
                  const std::vector<std::vector<PhaseRow>>& phases, const CaptureResult& result) {
    RunView view{.name = *experiment_.name, .place = training_.place_text(), .jobs = jobs()};
    std::int64_t begin = 0;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < jobs().size(); ++i) {
      view.figures.push_back(step_figures(phases[i], jobs()[i]));
      const StepFigures& figures = view.figures.back();
      if (begin == 0 || figures.begin_ns < begin) begin = figures.begin_ns;
      end = std::max(end, figures.end_ns);
    }
    view.busiest = busiest_link(outcome, request().plan, begin, end);
    for (RunCheck& check : run_checks(jobs(), talk.ranks(), result)) {
      view.checks.push_back(std::move(check));
    }
    for (RunCheck& check : exec_checks(outcome, request(), result)) {
      if (options_.place.loopback() && check.name == "machine") continue;
      view.checks.push_back(std::move(check));
    }
    return view;
  }

  int finish(const lab::ConductOutcome& outcome, const lab::RankTalk& talk,
             result::RunFolder& folder) {
    std::vector<std::vector<PhaseRow>> phases;
    for (const lab::TrainingJob& job : jobs()) {
      phases.push_back(read_phases(request().folder, job));
      write_steps(phases.back(), job.name, folder);
      write_sockets(request().folder, job, folder);
      remove_rank_files(request().folder, job);
    }
    const CaptureResult result =
        analyse(outcome, request().plan, step_log(phases.front(), jobs().front()));
    if (!options_.place.loopback()) write_lab_tables(result, outcome, request().plan, folder);
    const RunView view = view_of(outcome, talk, phases, result);
    nlohmann::ordered_json document = lab_document(result, outcome, request(), view.checks);
    if (options_.place.loopback()) document["engine"] = "loopback";
    document["jobs"] = jobs_document(view);
    if (view.busiest) {
      document["utilisation"] = {{"link", view.busiest->link},
                                 {"direction", view.busiest->from_host ? "from_host" : "to_host"},
                                 {"share", view.busiest->share},
                                 {"rate_bps", view.busiest->rate_bps}};
    }
    folder.finish(document, outcome.interrupted ? "interrupted" : outcome.failure.value_or(""));
    if (!options_.keep && !*experiment_.capture.keep) remove_captures(outcome);
    return report(outcome, view, document, result, folder.path());
  }

  int report(const lab::ConductOutcome& outcome, const RunView& view,
             const nlohmann::ordered_json& document, const CaptureResult& result,
             const std::string& folder) {
    if (options_.json) {
      fmt::print(streams_.out, "{}\n", dumped(document));
    } else if (!options_.place.quiet) {
      fmt::print(streams_.out, "{}", run_text(view, result, folder));
    }
    streams_.out.flush();
    if (outcome.interrupted) {
      fmt::print(streams_.err, "trainwire: interrupted; {} holds what there was until then\n",
                 folder);
      return kInterrupted;
    }
    if (outcome.failure) {
      throw Error(fmt::format("{}; {} holds what there was until then", *outcome.failure, folder));
    }
    if (all_ok(view.checks) || options_.keep_going) return 0;
    fmt::print(streams_.err,
               "trainwire: a check failed, so the figures are not to be relied on; --keep-going "
               "takes them anyway\n");
    return kRunFailed;
  }

  const lab::ConductRequest& request() const { return training_.request(); }
  const std::vector<lab::TrainingJob>& jobs() const { return training_.jobs(); }

  const Options& options_;
  const spec::Experiment& experiment_;
  Streams streams_;
  TrainingRun training_;
};

int run_experiment(const Options& options, Streams streams) {
  const spec::Experiment experiment = load(*options.experiment);
  return Run(options, experiment, streams).run();
}

}  // namespace

Body declare_run(CommandLine& app) {
  const auto options = std::make_shared<Options>();
  options->experiment = add_experiment_file(app);
  add_training_place(app, options->place);
  app.add_option("-o,--out", options->out,
                 "run folder; default: the experiment's name with .run, here")
      .type_name("DIR");
  app.add_flag("--force", options->force, "replace a run that is in that folder");
  app.add_flag("--keep", options->keep, "keep the captures after their analysis");
  app.add_flag("--keep-going", options->keep_going, "exit with 0 although a check failed");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](Streams streams) { return run_experiment(*options, streams); };
}

}  // namespace tw::cli
