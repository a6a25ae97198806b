// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/judge.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace tw::account {
namespace {

constexpr double kUnexplained = 0.25;  ///< of the step
constexpr double kAvoidable = 0.1;     ///< of the step
constexpr double kOfExcess = 0.25;
constexpr double kAtTheLowEnd = 0.75;  ///< of both
constexpr double kAhead = 1.25;        ///< of the next part
constexpr double kLittle = 0.2;        ///< of the step: then it is computing
constexpr double kInherent = 0.4;      ///< of the excess
constexpr double kMostSure = 0.99;
constexpr double kMostDoubt = 0.8;
constexpr double kMostOfTwo = 0.45;  ///< where another cause may be as much to blame
constexpr double kGained = 0.5;      ///< of a part: less where others take its place

using Parts = std::vector<record::AccountPart>;

bool is_inherent(const std::string& part) { return part == "bandwidth" || part == "latency"; }

/// All but computing, the largest first.
Parts excess_parts(const record::Accounting& accounting) {
  Parts parts;
  for (const record::AccountPart& part : accounting.parts) {
    if (part.name != "compute" && part.name != "unexplained" && part.seconds > 0) {
      parts.push_back(part);
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return parts;
}

/// Those that every network has, or the others.
Parts only(const Parts& parts, bool inherent) {
  Parts chosen;
  std::copy_if(parts.begin(), parts.end(), std::back_inserter(chosen),
               [&](const auto& part) { return is_inherent(part.name) == inherent; });
  return chosen;
}

double sum_of(const Parts& parts) {
  double sum = 0;
  for (const record::AccountPart& part : parts) sum += part.seconds;
  return sum;
}

/// From which a part that could be avoided is a cause.
double least_of_cause(double excess_s, double step_s) {
  return std::max(kAvoidable * step_s, kOfExcess * excess_s);
}

bool is_named(const Parts& avoidable, double excess_s, double step_s) {
  if (avoidable.empty()) return false;
  const record::AccountPart& first = avoidable.front();
  const double least_s = least_of_cause(excess_s, step_s);
  return first.seconds >= least_s && first.low_s >= kAtTheLowEnd * least_s &&
         (avoidable.size() == 1 || first.seconds >= kAhead * avoidable[1].seconds);
}

double confidence_of(double share, double disagreement) {
  return std::min(kMostSure, share * (1 - std::min(kMostDoubt, std::abs(disagreement))));
}

}  // namespace

bool is_of_network(const std::string& part) {
  return part != "compute" && part != "late_rank" && part != "unexplained";
}

Judged judged(const record::Accounting& accounting, double disagreement) {
  Judged made{.cause = "unknown", .largest = excess_parts(accounting)};
  for (const record::AccountPart& part : accounting.parts) {
    if (is_of_network(part.name)) made.network_s += part.seconds;
  }
  const double step_s = accounting.step_s;
  const double compute_s = record::part_s(accounting, "compute");
  const double excess_s = step_s - compute_s;
  if (step_s <= 0 || std::abs(record::part_s(accounting, "unexplained")) > kUnexplained * step_s) {
    return made;
  }
  const auto name = [&](const std::string& cause, double cost_s, double of_s) {
    made.cause = cause;
    made.cost_s = cost_s;
    made.confidence = confidence_of(cost_s / of_s, disagreement);
  };
  const Parts avoidable = only(made.largest, false);
  const Parts inherent = only(made.largest, true);
  if (is_named(avoidable, excess_s, step_s)) {
    name(avoidable.front().name, avoidable.front().seconds, sum_of(avoidable));
  } else if (excess_s < kLittle * step_s) {
    name("compute", compute_s, step_s);
  } else if (!inherent.empty() && inherent.front().seconds >= kInherent * excess_s) {
    name(inherent.front().name, inherent.front().seconds, excess_s);
    if (!avoidable.empty() && avoidable.front().seconds >= least_of_cause(excess_s, step_s)) {
      made.beside = avoidable.front();
      made.confidence = std::min(made.confidence, kMostOfTwo);
    }
  }
  return made;
}

Judged doubted(Judged found, double gain_s) {
  const auto is_cause = [&](const auto& part) { return part.name == found.cause; };
  const Parts& parts = found.largest;
  if (std::none_of(parts.begin(), parts.end(), is_cause)) return found;
  const bool inherent = is_inherent(found.cause);
  const double promised_s = inherent ? found.cost_s / 2 : found.cost_s;
  if (gain_s >= kGained * promised_s) return found;
  found.is_hidden = true;
  found.confidence = std::min(found.confidence, kMostOfTwo);
  const Parts others = inherent ? parts : only(parts, false);
  const auto next = std::find_if_not(others.begin(), others.end(), is_cause);
  if (next != others.end()) found.hider = next->name;
  return found;
}

}  // namespace tw::account
