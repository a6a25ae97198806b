// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/cli/capture_document.h"
#include "trainwire/cli/command.h"
#include "trainwire/cli/experiment_file.h"
#include "trainwire/cli/interrupt.h"
#include "trainwire/cli/lab_output.h"
#include "trainwire/cli/progress.h"
#include "trainwire/cli/run_checks.h"
#include "trainwire/cli/run_steps.h"
#include "trainwire/cli/run_text.h"
#include "trainwire/cli/status.h"
#include "trainwire/lab/loopback.h"
#include "trainwire/lab/rank_talk.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/user_namespace.h"
#include "trainwire/testbed/choose.h"
#include "trainwire/testbed/ledger_folder.h"
#include "trainwire/testbed/sweep.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <filesystem>
#include <memory>

namespace tw::cli {
namespace {

struct Options {
  std::shared_ptr<ExperimentFile> experiment;
  std::string on = "emulated";
  std::string out;
  bool force = false;
  bool json = false;
  bool keep = false;
  bool keep_going = false;
  bool no_check = false;
  bool accept_network = false;
  bool quiet = false;
};

bool on_loopback(const Options& options) { return options.on == "loopback"; }

std::vector<lab::HostAddress> hosts_of(const Options& options, const testbed::NetPlan& plan) {
  if (on_loopback(options)) return lab::loopback_hosts(static_cast<int>(plan.hosts.size()));
  std::vector<lab::HostAddress> hosts;
  for (const testbed::HostPlan& host : plan.hosts) {
    hosts.push_back({.name = host.name, .address = host.address});
  }
  return hosts;
}

lab::ConductRequest request_of(const Options& options, const spec::Experiment& experiment) {
  lab::ConductRequest request;
  request.plan = testbed::make_plan(experiment);
  request.captures = *experiment.capture.enabled && !on_loopback(options);
  request.snap_length = *experiment.capture.snaplen;
  request.timeout = *experiment.run.timeout;
  request.checks_network = !options.no_check && !on_loopback(options);
  request.accepts_network = options.accept_network;
  return request;
}

/// "step 12 of 25, 3.2 steps/s".
class StepStatus {
 public:
  explicit StepStatus(Status& status) : status_(status) {}

  void show(const lab::RankTalk& talk, const std::vector<lab::TrainingJob>& jobs) {
    const std::int64_t now = os::monotonic_ns();
    if (!talk.started() || now < due_ns_) return;
    due_ns_ = now + 200'000'000;
    if (began_ns_ == 0) began_ns_ = now;
    const trainer::Task& task = jobs.front().tasks.front();
    const std::int64_t done = talk.step(0) + task.warmup;
    const double elapsed = 1e-9 * static_cast<double>(now - began_ns_);
    const double pace = elapsed > 0 ? static_cast<double>(done) / elapsed : 0;
    std::string line =
        fmt::format("step {} of {}", std::max<std::int64_t>(done, 0), task.steps + task.warmup);
    if (pace > 0) {
      line += fmt::format(", {:.2f} steps/s, {:.0f} s left", pace,
                          static_cast<double>(task.steps + task.warmup - done) / pace);
    }
    status_.tell(line);
  }

 private:
  Status& status_;
  std::int64_t began_ns_ = 0;
  std::int64_t due_ns_ = 0;
};

/// One experiment, measured.
class Run {
 public:
  Run(const Options& options, const spec::Experiment& experiment, Streams streams)
      : options_(options),
        experiment_(experiment),
        streams_(streams),
        request_(request_of(options, experiment)) {}

  int run() {
    // What cannot be run is told before anything is made.
    lab::training_jobs(experiment_, hosts_of(options_, request_.plan), "");
    if (!on_loopback(options_)) {
      // First, since a user namespace hides what other runs left.
      testbed::sweep(testbed::state_folder());
      os::become_root_of_own_namespace();
      request_.engine = testbed::choose_engine(*experiment_.network.engine, request_.plan);
    }
    result::RunFolder folder =
        take_folder("run", *options_.experiment, options_.out, options_.force, streams_);
    folder.table("steps");
    request_.folder = std::filesystem::absolute(folder.path()).string();
    jobs_ = lab::training_jobs(experiment_, hosts_of(options_, request_.plan), request_.folder);
    lab::RankTalk talk(jobs_);
    const lab::ConductOutcome outcome = conduct(talk);
    return finish(outcome, talk, folder);
  }

 private:
  lab::ConductOutcome conduct(lab::RankTalk& talk) {
    Status status(streams_.err, !options_.quiet && is_terminal(streams_.err));
    StepStatus steps(status);
    const InterruptGuard guard;
    request_.commands = talk.commands(std::filesystem::read_symlink("/proc/self/exe").string());
    request_.tell = [&](const std::string& what) { status.tell(what); };
    request_.stop = [&] { return guard.interrupted(); };
    request_.care.attend = [&] {
      talk.attend();
      steps.show(talk, jobs_);
    };
    request_.care.explain = [&](std::size_t rank) { return talk.explain(rank); };
    return on_loopback(options_) ? lab::conduct_on_loopback(request_) : lab::conduct(request_);
  }

  std::string place() const {
    if (!on_loopback(options_)) return fmt::format("engine {}", testbed::name_of(request_.engine));
    return "loopback: no link is shaped, nothing is captured, times are this machine's";
  }

  RunView view_of(const lab::ConductOutcome& outcome, const lab::RankTalk& talk,
                  const std::vector<std::vector<PhaseRow>>& phases, const CaptureResult& result) {
    RunView view{.name = *experiment_.name, .place = place(), .jobs = jobs_};
    std::int64_t begin = 0;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      view.figures.push_back(step_figures(phases[i], jobs_[i]));
      const StepFigures& figures = view.figures.back();
      if (begin == 0 || figures.begin_ns < begin) begin = figures.begin_ns;
      end = std::max(end, figures.end_ns);
    }
    view.busiest = busiest_link(outcome, request_.plan, begin, end);
    for (RunCheck& check : run_checks(jobs_, talk.ranks(), result)) {
      view.checks.push_back(std::move(check));
    }
    for (RunCheck& check : exec_checks(outcome, request_, result)) {
      if (on_loopback(options_) && check.name == "machine") continue;
      view.checks.push_back(std::move(check));
    }
    return view;
  }

  int finish(const lab::ConductOutcome& outcome, const lab::RankTalk& talk,
             result::RunFolder& folder) {
    std::vector<std::vector<PhaseRow>> phases;
    for (const lab::TrainingJob& job : jobs_) {
      phases.push_back(read_phases(request_.folder, job));
      write_steps(phases.back(), job.name, folder);
      write_sockets(request_.folder, job, folder);
      remove_rank_files(request_.folder, job);
    }
    const CaptureResult result =
        analyse(outcome, request_.plan, step_log(phases.front(), jobs_.front()));
    if (!on_loopback(options_)) write_lab_tables(result, outcome, request_.plan, folder);
    const RunView view = view_of(outcome, talk, phases, result);
    nlohmann::ordered_json document = lab_document(result, outcome, request_, view.checks);
    if (on_loopback(options_)) document["engine"] = "loopback";
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
    } else if (!options_.quiet) {
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

  const Options& options_;
  const spec::Experiment& experiment_;
  Streams streams_;
  lab::ConductRequest request_;
  std::vector<lab::TrainingJob> jobs_;
};

int run_experiment(const Options& options, Streams streams) {
  const spec::Experiment experiment = load(*options.experiment);
  return Run(options, experiment, streams).run();
}

}  // namespace

Body declare_run(CommandLine& app) {
  const auto options = std::make_shared<Options>();
  options->experiment = add_experiment_file(app);
  app.add_option("--on", options->on,
                 "emulated: hosts are network namespaces; loopback: ranks on 127.0.0.x, nothing "
                 "shaped or captured")
      .type_name("PLACE")
      .one_of({"emulated", "loopback"});
  app.add_option("-o,--out", options->out,
                 "run folder; default: the experiment's name with .run, here")
      .type_name("DIR");
  app.add_flag("--force", options->force, "replace a run that is in that folder");
  app.add_flag("--keep", options->keep, "keep the captures after their analysis");
  app.add_flag("--keep-going", options->keep_going, "exit with 0 although a check failed");
  app.add_flag("--no-check", options->no_check, "do not measure the network before use");
  app.add_flag("--accept-network", options->accept_network,
               "go on although the network is more than 10 % off");
  app.add_flag("--json", options->json, "print one JSON document");
  app.add_flag("-q,--quiet", options->quiet, "no summary and no progress");
  return [options](Streams streams) { return run_experiment(*options, streams); };
}

}  // namespace tw::cli
