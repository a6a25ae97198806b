// SPDX-License-Identifier: Apache-2.0
// By how much two series differ, and whether that could be chance.
//
// The statistic of each series gets a standard error from the moving-block bootstrap, so neighbours
// that resemble each other do not count as independent evidence; the logarithm of the ratio of the
// two statistics is then put to Welch's t test, whose degrees of freedom are the numbers of blocks
// (Welch 1947, 10.1093/biomet/34.1-2.28). Logarithms make the answer the same whichever series
// is the baseline, and keep the interval above -100 %.
//
// Limits: it sees two runs, not the spread between runs: what changed from one run to the next
// besides the thing under test (placement, temperature, other tenants) is in the difference.
// Rejected: the percentile interval of the ratio, which is too narrow for the ten to fifty steps
// people run.

#pragma once

#include "trainwire/stats/estimate.h"

#include <span>
#include <string>
#include <string_view>

namespace tw::stats {

enum class Statistic { Mean, Median, P99 };

/// "mean", "median", "p99".
std::string_view name_of(Statistic statistic);

enum class Verdict { Higher, Lower, NoEvidence, TooFew };

/// "higher", "lower", "no_evidence", "too_few": for documents.
std::string_view name_of(Verdict verdict);

/// Of the test, for people.
inline constexpr std::string_view kDifferenceTest =
    "Welch's t test of the log ratio, moving-block bootstrap errors";

struct DifferenceOptions {
  Statistic statistic = Statistic::Mean;
  double confidence = 0.95;
  unsigned seed = 1;
};

struct Difference {
  Estimate baseline;
  Estimate other;
  Estimate relative;   ///< other / baseline - 1; n is that of the shorter series
  double p;            ///< two-sided, of no difference
  std::size_t needed;  ///< values that each series must have for a verdict
  /// TooFew below `needed`, otherwise Higher or Lower when the interval excludes 0.
  Verdict verdict;
};

/// How many values each series must have: 5, and for P99 what values_for_quantile() says.
std::size_t values_for_difference(Statistic statistic, double confidence = 0.95);

/// Deterministic. Cost: 500 resamples of each series, of long ones fewer, but 100 at least. Throws
/// DataError for a value that is not finite or not above 0.
/// REQUIRES: both not empty.
Difference difference(std::span<const double> baseline, std::span<const double> other,
                      const DifferenceOptions& options = {});

/// Words for a metric: higher is "slower" for times, "more" for bytes.
struct Wording {
  std::string_view higher;
  std::string_view lower;
  std::string_view noun;  ///< what the series consist of: "steps"
};

/// "slower by 3.2 % [1.1, 5.4]", "no evidence of a difference", "too few steps to tell (n = 3, 5
/// needed)". The interval is of the amount: of "faster by", too, it is positive.
std::string in_words(const Difference& difference, const Wording& wording);

}  // namespace tw::stats
