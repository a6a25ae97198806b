// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/confidence.h"

#include <algorithm>
#include <cmath>

namespace tw::diagnose {
namespace {

constexpr double kLeast = 0.02;  ///< claims that are surer, either way, are too few to be judged

/// Log-odds of being right over those of the score.
struct Line {
  double offset;
  double slope;
};

Line line_of(Claim claim) {
  switch (claim) {
    case Claim::Steps:
      return {0.75, 0.9};
    case Claim::Strategy:
      return {-0.25, 1.7};
    case Claim::Bytes:
      return {0.7, 0.6};
    case Claim::SlowLink:
      return {2, 1};  // too few to know a slope
    case Claim::Straggler:
      return {0, 1};
  }
  return {0, 1};
}

}  // namespace

double confidence(Claim claim, double score) {
  const double p = std::clamp(score, 0.001, 0.999);
  const auto [offset, slope] = line_of(claim);
  const double odds = offset + slope * std::log(p / (1 - p));
  return std::clamp(1 / (1 + std::exp(-odds)), kLeast, 1 - kLeast);
}

}  // namespace tw::diagnose
