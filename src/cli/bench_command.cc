// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/cli/commands.h"
#include "trainwire/command/exit_code.h"
#include "trainwire/command/expect.h"
#include "trainwire/command/run_status.h"
#include "trainwire/lab/training_run.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/ledger.h"
#include "trainwire/ledger/scratch.h"
#include "trainwire/pairs/bench_pairs.h"
#include "trainwire/text/run_text.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string_view>

namespace tw::cli {
namespace {

using pairs::BenchOptions;
using pairs::machine_text;

/// Enough of them to take about a second at a gigabit per second, three at least.
int repeats_of(const BenchOptions& options, Bytes size) {
  if (options.repeats > 0) return options.repeats;
  return static_cast<int>(
      std::clamp<std::int64_t>((100_MB).count() / std::max<std::int64_t>(size.count(), 1), 3, 500));
}

std::vector<std::string> words_of(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    words.emplace_back(list.substr(0, comma));
    list = comma == list.npos ? std::string_view() : list.substr(comma + 1);
  }
  return words;
}

std::vector<trainer::BenchRow> rows_of(const BenchOptions& options) {
  std::vector<trainer::BenchRow> rows;
  for (const std::string& word : words_of(options.sizes)) {
    const auto size = parse_bytes(word);
    if (!size || *size < Bytes(workload::kElementBytes)) {
      throw SpecError(
          fmt::format("--sizes: \"{}\" is no size of 4 bytes or more; write 64KiB,1MiB", word));
    }
    rows.push_back(
        {.elements = (size->count() + workload::kElementBytes - 1) / workload::kElementBytes,
         .repeats = repeats_of(options, *size)});
  }
  if (rows.empty()) throw SpecError("--sizes: no size is given; write 64KiB,1MiB");
  return rows;
}

struct Row {
  std::string transport = {};
  std::int64_t bytes = 0;
  double time_s = 0;  ///< of the slowest rank
  double cpu_s = 0;   ///< of all ranks together, for one exchange
  double algbw_bps = 0;
  double busbw_bps = 0;
  std::int64_t wrong = 0;
};

std::vector<Row> rows_from(const std::vector<lab::RankState>& ranks, double bus_factor) {
  std::vector<Row> rows(ranks.front().counts.bench.size());
  for (const lab::RankState& rank : ranks) {
    for (std::size_t i = 0; i < std::min(rows.size(), rank.counts.bench.size()); ++i) {
      const lab::RankCounts::Bench& one = rank.counts.bench[i];
      rows[i].bytes = workload::kElementBytes * one.elements;
      rows[i].time_s = std::max(rows[i].time_s, 1e-9 * static_cast<double>(one.time_ns));
      rows[i].cpu_s += 1e-9 * static_cast<double>(one.cpu_ns);
      rows[i].wrong += one.wrong;
    }
  }
  for (Row& row : rows) {
    row.algbw_bps = row.time_s > 0 ? 8 * static_cast<double>(row.bytes) / row.time_s : 0;
    row.busbw_bps = row.algbw_bps * bus_factor;
  }
  return rows;
}

/// What was measured over one transport.
struct Measured {
  std::vector<Row> rows = {};
  std::string strategy = {};
  std::size_t ranks = 0;
  std::string place = {};
  bool sums = true;
  bool interrupted = false;
  watch::WatchVerdict verdict = {};
};

/// nccl-tests' columns and units; the transport in front where several are compared.
void print_table(const std::vector<Measured>& all, bool compares, command::Streams streams) {
  const auto first = [&](std::string_view word) {
    return compares ? fmt::format("{:>9} ", word) : std::string();
  };
  fmt::print(streams.out,
             "{} of {} ranks, {}\n{}{:>12} {:>12} {:>8} {:>6} {:>12} {:>8} {:>8} {:>7} {:>10}\n"
             "{}{:>12} {:>12} {:>8} {:>6} {:>12} {:>8} {:>8}\n",
             all.front().strategy, all.front().ranks, all.front().place, first("transport"), "size",
             "count", "type", "redop", "time", "algbw", "busbw", "#wrong", "cpu", first(""), "(B)",
             "(elements)", "", "", "(us)", "(GB/s)", "(GB/s)");
  for (const Measured& measured : all) {
    for (const Row& row : measured.rows) {
      fmt::print(streams.out,
                 "{}{:>12} {:>12} {:>8} {:>6} {:>12.1f} {:>8.4g} {:>8.4g} {:>7} {:>10}\n",
                 first(row.transport), row.bytes, row.bytes / workload::kElementBytes, "float",
                 measured.sums ? "sum" : "none", 1e6 * row.time_s, row.algbw_bps / 8e9,
                 row.busbw_bps / 8e9, row.wrong, readable(from_seconds(row.cpu_s)));
    }
  }
  fmt::print(streams.out,
             "time: mean of one exchange on the slowest rank; busbw: algbw times what nccl-tests "
             "has for the operation, 2(n-1)/n for sums; cpu: of all ranks{}\n",
             compares ? " and their carriers" : "");
}

nlohmann::ordered_json document_of(const std::vector<Measured>& all) {
  nlohmann::ordered_json document{{"schema", 1},
                                  {"command", "bench exchange"},
                                  {"strategy", all.front().strategy},
                                  {"ranks", all.front().ranks},
                                  {"place", all.front().place},
                                  {"rows", nlohmann::ordered_json::array()}};
  for (const Measured& measured : all) {
    for (const Row& row : measured.rows) {
      document["rows"].push_back({{"transport", row.transport},
                                  {"bytes", row.bytes},
                                  {"time_s", row.time_s},
                                  {"algbw_bps", row.algbw_bps},
                                  {"busbw_bps", row.busbw_bps},
                                  {"wrong", row.wrong},
                                  {"cpu_s", row.cpu_s}});
    }
  }
  return document;
}

/// The worst of them.
watch::WatchVerdict verdict_of(const std::vector<Measured>& all) {
  return std::ranges::max_element(all, {}, [](const Measured& m) { return m.verdict.level; })
      ->verdict;
}

/// What cannot be measured is told before anything is.
void require_exchanges(const lab::TrainingRun& training) {
  if (training.jobs().size() != 1) {
    throw SpecError("bench exchange takes an experiment with one job");
  }
  const workload::Training& trained = training.jobs().front().training();
  if (!trained.asynchronous()) return;
  throw SpecError(fmt::format(
      "bench exchange times exchanges in which all ranks take part; {} has none: take `run`",
      trained.strategy));
}

Measured measure(lab::TrainingRun& training, const BenchOptions& options,
                 command::Streams streams) {
  const std::vector<trainer::BenchRow> sizes = rows_of(options);
  command::RunStatus status(streams, options.place.quiet);
  training.prepare(status.observer());
  if (training.fleet() != nullptr && training.fleet()->interrupted()) return {.interrupted = true};
  ledger::Ledger ledger(ledger::state_folder(), "bench exchange");
  // Ranks print somewhere.
  const ledger::Scratch scratch("bench", ledger, std::filesystem::temp_directory_path().string());
  training.make_jobs(scratch.path());
  training.request().captures = false;
  for (trainer::Task& task : training.jobs().front().tasks) {
    task.bench = sizes;
    task.training.steps = static_cast<std::int64_t>(sizes.size());
    task.training.warmup = 0;
    task.training.overlap = false;
    task.training.broadcast = false;
    task.training.side_connections = 0;
  }
  lab::RankTalk talk(training.jobs());
  const lab::ConductOutcome outcome = training.conduct(talk, status.observer());
  status.wipe();
  if (outcome.interrupted) return {.interrupted = true};
  if (outcome.failure) throw Error(*outcome.failure);
  const lab::TrainingJob& job = training.jobs().front();
  const workload::Training& trained = job.training();
  Measured measured{.rows = rows_from(talk.ranks(), collective::bus_factor(trained.row().operation,
                                                                           trained.workers())),
                    .strategy = trained.strategy,
                    .ranks = job.tasks.size(),
                    .place = text::place_text(lab::engine_name(training)),
                    .sums = trained.row().operation == collective::Operation::AllReduce,
                    .verdict = outcome.verdict};
  for (Row& row : measured.rows) row.transport = job.tasks.front().transport;
  return measured;
}

int show(const std::vector<Measured>& all, const BenchOptions& options,
         const spec::Experiment& experiment, command::Streams streams) {
  nlohmann::ordered_json document = document_of(all);
  const watch::WatchVerdict verdict = verdict_of(all);
  const bool emulated = options.emulated();
  if (emulated) {
    document["cpu_bound"] = verdict.level >= watch::WatchLevel::CpuBound;
    document["machine"] = {{"level", watch::level_name(verdict.level)},
                           {"reasons", verdict.reasons}};
  }
  const std::vector<command::Judged> judged =
      command::judge_all(experiment.expectations, "bench", document);
  if (options.json) {
    fmt::print(streams.out, "{}\n", document.dump(2));
  } else {
    print_table(all, !options.transports.empty(), streams);
    fmt::print(streams.out, "{}{}", emulated ? machine_text(verdict) : "",
               command::expectations_text(judged));
  }
  for (const Measured& measured : all) {
    const bool right =
        std::ranges::all_of(measured.rows, [](const Row& r) { return r.wrong == 0; });
    if (!right) throw Error("sums came out wrong; please report it");
  }
  return command::expectations_code(judged, streams.err);
}

int bench(const BenchOptions& options, command::Streams streams) {
  if (options.what == "pairs") return pairs::bench_pairs(options, streams);
  rows_of(options);
  const spec::Experiment experiment = command::load(*options.experiment);
  command::refuse_simulated(experiment, "bench exchange");
  command::refuse_faults(experiment, "bench exchange");
  std::vector<lab::TrainingRun> runs;
  for (const std::string& transport : words_of(options.transports)) {
    spec::Experiment one = experiment;
    for (spec::Job& job : one.jobs) job.transport = {transport, spec::Origin::Override};
    runs.emplace_back(options.place.place(), one);
  }
  if (runs.empty()) runs.emplace_back(options.place.place(), experiment);
  require_exchanges(runs.front());
  std::vector<Measured> all;
  for (lab::TrainingRun& training : runs) {
    all.push_back(measure(training, options, streams));
    if (all.back().interrupted) return command::kInterrupted;
  }
  return show(all, options, experiment, streams);
}

}  // namespace

command::Body declare_bench(command::CommandLine& app) {
  const auto options = std::make_shared<BenchOptions>();
  app.add_option("WHAT", options->what, "")
      .type_name("")
      .required()
      .one_of({"exchange", "pairs"})
      .action("exchange", "time all-reduces of the experiment's first job")
      .action(
          "pairs",
          "measure every pair of hosts, in rounds in which nobody is in two, and say which host "
          "or way stands out");
  options->experiment = command::add_experiment_file(app);
  app.add_option("--sizes", options->sizes, "payloads of exchanges, default 64KiB,1MiB,16MiB,100MB")
      .type_name("LIST");
  app.add_option("--transport", options->transports,
                 "compare these in one table: tcp,gloo,mpi,grpc; default the experiment's")
      .type_name("LIST");
  app.add_option("--repeats", options->repeats,
                 "exchanges of each size, default by size; of pairs: of all rounds, default 3")
      .type_name("N");
  app.add_option("--time", options->time, "of pairs: that each direction is heard; default 200ms")
      .type_name("TIME");
  command::add_place(app, options->place);
  command::add_launch(app, options->place);
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return bench(*options, streams); };
}

}  // namespace tw::cli
