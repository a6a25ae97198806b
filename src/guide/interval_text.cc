// SPDX-License-Identifier: Apache-2.0
#include "trainwire/guide/interval_text.h"

#include "trainwire/forecast/errors.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace tw::guide {
namespace {

constexpr double kTold = 1e-3;
constexpr double kDecimals = 1e4;

/// Of a factor's logarithm, as much as it says: "7.3 %", "0.4 %", "25 %".
std::string percent(double width) {
  const double share = 100 * (std::exp(width) - 1);
  return fmt::format("{:.{}f} %", share, share < 9.95 ? 1 : 0);
}

std::string form_words(const forecast::StepTime& step) {
  const int runs = forecast::errors().runs_of(step.method, step.regime);
  std::string more;
  if (step.marks > 0) more = ", and packets that switches mark early, of which flows know nothing";
  if (step.overflowing > 0) more += ", and timeouts where queues overflow";
  if (runs == 0) return "the model's form, which no run was held against" + more;
  return fmt::format("the model's form, as {} measured jobs like this ({}) were off{}", runs,
                     forecast::name_of(step.regime), more);
}

}  // namespace

std::vector<IntervalSource> interval_sources(const forecast::JobForecast& job) {
  const forecast::Sources& sources = job.interval.sources;
  std::vector<IntervalSource> all;
  const auto add = [&](const char* name, std::string words, double width) {
    if (width < kTold) return;
    all.push_back({.name = name,
                   .words = std::move(words),
                   .width = std::round(kDecimals * width) / kDecimals});
  };
  add("form", form_words(job.step), sources.form);
  add("noise", fmt::format("chance, by {} seeds", job.step.seeds), sources.noise);
  add("extrapolation", "hosts and rates beyond what was measured", sources.extrapolation);
  add("constants", "what was fitted from the run", sources.constants);
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.width > b.width; });
  return all;
}

std::string interval_text(const forecast::JobForecast& job) {
  const std::vector<IntervalSource> sources = interval_sources(job);
  if (job.step.exchange_s == 0 && sources.empty()) return "nothing is exchanged";
  if (sources.empty()) return "what the network takes is known to less than 0.1 %";
  std::vector<std::string> told;
  for (const IntervalSource& source : sources) {
    told.push_back(sources.size() > 1 ? fmt::format("{} {}", percent(source.width), source.words)
                                      : source.words);
  }
  return fmt::format("what the network takes is known to {}: {}",
                     percent(job.interval.sources.all()), fmt::join(told, "; "));
}

}  // namespace tw::guide
