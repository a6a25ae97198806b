// SPDX-License-Identifier: Apache-2.0
// Two runs compared, metric by metric.
//
// Times and bus bandwidths are series, tested as stats/difference.h says. Bytes on the wire are
// counts: they have no sampling error, so their difference has no interval and no test. Accuracies are
// shares of a test set: whether they differ beyond chance is told by the two shares' standard errors.

#pragma once

#include "trainwire/stats/difference.h"
#include "trainwire/study/compared_folder.h"
#include "trainwire/study/differing_settings.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::study {

enum class Metric { Step, Exchange, Busbw, Bytes, Accuracy, ToTarget, Staleness };

/// "step", "exchange", "busbw", "bytes", "accuracy", "to_target", as --metric takes them.
std::string_view name_of(Metric metric);
/// REQUIRES: one of the names.
Metric metric_named(std::string_view name);

/// A line of the comparison.
struct MetricRow {
  Metric metric;
  std::string
      statistic;    ///< mean, median, p99; of bytes: on the wire, sent per step; of others in words
  std::string job;  ///< empty when there is one only
  double baseline;  ///< s, bit/s or bytes
  double other;
  double relative;                                   ///< other / baseline - 1
  std::optional<stats::Difference> difference = {};  ///< nothing for counts
  std::string text;                                  ///< the verdict in words
};

/// "step mean", with the job's name when there are several.
std::string title(const MetricRow& row);

struct Comparison {
  std::string path;                        ///< of the other folder
  std::vector<std::string> settings = {};  ///< of both points, of a sweep
  std::size_t baseline_steps = 0;          ///< of the first job
  std::size_t other_steps = 0;
  std::vector<SettingDifference> differing = {};
  std::vector<MetricRow> rows = {};
  /// Of the first job that both have, where both have one.
  std::optional<record::Accounting> baseline_accounting = {};
  std::optional<record::Accounting> other_accounting = {};
};

/// The rows of the metrics that both have. Jobs are matched by name, or are the only ones.
/// Throws DataError when no job matches.
Comparison compare_runs(const ComparedRun& baseline, const ComparedRun& other,
                        const std::string& path);

/// `other` with the baseline: runs with runs, sweeps point by point where settings are equal.
/// Throws SpecError for a run and a sweep, DataError when no point has its equal.
std::vector<Comparison> compare_folders(const ComparedFolder& baseline,
                                        const ComparedFolder& other);

}  // namespace tw::study
