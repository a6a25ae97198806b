// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/completion_times.h"

#include <cstddef>

namespace tw::load {
namespace {

constexpr std::array<std::int64_t, 2> kLimits{100'000, 10'000'000};

std::size_t class_of(std::int64_t bytes) {
  std::size_t at = 0;
  while (at < kLimits.size() && bytes > kLimits[at]) ++at;
  return at;
}

}  // namespace

void CompletionTimes::finish(std::int64_t bytes, Duration time) {
  times_[class_of(bytes)].add(time);
}

void CompletionTimes::censor(std::int64_t bytes) { ++censored_[class_of(bytes)]; }

void CompletionTimes::add(const CompletionTimes& other) {
  for (std::size_t i = 0; i < kClasses; ++i) {
    times_[i].add(other.times_[i]);
    censored_[i] += other.censored_[i];
  }
}

std::vector<CompletionClass> CompletionTimes::classes() const {
  std::vector<CompletionClass> classes(kClasses);
  for (std::size_t i = 0; i < kClasses; ++i) {
    if (i > 0) classes[i].from = Bytes(kLimits[i - 1]);
    if (i < kLimits.size()) classes[i].to = Bytes(kLimits[i]);
    classes[i].n = times_[i].count();
    classes[i].censored = censored_[i];
    classes[i].p50_s = times_[i].quantile(0.5);
    classes[i].p99_s = times_[i].quantile(0.99);
    classes[i].mean_s = times_[i].mean();
  }
  return classes;
}

}  // namespace tw::load
