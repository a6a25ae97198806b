// SPDX-License-Identifier: Apache-2.0
#include "trainwire/steps/figures.h"

#include "trainwire/stats/estimate.h"
#include "trainwire/workload/volume.h"

#include <algorithm>
#include <map>
#include <utility>

namespace tw::steps {
namespace {

using record::Phase;
using record::PhaseRow;
using workload::Training;

constexpr double kTail = 0.99;

double seconds_of(const PhaseRow& row) {
  return 1e-9 * static_cast<double>(row.end_ns - row.start_ns);
}

double mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += value;
  return sum / static_cast<double>(values.size());
}

/// By step, one value of each worker.
using ByStep = std::map<std::int64_t, std::vector<double>>;

/// Of the steps that every worker has finished.
std::vector<double> means(const ByStep& steps, std::size_t workers, const Attendance& attendance) {
  std::vector<double> means;
  for (const auto& [step, values] : steps) {
    const auto some = attendance.find(step);
    if (values.size() == (some == attendance.end() ? workers : some->second)) {
      means.push_back(mean(values));
    }
  }
  return means;
}

bool is_counted(const PhaseRow& row, const Training& training) {
  return row.step >= 0 && row.rank < training.workers();
}

std::size_t workers_of(const Training& training) {
  return static_cast<std::size_t>(training.workers());
}

/// Mean over the workers, in order.
std::vector<double> step_times(const std::vector<PhaseRow>& rows, const Training& training,
                               const Attendance& attendance) {
  ByStep steps;
  for (const PhaseRow& row : rows) {
    if (row.phase == Phase::Step && is_counted(row, training)) {
      steps[row.step].push_back(seconds_of(row));
    }
  }
  return means(steps, workers_of(training), attendance);
}

/// First to last byte of a step's exchange, the same.
std::vector<double> exchange_times(const std::vector<PhaseRow>& rows, const Training& training,
                                   const Attendance& attendance) {
  std::map<std::pair<std::int64_t, int>, std::pair<std::int64_t, std::int64_t>> exchanges;
  for (const PhaseRow& row : rows) {
    if (row.phase != Phase::Exchange || !is_counted(row, training)) continue;
    auto& [begin, end] =
        exchanges.try_emplace({row.step, row.rank}, row.start_ns, row.end_ns).first->second;
    begin = std::min(begin, row.start_ns);
    end = std::max(end, row.end_ns);
  }
  ByStep steps;
  for (const auto& [key, span] : exchanges) {
    steps[key.first].push_back(1e-9 * static_cast<double>(span.second - span.first));
  }
  return means(steps, workers_of(training), attendance);
}

/// Median of each phase, per step and worker.
std::map<std::string, double> phase_medians(const std::vector<PhaseRow>& rows,
                                            const Training& training) {
  std::map<Phase, std::map<std::pair<std::int64_t, int>, double>> phases;
  for (const PhaseRow& row : rows) {
    if (is_counted(row, training)) phases[row.phase][{row.step, row.rank}] += seconds_of(row);
  }
  std::map<std::string, double> medians;
  for (const auto& [phase, values] : phases) {
    std::vector<double> all;
    for (const auto& [key, value] : values) all.push_back(value);
    medians[std::string(name_of(phase))] = upper_median(std::move(all));
  }
  return medians;
}

std::optional<record::Times> times_of(std::vector<double> times_s) {
  if (times_s.empty()) return {};
  const stats::Estimate median = stats::median_estimate(times_s);
  const stats::Estimate average = stats::mean_estimate(times_s);
  const stats::Estimate tail = stats::quantile_estimate(times_s, kTail);
  return record::Times{.median_s = median.value,
                       .ci_low_s = median.low,
                       .ci_high_s = median.high,
                       .count = times_s.size(),
                       .mean_s = average.value,
                       .mean_low_s = average.low,
                       .mean_high_s = average.high,
                       .p99_s = tail.value,
                       .p99_low_s = tail.low,
                       .p99_high_s = tail.high,
                       .times_s = std::move(times_s)};
}

/// As nccl-tests.
double bus_bandwidth(const Training& training, const std::optional<record::Times>& exchange) {
  if (!exchange || exchange->median_s <= 0 || training.workers() <= 1) return 0;
  return 8 * static_cast<double>(training.bytes().count()) *
         collective::bus_factor(training.row().operation, training.workers()) / exchange->median_s;
}

/// Enough for every framework's buckets; gradients sent one by one may be thousands.
constexpr std::size_t kMostBuckets = 1000;

std::optional<record::Pace> pace_of(const Training& training) {
  if (training.buckets.size() > kMostBuckets) return std::nullopt;
  record::Pace pace{.forward_s = seconds(training.compute.forward),
                    .backward_s = seconds(training.compute.backward)};
  for (const workload::Bucket& bucket : training.buckets) {
    pace.bucket_bytes.push_back(bucket.elements * workload::kElementBytes);
    pace.bucket_ready_s.push_back(seconds(bucket.ready));
  }
  return pace;
}

}  // namespace

double upper_median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

void write_steps(const std::vector<PhaseRow>& rows, const std::string& job,
                 record::RunFolder& folder) {
  result::TableFile& table = folder.table("steps");
  for (const PhaseRow& row : rows) {
    table.row({row.rank, row.step, name_of(row.phase), row.start_ns, row.end_ns, job,
               row.bucket >= 0 ? result::Cell(row.bucket) : result::Cell(), row.bytes, row.queued});
  }
}

std::optional<imports::StepLog> step_log(const std::vector<PhaseRow>& rows,
                                         const Training& training) {
  imports::StepLog log{.format = imports::kOwnFormat, .steps = {}};
  for (const PhaseRow& row : rows) {
    if (row.phase != Phase::Step || !is_counted(row, training)) continue;
    log.steps.push_back(
        {.rank = row.rank, .step = row.step, .start_ns = row.start_ns, .end_ns = row.end_ns});
  }
  if (log.steps.empty()) return {};
  return log;
}

CountedTime counted_time(const std::vector<PhaseRow>& rows, const Training& training) {
  CountedTime time;
  for (const PhaseRow& row : rows) {
    if (row.phase != Phase::Step || !is_counted(row, training)) continue;
    if (time.begin_ns == 0) time.begin_ns = row.start_ns;
    time.begin_ns = std::min(time.begin_ns, row.start_ns);
    time.end_ns = std::max(time.end_ns, row.end_ns);
  }
  return time;
}

record::Job described(const Training& training, Summary summary, std::int64_t sent_bytes,
                      bool verified) {
  record::Job made{.name = training.name,
                   .strategy = training.strategy,
                   .ranks = static_cast<std::uint64_t>(training.ranks()),
                   .gradient_bytes = training.bytes().count(),
                   .buckets = training.buckets.size(),
                   .verified = verified,
                   .step_sent_bytes = static_cast<double>(sent_bytes) /
                                      static_cast<double>(training.steps + training.warmup),
                   .demand_bytes = workload::demand(training).count(),
                   .step = times_of(std::move(summary.step_s)),
                   .exchange = times_of(std::move(summary.exchange_s)),
                   .phases_median_s = std::move(summary.phases_median_s)};
  made.pace = pace_of(training);
  made.steps = made.step ? made.step->count : 0;
  made.busbw_bps = bus_bandwidth(training, made.exchange);
  return made;
}

record::Job described(const Training& training, const std::vector<PhaseRow>& rows,
                      std::int64_t sent_bytes, bool verified, const Attendance& attendance) {
  return described(training,
                   Summary{.step_s = step_times(rows, training, attendance),
                           .exchange_s = exchange_times(rows, training, attendance),
                           .phases_median_s = phase_medians(rows, training)},
                   sent_bytes, verified);
}

record::Iterations logged_iterations(const record::Job& job) {
  record::Iterations iterations{.count = job.steps.value_or(0), .source = "log", .confidence = 1};
  if (!job.step) return iterations;
  iterations.median_s = job.step->median_s;
  iterations.ci_low_s = job.step->ci_low_s;
  iterations.ci_high_s = job.step->ci_high_s;
  return iterations;
}

}  // namespace tw::steps
