// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/run_measure.h"

#include "trainwire/cli/run_checks.h"
#include "trainwire/cli/run_steps.h"
#include "trainwire/spec/print.h"

#include <fmt/format.h>

#include <filesystem>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;

/// Iterations as the ranks logged them, for a run without packets.
ordered_json iterations_document(const StepFigures& figures) {
  ordered_json document{{"count", figures.steps}, {"source", "log"}, {"confidence", 1.0}};
  if (figures.step_s) {
    document["median_s"] = figures.step_s->value;
    document["ci_low_s"] = figures.step_s->low;
    document["ci_high_s"] = figures.step_s->high;
  }
  return document;
}

class Measurement {
 public:
  Measurement(const RunOptions& options, const spec::Experiment& experiment, Streams streams)
      : options_(options), experiment_(experiment), training_(options.place, experiment, streams) {}

  RunReport run(result::RunFolder& folder) && {
    training_.prepare();
    folder.table("steps");
    training_.make_jobs(std::filesystem::absolute(folder.path()).string());
    if (options_.transfers) lab::log_transfers(training_.jobs(), request().folder);
    lab::RankTalk talk(training_.jobs());
    lab::LiveLog live(fmt::format("{}/{}", request().folder, record::kLiveFile),
                      training_.live_header(), training_.jobs());
    report_.outcome = training_.conduct(talk, &live);
    live.sample(talk);
    take_steps(folder);
    report_.captured =
        analyse(report_.outcome, request().plan,
                step_log(phases_.front(), training_.jobs().front()), training_.sinks());
    if (!loopback()) write_lab_tables(report_.captured, report_.outcome, request().plan, folder);
    report_.view = view_of(talk);
    take_flows(report_.view.traffic, folder);
    make_document();
    folder.finish(report_.document, report_.outcome.interrupted
                                        ? "interrupted"
                                        : report_.outcome.failure.value_or(""));
    live.end(report_.outcome.interrupted ? "interrupted"
                                         : report_.outcome.failure.value_or("done"));
    if (!options_.keep && !*experiment_.capture.keep) remove_captures(report_.outcome);
    return std::move(report_);
  }

 private:
  bool loopback() const { return options_.place.loopback(); }
  const lab::ConductRequest& request() const { return training_.request(); }

  /// What the ranks logged, into the tables.
  void take_steps(result::RunFolder& folder) {
    for (const lab::TrainingJob& job : training_.jobs()) {
      phases_.push_back(read_phases(request().folder, job));
      write_steps(phases_.back(), job.name, folder);
      write_sockets(request().folder, job, folder);
      write_transfers(job, folder);
      remove_rank_files(request().folder, job);
    }
  }

  RunView view_of(const lab::RankTalk& talk) const {
    RunView view{
        .name = experiment_.name->empty() ? options_.experiment->path : *experiment_.name,
        .place = training_.place_text(),
        .jobs = training_.jobs(),
        .traffic = {.entries = training_.traffic(), .outcomes = training_.traffic_outcomes()}};
    if (!view.traffic.is_empty()) {
      view.traffic.gradients =
          gradient_pairs(report_.captured, request().plan, training_.traffic());
    }
    std::int64_t begin = 0;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < view.jobs.size(); ++i) {
      const StepFigures figures = step_figures(phases_[i], view.jobs[i]);
      if (begin == 0 || figures.begin_ns < begin) begin = figures.begin_ns;
      end = std::max(end, figures.end_ns);
      view.figures.push_back(figures);
    }
    view.sent_bytes.resize(view.jobs.size());
    for (const lab::RankState& rank : talk.ranks()) {
      for (const std::int64_t sent : rank.counts.sent) view.sent_bytes[rank.job] += sent;
    }
    view.busiest = busiest_link(report_.outcome, request().plan, begin, end);
    view.checks = run_checks(view.jobs, talk.ranks(), report_.captured);
    if (!view.traffic.is_empty() && report_.captured.traffic.totals.packets > 0) {
      view.checks.push_back(traffic_check(view.traffic, report_.captured));
    }
    for (RunCheck& check : exec_checks(report_.outcome, request(), report_.captured)) {
      if (!loopback() || check.name != "machine") view.checks.push_back(std::move(check));
    }
    return view;
  }

  void make_document() {
    const RunView& view = report_.view;
    ordered_json& document = report_.document;
    document = lab_document("run", report_.captured, report_.outcome, request(), view.checks);
    if (loopback()) document["engine"] = "loopback";
    if (!document.contains("iterations")) {
      document["iterations"] = iterations_document(view.figures.front());
    }
    document["jobs"] = jobs_document(view);
    if (view.busiest) {
      document["utilisation"] = {{"link", view.busiest->link},
                                 {"direction", view.busiest->from_host ? "from_host" : "to_host"},
                                 {"share", view.busiest->share},
                                 {"rate_bps", view.busiest->rate_bps}};
    }
    if (!view.traffic.is_empty()) document["cross_traffic"] = traffic_document(view.traffic);
    document["experiment"] = spec::to_json(experiment_);
    const bool is_whole = !report_.outcome.interrupted && !report_.outcome.failure;
    if (is_whole) report_.view.expectations = judge_all(experiment_.expectations, "run", document);
  }

  const RunOptions& options_;
  const spec::Experiment& experiment_;
  TrainingRun training_;
  std::vector<std::vector<PhaseRow>> phases_;
  RunReport report_;
};

}  // namespace

void require_runnable(const RunOptions& options, const spec::Experiment& experiment,
                      Streams streams) {
  TrainingRun(options.place, experiment, streams);
}

RunReport measure(const RunOptions& options, const spec::Experiment& experiment,
                  result::RunFolder& folder, Streams streams) {
  return Measurement(options, experiment, streams).run(folder);
}

}  // namespace tw::cli
