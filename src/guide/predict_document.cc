// SPDX-License-Identifier: Apache-2.0
#include "trainwire/guide/predict_document.h"

#include "trainwire/forecast/errors.h"
#include "trainwire/forecast/range.h"
#include "trainwire/guide/interval_text.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::guide {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

Json step_of(const forecast::StepTime& step, const forecast::Interval& interval) {
  return {
      {"median_s", step.median_s}, {"ci_low_s", interval.low_s}, {"ci_high_s", interval.high_s}};
}

Json accounting_of(const std::vector<forecast::Part>& parts) {
  Json made = Json::object();
  for (const forecast::Part& part : parts) made[part.name + "_s"] = part.seconds;
  return made;
}

Json binding_of(const forecast::Binding& binding) {
  Json made{{"resource", binding.resource}, {"where", binding.where}, {"seconds", binding.seconds}};
  made["next"] = binding.next.empty() ? Json() : Json(binding.next);
  made["headroom"] = binding.headroom ? Json(*binding.headroom) : Json();
  return made;
}

Json sources_of(const forecast::JobForecast& job) {
  Json made = Json::object();
  for (const IntervalSource& source : interval_sources(job)) made[source.name] = source.width;
  return made;
}

Json coverage_of(const forecast::StepTime& step) {
  const forecast::Coverage& coverage = forecast::errors().coverage(step.method);
  return {{"runs", coverage.runs}, {"covered", coverage.covered}};
}

Json job_of(const forecast::JobForecast& job) {
  Json elasticities = Json::object(), errors = Json::object();
  for (const forecast::Elasticity& each : job.elasticities) {
    elasticities[each.of] = each.percent;
    errors[each.of] = each.error;
  }
  return {{"name", job.name},
          {"strategy", job.strategy},
          {"ranks", job.ranks},
          {"step", step_of(job.step, job.interval)},
          {"compute_s", job.step.compute_s},
          {"alone_s", job.step.alone_s},
          {"error_scale_s", forecast::error_scale(job.step)},
          {"exchange_s", job.step.exchange_s},
          {"accounting", accounting_of(job.parts)},
          {"binding", job.parts.empty() ? Json() : binding_of(job.binding)},
          {"elasticities", elasticities},
          {"elasticity_errors", errors},
          {"method", forecast::name_of(job.step.method)},
          {"because", job.step.because},
          {"regime", forecast::name_of(job.step.regime)},
          {"interval_sources", sources_of(job)},
          {"interval_text", interval_text(job)},
          {"coverage", coverage_of(job.step)}};
}

Json what_if_of(const forecast::WhatIf& what, const std::vector<forecast::JobForecast>& base) {
  Json settings = Json::object();
  for (const auto& [key, value] : what.settings) settings[key] = value;
  Json made{{"settings", settings}};
  if (!what.with.empty()) made["with"] = what.with;
  if (!what.remark.empty()) made["remark"] = what.remark;
  if (!what.problem.empty()) {
    made["problem"] = what.problem;
    return made;
  }
  made["step"] = step_of(what.steps.front(), what.intervals.front());
  made["change"] = what.steps.front().median_s / base.front().step.median_s - 1;
  made["method"] = forecast::name_of(what.steps.front().method);
  if (what.steps.size() > 1) {
    for (std::size_t i = 0; i < what.steps.size(); ++i) {
      made["jobs"].push_back({{"name", base[std::min(i, base.size() - 1)].name},
                              {"step", step_of(what.steps[i], what.intervals[i])}});
    }
  }
  return made;
}

Json scale_of(const forecast::ScalePoint& point) {
  if (!point.problem.empty()) return {{"ranks", point.ranks}, {"problem", point.problem}};
  return {{"ranks", point.ranks},
          {"workers", point.workers},
          {"step", step_of(point.step, point.interval)},
          {"throughput", point.throughput},
          {"throughput_low", point.throughput_low},
          {"throughput_high", point.throughput_high},
          {"efficiency", point.efficiency},
          {"efficiency_low", point.efficiency_low},
          {"efficiency_high", point.efficiency_high},
          {"method", forecast::name_of(point.step.method)}};
}

Json ranks_of(const forecast::Ranks& ranks) {
  if (!ranks.value) return {};
  const auto or_null = [](const std::optional<int>& value) {
    return value ? Json(*value) : Json();
  };
  return {
      {"value", *ranks.value}, {"ci_low", or_null(ranks.low)}, {"ci_high", or_null(ranks.high)}};
}

/// 0 where not even the least will do; null where all of the range does.
Json bound_of(const forecast::Bound& bound) {
  if (bound.is_none) return {{"value", 0}, {"ci_low", nullptr}, {"ci_high", nullptr}};
  if (!bound.value) return {};
  const auto or_null = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  return {
      {"value", *bound.value}, {"ci_low", or_null(bound.low)}, {"ci_high", or_null(bound.high)}};
}

Json need_of(const forecast::Need& need) {
  Json made = Json::object();
  if (!need.job.empty()) made["job"] = need.job;
  if (need.goal.efficiency) made["efficiency"] = *need.goal.efficiency;
  made["step_s"] = need.step_s;
  made["met"] = need.is_met;
  made["possible"] = need.is_possible;
  if (!need.problem.empty()) made["problem"] = need.problem;
  made["rate_bps"] = bound_of(need.rate_bps);
  made["delay_s"] = bound_of(need.delay_s);
  made["loss"] = bound_of(need.loss);
  if (need.is_possible) made["method"] = forecast::name_of(need.method);
  if (need.packets_s) made["packets_step_s"] = *need.packets_s;
  return made;
}

Json choice_of(const forecast::Choice& choice) {
  return {{"kind", choice.kind},
          {"settings", choice.settings},
          {"step", step_of(choice.step, choice.interval)},
          {"workers", choice.workers},
          {"change", choice.change},
          {"clear", choice.clear},
          {"method", forecast::name_of(choice.step.method)}};
}

/// Quoted where CSV needs it.
std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string scale_csv(const forecast::Scaling& scaling) {
  std::string text =
      "ranks,workers,step_s,step_low_s,step_high_s,throughput,throughput_low,throughput_high,"
      "efficiency,"
      "efficiency_low,efficiency_high,method,problem\n";
  for (const forecast::ScalePoint& point : scaling.points) {
    if (!point.problem.empty()) {
      text += fmt::format("{},,,,,,,,,,,,{}\n", point.ranks, cell(point.problem));
      continue;
    }
    text += fmt::format(
        "{},{},{:.9g},{:.9g},{:.9g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{:.6g},{},\n", point.ranks,
        point.workers, point.step.median_s, point.interval.low_s, point.interval.high_s,
        point.throughput, point.throughput_low, point.throughput_high, point.efficiency,
        point.efficiency_low, point.efficiency_high, forecast::name_of(point.step.method));
  }
  return text;
}

Json like_of(const like::Fitted& fitted) {
  Json made{{"jobs", Json::array()}, {"constants", Json::array()}, {"cannot", fitted.cannot}};
  for (const like::JobFit& job : fitted.jobs) {
    made["jobs"].push_back({{"name", job.name},
                            {"measured_s", job.step_s},
                            {"simulated_s", job.simulated_s},
                            {"factor", job.factor},
                            {"factor_low", job.factor_low},
                            {"factor_high", job.factor_high}});
  }
  for (const like::Constant& constant : fitted.constants) {
    made["constants"].push_back({{"name", constant.name},
                                 {"value", constant.value},
                                 {"low", constant.low},
                                 {"high", constant.high},
                                 {"unit", constant.unit},
                                 {"from", constant.from}});
  }
  return made;
}

}  // namespace

Json predict_document(const Predicted& predicted) {
  Json document{{"schema", kSchema}, {"name", predicted.name}};
  if (predicted.like) document["like"] = like_of(*predicted.like);
  document["jobs"] = Json::array();
  for (const forecast::JobForecast& job : predicted.jobs) document["jobs"].push_back(job_of(job));
  const forecast::JobForecast& first = predicted.jobs.front();
  document["accounting"] = accounting_of(first.parts);
  document["binding"] = first.parts.empty() ? Json() : binding_of(first.binding);
  document["method"] = forecast::name_of(first.step.method);
  document["valid"] = {{"range", forecast::range_text()}, {"beyond", predicted.beyond}};
  document["coverage"] = coverage_of(first.step);
  for (const forecast::WhatIf& what : predicted.what_ifs) {
    document["what_if"].push_back(what_if_of(what, predicted.jobs));
  }
  if (const auto& scaling = predicted.scaling) {
    for (const forecast::ScalePoint& point : scaling->points) {
      document["scale"].push_back(scale_of(point));
    }
    document["break_even_ranks"] = ranks_of(scaling->break_even);
    document["turning_ranks"] = ranks_of(scaling->turns);
    document["half_efficient_ranks"] = ranks_of(scaling->half);
  }
  if (predicted.need) document["need"] = need_of(*predicted.need);
  if (const auto& advice = predicted.advice) {
    document["advice"] = Json::array();
    for (const forecast::Choice& choice : advice->choices) {
      document["advice"].push_back(choice_of(choice));
    }
    if (!advice->left_out.empty()) document["advice_left_out"] = advice->left_out;
    document["crossings"] = Json::array();
    for (const forecast::Crossing& each : advice->crossings) {
      document["crossings"].push_back(
          {{"first", each.first}, {"second", each.second}, {"of", each.of}, {"value", each.value}});
    }
  }
  return document;
}

std::string predict_csv(const Predicted& predicted) {
  if (predicted.scaling) return scale_csv(*predicted.scaling);
  std::string text;
  if (predicted.what_ifs.empty()) return text;
  const bool is_one = predicted.jobs.size() == 1;
  for (const auto& [key, value] : predicted.what_ifs.front().settings) text += cell(key) + ",";
  text += is_one ? "" : "job,";
  text += "step_s,step_low_s,step_high_s,method,problem\n";
  for (const forecast::WhatIf& what : predicted.what_ifs) {
    std::string settings;
    for (const auto& [key, value] : what.settings) settings += cell(value) + ",";
    for (std::size_t i = 0; i < what.steps.size(); ++i) {
      const auto& job = predicted.jobs[std::min(i, predicted.jobs.size() - 1)];
      text += fmt::format("{}{}{:.9g},{:.9g},{:.9g},{},\n", settings,
                          is_one ? "" : cell(job.name) + ",", what.steps[i].median_s,
                          what.intervals[i].low_s, what.intervals[i].high_s,
                          forecast::name_of(what.steps[i].method));
    }
    if (what.problem.empty()) continue;
    text += fmt::format("{}{},,,,{}\n", settings, is_one ? "" : ",", cell(what.problem));
  }
  return text;
}

}  // namespace tw::guide
