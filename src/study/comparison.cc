// SPDX-License-Identifier: Apache-2.0
#include "trainwire/study/comparison.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/stats/quantile.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace tw::study {
namespace {

using stats::Statistic;

constexpr std::array kMetrics{Metric::Step,     Metric::Exchange, Metric::Busbw,    Metric::Bytes,
                              Metric::Accuracy, Metric::ToTarget, Metric::Staleness};

stats::Wording wording(Metric metric) {
  switch (metric) {
    case Metric::Step:
    case Metric::Exchange:
    case Metric::ToTarget:
      return {.higher = "slower", .lower = "faster", .noun = "steps"};
    case Metric::Busbw:
    case Metric::Accuracy:
      return {.higher = "higher", .lower = "lower", .noun = "steps"};
    case Metric::Staleness:
      return {.higher = "staler", .lower = "fresher", .noun = "steps"};
    case Metric::Bytes:
      return {.higher = "more", .lower = "fewer", .noun = "steps"};
  }
  return {};
}

MetricRow tested(Metric metric, Statistic statistic, std::span<const double> baseline,
                 std::span<const double> other) {
  const stats::Difference found = stats::difference(baseline, other, {.statistic = statistic});
  return {.metric = metric,
          .statistic = std::string(stats::name_of(statistic)),
          .job = "",
          .baseline = found.baseline.value,
          .other = found.other.value,
          .relative = found.relative.value,
          .difference = found,
          .text = stats::in_words(found, wording(metric))};
}

MetricRow counted(Metric metric, std::string statistic, double baseline, double other) {
  const stats::Wording words = wording(metric);
  const double relative = other / baseline - 1;
  const double percent = 100 * std::abs(relative);
  return {.metric = metric,
          .statistic = std::move(statistic),
          .job = "",
          .baseline = baseline,
          .other = other,
          .relative = relative,
          .text = relative == 0 ? "the same (counted)"
                                : fmt::format("{} by {:.{}f} % (counted, no test)",
                                              relative > 0 ? words.higher : words.lower, percent,
                                              percent >= 1 ? 1 : 3)};
}

/// Standard errors beyond which a difference of shares is no chance: 95 of 100 times.
constexpr double kSure = 1.96;

MetricRow accuracy_row(const record::Learning& baseline, const record::Learning& other) {
  const auto variance = [](const record::Learning& learning) {
    const auto n = static_cast<double>(std::max<std::int64_t>(learning.test_samples, 1));
    return learning.accuracy * (1 - learning.accuracy) / n;
  };
  const double more = other.accuracy - baseline.accuracy;
  const double error = std::sqrt(variance(baseline) + variance(other));
  const bool sure = std::abs(more) > kSure * error;
  return {.metric = Metric::Accuracy,
          .statistic = "in the end",
          .job = "",
          .baseline = baseline.accuracy,
          .other = other.accuracy,
          .relative = baseline.accuracy > 0 ? other.accuracy / baseline.accuracy - 1 : 0,
          .text = sure ? fmt::format("{} by {:.2f} ±{:.2f} points", more > 0 ? "higher" : "lower",
                                     100 * std::abs(more), 100 * kSure * error)
                       : fmt::format("no difference is sure: {:+.2f} ±{:.2f} points", 100 * more,
                                     100 * kSure * error)};
}

/// Time and bytes to an accuracy where both were asked for the same and reached it.
void compare_learning(const record::Learning& baseline, const record::Learning& other,
                      std::vector<MetricRow>& rows) {
  rows.push_back(accuracy_row(baseline, other));
  if (baseline.staleness && other.staleness && baseline.staleness->mean > 0) {
    rows.push_back(
        counted(Metric::Staleness, "mean", baseline.staleness->mean, other.staleness->mean));
  }
  if (!baseline.target || !other.target || !baseline.target->time_s || !other.target->time_s ||
      baseline.target->accuracy != other.target->accuracy) {
    return;
  }
  const std::string what = fmt::format("{:g} %", 100 * baseline.target->accuracy);
  if (*baseline.target->time_s > 0) {
    rows.push_back(
        counted(Metric::ToTarget, what, *baseline.target->time_s, *other.target->time_s));
  }
  const auto bytes = [](const record::Learning& learning) {
    return static_cast<double>(learning.target->sent_bytes.value_or(0));
  };
  if (bytes(baseline) > 0) {
    rows.push_back(counted(Metric::Bytes, "to " + what, bytes(baseline), bytes(other)));
  }
}

/// Of each exchange: the bandwidth is inverse to its time, and known at the median time.
std::vector<double> bandwidths(const ComparedJob& job) {
  const double constant = *job.busbw_bps * stats::median(job.exchange_times_s);
  std::vector<double> found;
  for (const double time : job.exchange_times_s) found.push_back(constant / time);
  return found;
}

bool has_exchanges(const ComparedJob& job) { return job.exchange_times_s.size() >= 2; }

void compare_jobs(const ComparedJob& baseline, const ComparedJob& other, const std::string& name,
                  std::vector<MetricRow>& rows) {
  const std::size_t first = rows.size();
  for (const Statistic statistic : {Statistic::Mean, Statistic::Median, Statistic::P99}) {
    rows.push_back(tested(Metric::Step, statistic, baseline.step_times_s, other.step_times_s));
  }
  if (has_exchanges(baseline) && has_exchanges(other)) {
    for (const Statistic statistic : {Statistic::Mean, Statistic::Median}) {
      rows.push_back(
          tested(Metric::Exchange, statistic, baseline.exchange_times_s, other.exchange_times_s));
    }
    if (baseline.busbw_bps && other.busbw_bps) {
      rows.push_back(
          tested(Metric::Busbw, Statistic::Median, bandwidths(baseline), bandwidths(other)));
    }
  }
  if (baseline.step_sent_bytes && other.step_sent_bytes) {
    rows.push_back(
        counted(Metric::Bytes, "sent per step", *baseline.step_sent_bytes, *other.step_sent_bytes));
  }
  if (baseline.learning && other.learning) {
    compare_learning(*baseline.learning, *other.learning, rows);
  }
  for (std::size_t i = first; i < rows.size(); ++i) rows[i].job = name;
}

const ComparedJob* job_named(const ComparedRun& run, const std::string& name) {
  for (const ComparedJob& job : run.jobs) {
    if (job.name == name) return &job;
  }
  return nullptr;
}

void compare_bytes(const ComparedRun& baseline, const ComparedRun& other, Comparison& into) {
  if (!baseline.wire_bytes || !other.wire_bytes) return;
  into.rows.push_back(
      counted(Metric::Bytes, "on the wire", *baseline.wire_bytes, *other.wire_bytes));
}

}  // namespace

std::string_view name_of(Metric metric) {
  switch (metric) {
    case Metric::Step:
      return "step";
    case Metric::Exchange:
      return "exchange";
    case Metric::Busbw:
      return "busbw";
    case Metric::Bytes:
      return "bytes";
    case Metric::Accuracy:
      return "accuracy";
    case Metric::ToTarget:
      return "to_target";
    case Metric::Staleness:
      return "staleness";
  }
  return "";
}

Metric metric_named(std::string_view name) {
  const auto* const found = std::find_if(kMetrics.begin(), kMetrics.end(),
                                         [&](Metric metric) { return name_of(metric) == name; });
  check(found != kMetrics.end(), "a metric has one of the known names");
  return *found;
}

std::string title(const MetricRow& row) {
  const std::string title = fmt::format("{} {}", name_of(row.metric), row.statistic);
  return row.job.empty() ? title : fmt::format("{} ({})", title, printable(row.job));
}

Comparison compare_runs(const ComparedRun& baseline, const ComparedRun& other,
                        const std::string& path) {
  Comparison comparison{.path = path,
                        .settings = other.settings,
                        .baseline_steps = baseline.jobs.front().step_times_s.size(),
                        .other_steps = other.jobs.front().step_times_s.size(),
                        .differing = differing_settings(baseline.experiment, other.experiment)};
  const auto compare = [&](const ComparedJob& job, const ComparedJob& same,
                           const std::string& name) {
    if (comparison.rows.empty()) {
      comparison.baseline_accounting = job.accounting;
      comparison.other_accounting = same.accounting;
    }
    compare_jobs(job, same, name, comparison.rows);
  };
  if (baseline.jobs.size() == 1 && other.jobs.size() == 1) {
    compare(baseline.jobs.front(), other.jobs.front(), "");
  } else {
    for (const ComparedJob& job : baseline.jobs) {
      const ComparedJob* const same = job_named(other, job.name);
      if (same != nullptr) compare(job, *same, job.name);
    }
  }
  if (comparison.rows.empty()) {
    throw DataError(
        fmt::format("comparing {}: none of its jobs has the name of one of the "
                    "baseline's; name them alike in the experiments",
                    printable(path)));
  }
  compare_bytes(baseline, other, comparison);
  return comparison;
}

std::vector<Comparison> compare_folders(const ComparedFolder& baseline,
                                        const ComparedFolder& other) {
  if (baseline.sweep != other.sweep) {
    throw SpecError(fmt::format(
        "comparing {} with {}: one is a sweep, the other is not; give two runs, two sweeps, or a "
        "point of a sweep ({}/point-000)",
        printable(baseline.path), printable(other.path),
        printable(baseline.sweep ? baseline.path : other.path)));
  }
  if (!baseline.sweep) {
    Comparison found = compare_runs(baseline.runs.front(), other.runs.front(), other.path);
    // One experiment may be measured and simulated; what was captured elsewhere is another anyway.
    const bool is_simulated = baseline.command == "sim" || other.command == "sim";
    if (is_simulated && baseline.command != other.command) {
      found.differing.insert(
          found.differing.begin(),
          {.key = "command", .baseline = baseline.command, .other = other.command});
    }
    return {std::move(found)};
  }
  std::vector<Comparison> comparisons;
  for (const ComparedRun& point : baseline.runs) {
    for (const ComparedRun& candidate : other.runs) {
      if (candidate.settings != point.settings) continue;
      comparisons.push_back(compare_runs(point, candidate, other.path));
    }
  }
  if (comparisons.empty()) {
    throw DataError(
        fmt::format("comparing {} with {}: no point of one has the settings of a point "
                    "of the other; compare sweeps of the same axes",
                    printable(baseline.path), printable(other.path)));
  }
  return comparisons;
}

}  // namespace tw::study
