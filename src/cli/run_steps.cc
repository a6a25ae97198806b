// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/run_steps.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <string_view>

namespace tw::cli {
namespace {

std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t comma = line.find(',');
    fields.push_back(line.substr(0, comma));
    if (comma == line.npos) return fields;
    line.remove_prefix(comma + 1);
  }
}

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Calls `take` with the fields of every whole line.
template <typename Take>
void for_each_line(const std::string& path, std::size_t columns, Take take) {
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    if (file.eof()) return;  // without its line feed it is not whole
    const auto fields = fields_of(line);
    if (fields.size() == columns) take(fields);
  }
}

double seconds_of(const PhaseRow& row) {
  return 1e-9 * static_cast<double>(row.end_ns - row.start_ns);
}

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// By step, one value of each worker.
using ByStep = std::map<std::int64_t, std::vector<double>>;

/// Of the steps that every worker has finished.
std::vector<double> means(const ByStep& steps, std::size_t workers) {
  std::vector<double> means;
  for (const auto& [step, values] : steps) {
    if (values.size() == workers) means.push_back(mean(values));
  }
  return means;
}

std::optional<stats::Estimate> median_of(const std::vector<double>& times) {
  if (times.empty()) return {};
  return stats::median_estimate(times);
}

}  // namespace

std::vector<PhaseRow> read_phases(const std::string& folder, const lab::TrainingJob& job) {
  std::vector<PhaseRow> rows;
  for (int rank = 0; rank < static_cast<int>(job.tasks.size()); ++rank) {
    for_each_line(lab::steps_file(folder, job.name, rank), 7, [&](const auto& fields) {
      rows.push_back({.rank = rank,
                      .step = number(fields[0]),
                      .phase = std::string(fields[1]),
                      .bucket = static_cast<int>(number(fields[2])),
                      .start_ns = number(fields[3]),
                      .end_ns = number(fields[4]),
                      .bytes = number(fields[5]),
                      .queued = number(fields[6])});
    });
  }
  return rows;
}

void write_steps(const std::vector<PhaseRow>& rows, const std::string& job,
                 result::RunFolder& folder) {
  result::TableFile& table = folder.table("steps");
  for (const PhaseRow& row : rows) {
    table.row({row.rank, row.step, row.phase, row.start_ns, row.end_ns, job,
               row.bucket >= 0 ? result::Cell(row.bucket) : result::Cell(), row.bytes, row.queued});
  }
}

void write_sockets(const std::string& folder, const lab::TrainingJob& job,
                   result::RunFolder& into) {
  result::TableFile& table = into.table("sockets");
  for (int rank = 0; rank < static_cast<int>(job.tasks.size()); ++rank) {
    for_each_line(lab::sockets_file(folder, job.name, rank), 8, [&](const auto& fields) {
      table.row({number(fields[0]), job.name, rank, number(fields[1]), number(fields[2]),
                 number(fields[3]), number(fields[4]), number(fields[5]), number(fields[6]),
                 number(fields[7])});
    });
  }
}

void write_transfers(const lab::TrainingJob& job, result::RunFolder& into) {
  for (const trainer::Task& task : job.tasks) {
    if (task.transfers.empty()) continue;
    result::TableFile& table = into.table("transfers");
    for_each_line(task.transfers, 10, [&](const auto& fields) {
      const std::int64_t bucket = number(fields[1]);
      table.row({job.name, task.rank, number(fields[0]),
                 bucket >= 0 ? result::Cell(bucket) : result::Cell(), number(fields[2]),
                 number(fields[3]), number(fields[4]), number(fields[5]), number(fields[6]),
                 number(fields[7]), std::string(fields[8]), number(fields[9])});
    });
  }
}

void remove_rank_files(const std::string& folder, const lab::TrainingJob& job) {
  std::error_code ignored;
  for (int rank = 0; rank < static_cast<int>(job.tasks.size()); ++rank) {
    std::filesystem::remove(lab::steps_file(folder, job.name, rank), ignored);
    std::filesystem::remove(lab::sockets_file(folder, job.name, rank), ignored);
    std::filesystem::remove(lab::transfers_file(folder, job.name, rank), ignored);
  }
}

std::optional<imports::StepLog> step_log(const std::vector<PhaseRow>& rows,
                                         const lab::TrainingJob& job) {
  imports::StepLog log{.format = "run", .steps = {}};
  const int workers = job.training().workers();
  for (const PhaseRow& row : rows) {
    if (row.phase != "step" || row.step < 0 || row.rank >= workers) continue;
    log.steps.push_back(
        {.rank = row.rank, .step = row.step, .start_ns = row.start_ns, .end_ns = row.end_ns});
  }
  if (log.steps.empty()) return {};
  return log;
}

StepFigures step_figures(const std::vector<PhaseRow>& rows, const lab::TrainingJob& job) {
  const workload::Training& training = job.training();
  const auto workers = static_cast<std::size_t>(training.workers());
  StepFigures figures;
  ByStep steps;
  std::map<std::pair<std::int64_t, int>, std::pair<std::int64_t, std::int64_t>> exchanges;
  std::map<std::string, std::map<std::pair<std::int64_t, int>, double>> phases;
  for (const PhaseRow& row : rows) {
    if (row.step < 0 || static_cast<std::size_t>(row.rank) >= workers) continue;
    if (row.phase == "step") {
      steps[row.step].push_back(seconds_of(row));
      if (figures.begin_ns == 0) figures.begin_ns = row.start_ns;
      figures.begin_ns = std::min(figures.begin_ns, row.start_ns);
      figures.end_ns = std::max(figures.end_ns, row.end_ns);
    }
    phases[row.phase][{row.step, row.rank}] += seconds_of(row);
    if (row.phase != "exchange") continue;
    const auto at = exchanges.try_emplace({row.step, row.rank}, row.start_ns, row.end_ns).first;
    at->second.first = std::min(at->second.first, row.start_ns);
    at->second.second = std::max(at->second.second, row.end_ns);
  }
  figures.step_times_s = means(steps, workers);
  figures.steps = figures.step_times_s.size();
  figures.step_s = median_of(figures.step_times_s);
  ByStep exchange_times;
  for (const auto& [key, span] : exchanges) {
    exchange_times[key.first].push_back(1e-9 * static_cast<double>(span.second - span.first));
  }
  figures.exchange_times_s = means(exchange_times, workers);
  figures.exchange_s = median_of(figures.exchange_times_s);
  for (const auto& [phase, values] : phases) {
    std::vector<double> all;
    for (const auto& [key, value] : values) all.push_back(value);
    figures.phases_s[phase] = median(std::move(all));
  }
  if (figures.exchange_s && figures.exchange_s->value > 0 && workers > 1) {
    const double bytes = static_cast<double>(training.bytes().count());
    figures.busbw_bps = 8 * bytes *
                        collective::bus_factor(training.row().operation, training.workers()) /
                        figures.exchange_s->value;
  }
  return figures;
}

}  // namespace tw::cli
