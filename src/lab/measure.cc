// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/measure.h"

#include "trainwire/lab/checks.h"
#include "trainwire/lab/outcome.h"
#include "trainwire/lab/rank_logs.h"
#include "trainwire/lab/survival.h"
#include "trainwire/lab/training_run.h"
#include "trainwire/lab/unshaped.h"
#include "trainwire/lessons/lessons.h"
#include "trainwire/network/scale_doubts.h"
#include "trainwire/record/json.h"
#include "trainwire/spec/print.h"
#include "trainwire/steps/figures.h"
#include "trainwire/workload/volume.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace tw::lab {
namespace {

std::vector<std::int64_t> sent_by_job(const RankTalk& talk, std::size_t jobs) {
  std::vector<std::int64_t> sums(jobs);
  for (const RankState& rank : talk.ranks()) {
    sums[rank.job] += rank.counts.sent_before;
    for (const std::int64_t sent : rank.counts.sent) sums[rank.job] += sent;
  }
  return sums;
}

Recovered any_recovered(const RankTalk& talk, std::size_t jobs) {
  for (std::size_t i = 0; i < jobs; ++i) {
    if (!talk.job(i).recoveries().empty()) return Recovered::Yes;
  }
  return Recovered::No;
}

class Measurement {
 public:
  Measurement(const spec::Experiment& experiment, const RunPlace& place, const Observer& observer)
      : experiment_(experiment), place_(place), observer_(observer), training_(place, experiment) {}

  Measured run(record::RunFolder& folder) && {
    training_.prepare(observer_);
    folder.table("steps");
    if (training_.fleet() != nullptr && training_.fleet()->interrupted()) {
      return {.interrupted = true};
    }
    training_.make_jobs(std::filesystem::absolute(folder.path()).string());
    if (place_.logs_transfers) log_transfers(training_.jobs(), request().folder);
    RankTalk talk(training_.jobs());
    LiveLog live(fmt::format("{}/{}", request().folder, record::kLiveFile), training_.live_header(),
                 training_.jobs());
    outcome_ = training_.conduct(talk, observer_, &live);
    live.sample(talk);
    take_steps(talk, folder);
    captured_ = analysed(outcome_, request().plan, known_jobs(), endpoints_of(talk));
    if (talk.job(0).recoveries().empty()) take_schedule();
    if (!place_.loopback) write_tables(captured_, outcome_, request().plan, folder);
    take_flows(training_.traffic(), folder);
    const record::Run found = record_of(talk);
    for (const record::Job& job : found.jobs) lessons::write_accuracy(job, folder);
    Measured measured{
        .run = found, .interrupted = outcome_.interrupted, .failure = outcome_.failure};
    if (measured.is_whole() && observer_.judge) observer_.judge(measured.run);
    folder.finish(measured.run, partial_of(outcome_));
    live.end(measured.is_whole() ? "done" : partial_of(outcome_));
    if (!place_.keeps_captures && !*experiment_.capture.keep) remove_captures(outcome_);
    measured.outcome = std::move(outcome_);
    return measured;
  }

 private:
  const ConductRequest& request() const { return training_.request(); }

  /// What the ranks logged, into the tables.
  void take_steps(const RankTalk& talk, record::RunFolder& folder) {
    for (std::size_t i = 0; i < training_.jobs().size(); ++i) {
      const TrainingJob& job = training_.jobs()[i];
      const std::vector<trainer::Task>& given = talk.job(i).given();
      JobPhases phases = read_phases(given);
      put_on_one_clock(phases.rows, job);
      phases_.push_back(std::move(phases.rows));
      attendance_.push_back(std::move(phases.attendance));
      steps::write_steps(phases_.back(), job.name, folder);
      write_sockets(job.name, given, folder);
      write_transfers(job.name, given, folder);
      remove_rank_files(given);
      if (talk.job(i).left()) remove_checkpoints(job, request().folder);
    }
  }

  /// That of the first host, as captures are.
  void put_on_one_clock(std::vector<record::PhaseRow>& rows, const TrainingJob& job) const {
    if (training_.fleet() == nullptr) return;
    for (record::PhaseRow& row : rows) {
      const std::int64_t shift =
          clock_shift_ns(*training_.fleet(), job.hosts[static_cast<std::size_t>(row.rank)]);
      row.start_ns -= shift;
      row.end_ns -= shift;
    }
  }

  std::vector<summarise::KnownJob> known_jobs() const {
    std::vector<summarise::KnownJob> jobs;
    for (std::size_t i = 0; i < training_.jobs().size(); ++i) {
      const TrainingJob& job = training_.jobs()[i];
      jobs.push_back({.name = job.name, .log = steps::step_log(phases_[i], job.training())});
    }
    return jobs;
  }

  Endpoints endpoints_of(const RankTalk& talk) const {
    Endpoints endpoints{.sinks = {training_.sinks().begin(), training_.sinks().end()},
                        .among_others = training_.fleet() != nullptr,
                        .own_clocks = training_.fleet() != nullptr};
    for (std::size_t i = 0; i < training_.jobs().size(); ++i) {
      endpoints.ranks.push_back(talk.endpoints(i));
    }
    return endpoints;
  }

  /// What the wire carried in each step is known better than from the wire, where every step is
  /// alike: a step's tail lies in the time of the next.
  void take_schedule() {
    const TrainingJob& job = training_.jobs().front();
    const workload::Training& training = job.training();
    auto& steps = captured_.analysis.iterations.steps;
    if (training.asynchronous() || static_cast<std::int64_t>(steps.size()) != training.steps) {
      return;
    }
    summarise::ScheduledSteps scheduled{.steps = training.steps};
    workload::Training longer = training;
    ++longer.steps;
    const auto without = workload::bytes_by_rank(training);
    const auto with = workload::bytes_by_rank(longer);
    std::int64_t all = 0;
    for (std::size_t from = 0; from < with.size(); ++from) {
      for (std::size_t to = 0; to < with.size(); ++to) {
        const std::int64_t bytes = with[from][to] - without[from][to];
        if (bytes == 0 || job.hosts[from] == job.hosts[to]) continue;
        scheduled.bytes[{host_name(job, from), host_name(job, to)}] += bytes;
        all += bytes;
      }
    }
    for (auto& step : steps) step.bytes = static_cast<std::uint64_t>(all);
    captured_.scheduled = std::move(scheduled);
  }

  static const std::string& host_name(const TrainingJob& job, std::size_t rank) {
    return job.host_names[static_cast<std::size_t>(job.hosts[rank])];
  }

  record::Run record_of(const RankTalk& talk) const {
    record::Run run = described("run", captured_, outcome_, request());
    run.engine = engine_name(training_);
    run.checks = checks_of(talk);
    steps::CountedTime counted;
    const std::vector<lessons::JobLessons> lessons = lessons_of(talk);
    const std::vector<std::int64_t> sent = sent_by_job(talk, training_.jobs().size());
    for (std::size_t i = 0; i < training_.jobs().size(); ++i) {
      const TrainingJob& job = training_.jobs()[i];
      run.jobs.push_back(steps::described(job.training(), phases_[i], sent[i],
                                          job.tasks.front().verify, attendance_[i]));
      run.jobs.back().learning = lessons::learning_of(lessons[i]);
      const steps::CountedTime time = steps::counted_time(phases_[i], job.training());
      if (counted.begin_ns == 0 || time.begin_ns < counted.begin_ns) {
        counted.begin_ns = time.begin_ns;
      }
      counted.end_ns = std::max(counted.end_ns, time.end_ns);
    }
    add_survival(run, talk);
    if (!run.iterations) run.iterations = steps::logged_iterations(run.jobs.front());
    run.network = network_of(outcome_, request().plan, {counted.begin_ns, counted.end_ns});
    usage::share(run.network, request().plan, sent_by(captured_, request().plan));
    run.utilisation = usage::busiest(run.network);
    const TrafficResult& traffic = training_.traffic();
    if (!traffic.entries.empty()) {
      run.cross_traffic =
          described(traffic, gradient_pairs(captured_, request().plan, traffic.entries));
    }
    run.experiment = record::value_from(spec::to_json(experiment_));
    return run;
  }

  std::vector<lessons::JobLessons> lessons_of(const RankTalk& talk) const {
    std::vector<lessons::JobLessons> lessons;
    for (const TrainingJob& job : training_.jobs()) {
      lessons.push_back({.name = job.name, .training = job.training()});
    }
    for (const RankState& rank : talk.ranks()) {
      lessons[rank.job].ranks.push_back(rank.counts.learnt);
    }
    return lessons;
  }

  void add_survival(record::Run& run, const RankTalk& talk) const {
    const FaultTimes times{.faults = training_.faults().played(),
                           .started_ns = talk.started_ns(),
                           .moment = outcome_.started};
    add_faults(run, times, phases_);
    for (std::size_t i = 0; i < training_.jobs().size(); ++i) {
      const TrainingJob& job = training_.jobs()[i];
      add_recoveries(run, times, job, talk.job(i), phases_[i]);
      run.jobs[i].checkpoints = checkpoints_of(job, talk.job(i));
    }
  }

  std::vector<record::Check> checks_of(const RankTalk& talk) const {
    std::vector<record::Check> checks = training_checks(
        training_.jobs(), talk.ranks(), captured_, any_recovered(talk, training_.jobs().size()));
    if (!training_.traffic().entries.empty() && captured_.traffic.totals.packets > 0) {
      checks.push_back(traffic_check(training_.traffic(), captured_));
    }
    if (training_.fleet() != nullptr) checks.push_back(clocks_check(*training_.fleet()));
    if (!place_.loopback && !place_.launch) {
      for (const std::string& doubt : network::scale_doubts(experiment_)) {
        checks.push_back({.name = "scale",
                          .ok = true,
                          .expected = "as in the cluster",
                          .found = "unlike the cluster",
                          .text = doubt,
                          .caution = true});
      }
    }
    for (record::Check& check : conduct_checks(outcome_, request(), captured_)) {
      if (!place_.loopback || check.name != "machine") checks.push_back(std::move(check));
    }
    const std::vector<lessons::JobLessons> lessons = lessons_of(talk);
    if (auto check = lessons::models_check(lessons)) checks.push_back(*std::move(check));
    lessons::allow_computing(lessons, checks);
    return checks;
  }

  const spec::Experiment& experiment_;
  const RunPlace& place_;
  const Observer& observer_;
  TrainingRun training_;
  ConductOutcome outcome_;
  summarise::CaptureResult captured_;
  std::vector<std::vector<record::PhaseRow>> phases_;  ///< by job
  std::vector<steps::Attendance> attendance_;
};

}  // namespace

void require_runnable(const spec::Experiment& experiment, const RunPlace& place) {
  TrainingRun(place, experiment);
}

Measured measure(const spec::Experiment& experiment, const RunPlace& place,
                 record::RunFolder& folder, const Observer& observer) {
  return Measurement(experiment, place, observer).run(folder);
}

}  // namespace tw::lab
