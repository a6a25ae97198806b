// SPDX-License-Identifier: Apache-2.0
#include "trainwire/pairs/bench_pairs.h"

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/run_status.h"
#include "trainwire/lab/training_run.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/ledger.h"
#include "trainwire/ledger/scratch.h"
#include "trainwire/pairs/pairs.h"
#include "trainwire/text/run_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <vector>

namespace tw::pairs {
namespace {

constexpr int kPings = 20;
constexpr int kRepeats = 3;

Duration time_of(const BenchOptions& options) {
  const auto time = parse_duration(options.time);
  if (!time || *time < std::chrono::milliseconds(1) || *time > std::chrono::minutes(1)) {
    throw SpecError(
        fmt::format("--time {}: expected a time from 1ms to 1min, like 200ms", options.time));
  }
  return *time;
}

/// The experiment's network with a rank on every host, each connected with all others.
spec::Experiment with_all_pairs(const BenchOptions& options) {
  const spec::Experiment experiment = command::load(*options.experiment);
  command::refuse_simulated(experiment, "bench pairs");
  command::refuse_faults(experiment, "bench pairs");
  const int hosts = *experiment.network.hosts;
  if (hosts < 2) throw SpecError("bench pairs needs two hosts: --set network.hosts=2");
  command::ExperimentFile job;
  job.text = sketch::Text{.toml = fmt::format("[network]\nhosts = {0}\n[[job]]\nparameters = "
                                              "\"4kB\"\nstrategy = \"clique\"\nranks = {0}\n",
                                              hosts)};
  spec::Experiment pairs = experiment;
  pairs.jobs = command::load(job).jobs;
  return pairs;
}

/// As ranks saw them: the receiver knows the rate, the sender what it sent again, and who asked how
/// long the answer took.
std::vector<Figure> figures_of(const std::vector<lab::RankState>& ranks) {
  std::vector<Figure> seen;
  for (const lab::RankState& state : ranks) {
    const int rank = static_cast<int>(state.rank);
    for (const trainer::PairResult& one : state.counts.pairs) {
      if (one.time_ns <= 0) throw Error("a rank told of a pair that took no time");
      const double round_trip_s = 1e-9 * static_cast<double>(one.round_trip_ns);
      seen.push_back({.from = one.peer,
                      .to = rank,
                      .rate_bps = 8e9 * static_cast<double>(one.received_bytes) /
                                  static_cast<double>(one.time_ns),
                      .round_trip_s = round_trip_s});
      seen.push_back({.from = rank,
                      .to = one.peer,
                      .round_trip_s = round_trip_s,
                      .retransmitted = one.retransmitted});
    }
  }
  return combined(seen);
}

struct Measured {
  std::vector<std::string> hosts = {};
  std::vector<Figure> figures = {};
  std::string place = {};
  watch::WatchVerdict verdict = {};
  bool interrupted = false;
};

Measured measure(lab::TrainingRun& training, const BenchOptions& options,
                 command::Streams streams) {
  command::RunStatus status(streams, options.place.quiet);
  training.prepare(status.observer());
  if (training.fleet() != nullptr && training.fleet()->interrupted()) return {.interrupted = true};
  ledger::Ledger ledger(ledger::state_folder(), "bench pairs");
  const ledger::Scratch scratch("bench", ledger);
  training.make_jobs(scratch.path());
  training.request().captures = false;
  const int repeats = options.repeats > 0 ? options.repeats : kRepeats;
  const std::size_t hosts = training.request().plan.hosts.size();
  for (trainer::Task& task : training.jobs().front().tasks) {
    task.pairs = trainer::PairBench{
        .time_ns = time_of(options).count(), .pings = kPings, .repeats = repeats};
    task.training.steps = static_cast<std::int64_t>(hosts - 1 + hosts % 2) * repeats;
    task.training.warmup = 0;
  }
  lab::RankTalk talk(training.jobs());
  const lab::ConductOutcome outcome = training.conduct(talk, status.observer());
  status.wipe();
  if (outcome.interrupted) return {.interrupted = true};
  if (outcome.failure) throw Error(*outcome.failure);
  Measured measured{.figures = figures_of(talk.ranks()),
                    .place = text::place_text(lab::engine_name(training)),
                    .verdict = outcome.verdict};
  for (const network::HostPlan& host : training.request().plan.hosts) {
    measured.hosts.push_back(host.name);
  }
  return measured;
}

}  // namespace

std::string machine_text(const watch::WatchVerdict& verdict) {
  if (verdict.level == watch::WatchLevel::Fine) return {};
  std::string text =
      verdict.level == watch::WatchLevel::Caution
          ? "warning: the machine may show in these times\n"
          : "warning: the machine, not the network, was the limit: not to be relied on\n";
  for (const std::string& reason : verdict.reasons) text += "  " + reason + "\n";
  return text;
}

int bench_pairs(const BenchOptions& options, command::Streams streams) {
  time_of(options);
  const spec::Experiment experiment = with_all_pairs(options);
  lab::TrainingRun training(options.place.place(), experiment);
  const Measured measured = measure(training, options, streams);
  if (measured.interrupted) return command::kInterrupted;
  const auto found = findings(measured.hosts, measured.figures);
  nlohmann::ordered_json document{{"schema", 1},
                                  {"command", "bench pairs"},
                                  {"hosts", measured.hosts},
                                  {"place", measured.place}};
  document.update(to_json(measured.hosts, measured.figures, found));
  if (options.emulated()) {
    document["cpu_bound"] = measured.verdict.level >= watch::WatchLevel::CpuBound;
  }
  const auto judged = command::judge_all(experiment.expectations, "bench", document);
  if (options.json) {
    fmt::print(streams.out, "{}\n", document.dump(2));
  } else {
    fmt::print(streams.out, "all pairs of {} hosts, two at a time, {}\n{}{}{}",
               measured.hosts.size(), measured.place,
               to_text(measured.hosts, measured.figures, found),
               options.emulated() ? machine_text(measured.verdict) : "",
               command::expectations_text(judged));
  }
  return command::expectations_code(judged, streams.err);
}

}  // namespace tw::pairs
