// SPDX-License-Identifier: Apache-2.0
#include "trainwire/guide/predict_text.h"

#include "trainwire/base/units.h"
#include "trainwire/forecast/errors.h"
#include "trainwire/forecast/range.h"
#include "trainwire/guide/interval_text.h"
#include "trainwire/terminal/chart.h"
#include "trainwire/text/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace tw::guide {
namespace {

constexpr std::size_t kMostRows = 18;
constexpr double kTold = 0.0005;   ///< of a step: less is not worth a word
constexpr double kScatter = 0.01;  ///< per cent of a step that a slope may be off: likewise

std::string time(double s) { return readable(from_seconds(s)); }

std::string between(double low, double high) {
  return fmt::format("{} to {}", time(low), time(high));
}

std::string parts_line(const forecast::JobForecast& job) {
  std::vector<forecast::Part> sorted = job.parts;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  std::string line;
  for (const forecast::Part& part : sorted) {
    if (part.seconds < kTold * job.step.median_s) continue;
    line += fmt::format("{}{} {}", line.empty() ? "" : ", ", text::part_words(part.name),
                        time(part.seconds));
  }
  return line;
}

std::string binding_line(const forecast::Binding& binding) {
  std::string line = std::string(text::part_words(binding.resource));
  if (!binding.where.empty()) line += fmt::format(" ({})", binding.where);
  if (!binding.headroom) return line + " alone";
  return line + fmt::format("; once that is {:.3g} times less, {}", *binding.headroom,
                            text::part_words(binding.next));
}

/// Where computing takes most of a step, but bandwidth changes it by much more than what computing does not hide.
std::string hidden_text(const forecast::JobForecast& job) {
  constexpr double kMuchMore = 2;
  if (job.binding.resource != "compute" || job.step.median_s <= 0) return {};
  const double shown = 1 - job.binding.seconds / job.step.median_s;
  for (const forecast::Elasticity& each : job.elasticities) {
    if (each.of != "bandwidth" || -each.percent <= std::max(kMuchMore * shown, kTold)) continue;
    return fmt::format("; it hides much of an exchange of {}, which a step waits for",
                       time(job.step.exchange_s));
  }
  return {};
}

/// Rounded to parts of 1; -0.001 is 0 then, not -0.
double without_sign_of_zero(double value, double parts) {
  return (std::round(parts * value) + 0.0) / parts;
}

std::string elasticity_line(const std::vector<forecast::Elasticity>& all) {
  std::string line;
  for (const forecast::Elasticity& each : all) {
    const std::string error =
        each.error >= kScatter ? fmt::format(" ± {:.2g}", each.error) : std::string();
    line += fmt::format("{}{} {:+.2f}{} %", line.empty() ? "" : ", ", each.of,
                        without_sign_of_zero(each.percent, 100), error);
  }
  return line;
}

std::string coverage_text(const forecast::StepTime& step) {
  const forecast::Coverage& coverage = forecast::errors().coverage(step.method);
  if (coverage.runs == 0) return "intervals were not checked on other runs";
  return fmt::format("such intervals covered {} of {} runs that were not used ({:.0f} %)",
                     coverage.covered, coverage.runs, 100 * coverage.share());
}

std::string method_line(const forecast::JobForecast& job) {
  std::string line(forecast::name_of(job.step.method));
  if (!job.step.because.empty()) line += fmt::format(", as {}", job.step.because);
  if (job.step.seeds > 1) line += fmt::format("; median of {} seeds", job.step.seeds);
  return line;
}

std::string job_text(const forecast::JobForecast& job, bool named) {
  std::string text = fmt::format(
      "{}a step takes {} ({}, 90 % interval)\n", named ? fmt::format("{}: ", job.name) : "",
      time(job.step.median_s), between(job.interval.low_s, job.interval.high_s));
  if (!job.parts.empty()) {
    text += fmt::format("  made of     {}\n", parts_line(job));
    text += fmt::format("  bound by    {}{}\n", binding_line(job.binding), hidden_text(job));
    text += fmt::format("  1 % more    {} of a step\n", elasticity_line(job.elasticities));
  }
  text += fmt::format("  found by    {}\n", method_line(job));
  text += fmt::format("  interval    {}\n", interval_text(job));
  return text;
}

/// "found by formula (5 rows), flow simulation (1 row)".
std::string methods_line(const std::vector<forecast::StepTime>& steps) {
  constexpr std::array kMethods{forecast::Method::Formula, forecast::Method::Flow,
                                forecast::Method::Packet};
  std::vector<std::string> told;
  for (const forecast::Method method : kMethods) {
    const auto count = std::count_if(steps.begin(), steps.end(),
                                     [&](const auto& step) { return step.method == method; });
    if (count == 0) continue;
    told.push_back(
        fmt::format("{} ({} row{})", forecast::name_of(method), count, count == 1 ? "" : "s"));
  }
  return told.empty() ? std::string() : fmt::format("  found by {}\n", fmt::join(told, ", "));
}

std::string settings_of(const forecast::WhatIf& what) {
  std::string text;
  for (const auto& [key, value] : what.settings) {
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", key, value);
  }
  for (const std::string& setting : what.with) text += fmt::format(" ({})", setting);
  if (!what.remark.empty()) text += fmt::format(" ({})", what.remark);
  return text;
}

std::string what_if_row(const forecast::WhatIf& what, const Predicted& predicted,
                        std::size_t width) {
  const std::string settings = settings_of(what);
  if (!what.problem.empty())
    return fmt::format("  {:<{}}  no answer: {}\n", settings, width, what.problem);
  std::string row = fmt::format("  {:<{}}", settings, width);
  for (std::size_t i = 0; i < what.steps.size(); ++i) {
    const double base = predicted.jobs[std::min(i, predicted.jobs.size() - 1)].step.median_s;
    row += fmt::format("  {:>9}  {:<22} {:>+7.1f} %", time(what.steps[i].median_s),
                       between(what.intervals[i].low_s, what.intervals[i].high_s),
                       without_sign_of_zero(100 * (what.steps[i].median_s / base - 1), 10));
  }
  return row + "\n";
}

std::string what_if_text(const Predicted& predicted) {
  std::vector<const forecast::WhatIf*> rows;
  for (const forecast::WhatIf& what : predicted.what_ifs) rows.push_back(&what);
  const bool cut = rows.size() > kMostRows;
  if (cut) {
    std::stable_sort(rows.begin(), rows.end(), [](const auto* a, const auto* b) {
      const auto of = [](const forecast::WhatIf* what) {
        return what->steps.empty() ? 1e300 : what->steps.front().median_s;
      };
      return of(a) < of(b);
    });
    rows.resize(kMostRows);
  }
  std::size_t width = 0;
  for (const auto* row : rows) width = std::max(width, settings_of(*row).size());
  std::string text =
      cut ? fmt::format("\nwhat if: the fastest {} of {}\n", rows.size(),
                        grouped(static_cast<std::int64_t>(predicted.what_ifs.size())))
          : "\nwhat if\n";
  for (const auto* row : rows) text += what_if_row(*row, predicted, width);
  std::vector<forecast::StepTime> answers;
  for (const forecast::WhatIf& what : predicted.what_ifs) {
    if (!what.steps.empty()) answers.push_back(what.steps.front());
  }
  const forecast::Method method = predicted.jobs.front().step.method;
  const bool is_other = std::any_of(answers.begin(), answers.end(),
                                    [&](const auto& step) { return step.method != method; });
  return text + (is_other ? methods_line(answers) : std::string());
}

std::string ranks_text(const forecast::Ranks& ranks) {
  const auto number = [](const std::optional<int>& value) {
    return value ? grouped(*value) : std::string("none");
  };
  if (ranks.low == ranks.value && ranks.high == ranks.value) return number(ranks.value);
  // Nothing is beyond all that were asked about.
  const auto is_less = [](const std::optional<int>& a, const std::optional<int>& b) {
    return a && (!b || *a < *b);
  };
  const auto [low, high] = std::minmax(ranks.low, ranks.high, is_less);
  return fmt::format("{} ({} to {})", number(ranks.value), number(low), number(high));
}

/// A second: "18,460", "7.25".
std::string samples(double each_s) {
  return each_s < 100 ? fmt::format("{:.3g}", each_s) : grouped(std::llround(each_s));
}

std::string scale_row(const forecast::ScalePoint& point) {
  if (!point.problem.empty())
    return fmt::format("  {:>8}  no answer: {}\n", grouped(point.ranks), point.problem);
  return fmt::format("  {:>8}  {:>9}  {:<22}  {:>11}  {:>6.3g} %  {:.3g} to {:.3g} %\n",
                     grouped(point.ranks), time(point.step.median_s),
                     between(point.interval.low_s, point.interval.high_s),
                     samples(point.throughput), 100 * point.efficiency, 100 * point.efficiency_low,
                     100 * point.efficiency_high);
}

/// Throughput against the logarithm of ranks.
std::string scale_chart(const std::vector<forecast::ScalePoint>& points) {
  std::vector<terminal::ChartPoint> marks;
  for (const forecast::ScalePoint& point : points) {
    if (point.problem.empty())
      marks.push_back({.x = std::log2(point.ranks), .y = point.throughput});
  }
  if (marks.size() < 3) return {};
  std::vector<std::string> lines =
      terminal::chart(marks, [](double) { return 0.0; }, {.width = 50, .height = 6});
  if (lines.empty()) return {};
  lines.back() = fmt::format("{:>9}  {:<40}{:>10}", "ranks", points.front().ranks,
                             grouped(points.back().ranks));
  std::string text = "  samples/s\n";
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// Whether each number of ranks does more than the one before.
bool rises(const std::vector<forecast::ScalePoint>& points) {
  return points.size() > 1 &&
         std::adjacent_find(points.begin(), points.end(), [](const auto& a, const auto& b) {
           return a.throughput >= b.throughput;
         }) == points.end();
}

bool has_several(const std::vector<forecast::ScalePoint>& points) {
  return std::any_of(points.begin(), points.end(), [](const forecast::ScalePoint& point) {
    return point.ranks > 1 && point.problem.empty();
  });
}

std::string scale_text(const forecast::Scaling& scaling) {
  std::string text =
      "\n     ranks       step  90 % interval             samples/s  efficiency, 90 % interval\n";
  for (const forecast::ScalePoint& point : scaling.points) text += scale_row(point);
  std::vector<forecast::StepTime> steps;
  for (const forecast::ScalePoint& point : scaling.points) {
    if (point.problem.empty()) steps.push_back(point.step);
  }
  text += methods_line(steps) + scale_chart(scaling.points);
  if (!has_several(scaling.points)) return text + "one rank waits for nobody\n";
  text += scaling.break_even.value ? fmt::format("faster than one rank alone from {} ranks on",
                                                 ranks_text(scaling.break_even))
                                   : "never faster than one rank alone here";
  text += scaling.turns.value
              ? fmt::format("; most at {} ranks, more of them make it slower",
                            ranks_text(scaling.turns))
              : (rises(scaling.points) ? "; more ranks are faster all the way" : "");
  if (scaling.half.value)
    text += fmt::format("; less than half as efficient beyond {} ranks", ranks_text(scaling.half));
  return text + "\n";
}

/// "11.4 Gbit/s (10.4 Gbit/s to 12.6 Gbit/s)". `ends`: what the interval has where it does not end in the range.
template <typename Words>
std::string bound_text(const forecast::Bound& bound, const Words& words,
                       const std::array<const char*, 2>& ends) {
  if (!bound.low && !bound.high) return words(*bound.value);
  return fmt::format("{} ({} to {})", words(*bound.value),
                     bound.low ? words(*bound.low) : std::string(ends[0]),
                     bound.high ? words(*bound.high) : std::string(ends[1]));
}

std::string goal_text(const forecast::Need& need) {
  const std::string whose = need.job.empty() ? "" : fmt::format(" of {}", need.job);
  if (!need.goal.efficiency) return fmt::format("\na step{} of {}: ", whose, time(need.step_s));
  return fmt::format("\n{:.3g} % efficiency{}, a step of {}: ", 100 * *need.goal.efficiency, whose,
                     time(need.step_s));
}

std::string need_text(const forecast::Need& need) {
  std::string text = goal_text(need);
  if (!need.is_possible) return text + need.problem + "\n";
  const auto rate = [](double bps) { return readable(BitRate(bps)); };
  if (!need.rate_bps.value) return text + "any bandwidth from 1 Mbit/s on is enough\n";
  const char* const had = need.differ ? "; it is reached as links are" : ", which it has";
  text += fmt::format("{} on every link at least{}\n",
                      bound_text(need.rate_bps, rate, {"1 Mbit/s", "more than 1.6 Tbit/s"}),
                      need.is_met ? had : "");
  text +=
      fmt::format("  with {} it bears ", need.is_met ? "what it has" : "a tenth more than that");
  const auto share = [](double loss) { return fmt::format("{:.2g} %", 100 * loss); };
  if (need.delay_s.is_none) {
    text += "no more delay";
  } else {
    text += need.delay_s.value
                ? bound_text(need.delay_s, time, {"none", "more than 1 s"}) + " of delay a link"
                : "a second of delay a link";
  }
  if (need.loss.is_none) {
    text += ", and no loss";
  } else if (!need.loss.value) {
    text += " or 10 % of loss";
  } else {
    text += fmt::format(" or {} of loss", bound_text(need.loss, share, {"none", "more than 10 %"}));
  }
  text += fmt::format("\n  found by {}", forecast::name_of(need.method));
  if (!need.packets_s) return text + "\n";
  return text + fmt::format("; packet by packet a step takes {} at that bandwidth\n",
                            time(*need.packets_s));
}

std::string joined(const std::vector<std::string>& settings) {
  std::string text;
  for (const std::string& setting : settings) text += (text.empty() ? "" : " ") + setting;
  constexpr std::size_t kMost = 64;
  return text.size() > kMost ? text.substr(0, kMost - 3) + "..." : text;
}

std::string advice_text(const forecast::Advice& advice) {
  std::string text =
      "\nwhat else it could do; per cent are of the time for a sample (~: not clearly another)\n";
  const std::size_t shown = std::min(advice.choices.size(), kMostRows);
  for (std::size_t i = 0; i < shown; ++i) {
    const forecast::Choice& choice = advice.choices[i];
    text += fmt::format("  {:<64}  {:>9}  {:<22} {:>+7.1f} %{}\n", joined(choice.settings),
                        time(choice.step.median_s),
                        between(choice.interval.low_s, choice.interval.high_s), 100 * choice.change,
                        choice.clear ? "" : " ~");
  }
  if (shown < advice.choices.size())
    text += fmt::format("  and {} slower ones: --json\n", advice.choices.size() - shown);
  if (!advice.left_out.empty()) text += fmt::format("  left out: {}\n", advice.left_out);
  std::vector<forecast::StepTime> steps;
  for (const forecast::Choice& choice : advice.choices) steps.push_back(choice.step);
  text += methods_line(steps);
  for (const forecast::Crossing& each : advice.crossings) {
    const bool is_ranks = each.of == "ranks";
    const auto value = static_cast<std::int64_t>(each.value);
    text += fmt::format(
        "  {} and {} change places at about {}\n", each.first, each.second,
        is_ranks ? grouped(value) + " ranks" : readable(Bytes(value)) + " of gradients");
  }
  return text;
}

std::string constant_text(const like::Constant& constant) {
  const auto words = [&](double value) {
    if (constant.unit == "s") return time(value);
    if (constant.unit == "bit/s") return readable(BitRate(value));
    if (constant.unit == "bytes") return readable(Bytes(std::llround(value)));
    return fmt::format("{:.4g}{}{}", value, constant.unit.empty() ? "" : " ", constant.unit);
  };
  if (constant.low == constant.high) return words(constant.value);
  return fmt::format("{} ({} to {})", words(constant.value), words(constant.low),
                     words(constant.high));
}

/// What was measured, how far a simulation of it is off, and what the run does not show.
std::string like_text(const like::Fitted& fitted) {
  std::string text;
  for (const like::JobFit& job : fitted.jobs) {
    text += fmt::format(
        "  measured    {} ({} to {}, 95 %) a step of {}; simulated {}, so that what goes beyond "
        "computing is multiplied by {:.3g}\n",
        time(job.step_s), time(job.step_low_s), time(job.step_high_s), job.name,
        time(job.simulated_s), job.factor);
  }
  for (const like::Constant& constant : fitted.constants) {
    std::string_view source = constant.from;
    if (source.starts_with("from ")) source.remove_prefix(5);
    text += fmt::format("  fitted      {}: {}; source: {}\n", constant.name,
                        constant_text(constant), source);
  }
  for (const std::string& sentence : fitted.cannot) {
    text += fmt::format("  not known   {}\n", sentence);
  }
  return text;
}

/// Two digits are enough for what is only a proposal.
BitRate rounded(BitRate rate) {
  const double bps = rate.bits_per_second();
  const double unit = std::pow(10, std::floor(std::log10(bps)) - 1);
  return BitRate(unit * std::round(bps / unit));
}

std::string next_line(const Predicted& predicted) {
  if (predicted.what_ifs.empty() && !predicted.scaling) {
    const forecast::JobForecast& job = predicted.jobs.front();
    return fmt::format(
        "next: trainwire predict {} --what-if network.rate={},{}{}\n", predicted.source,
        exact(rounded(predicted.rate * 2)), exact(rounded(predicted.rate * 4)),
        predicted.may_scale ? fmt::format(" --scale 2..{}", std::max(64, 8 * job.ranks)) : "");
  }
  if (predicted.like) {
    return fmt::format("next: trainwire predict {} --advise for what else the job could do\n",
                       predicted.source);
  }
  return fmt::format(
      "next: trainwire sim {} for what happens inside, trainwire run {} for the truth\n",
      predicted.source, predicted.source);
}

}  // namespace

std::string predict_text(const Predicted& predicted) {
  std::string text = predicted.name.empty() ? std::string() : predicted.name + "\n";
  for (const forecast::JobForecast& job : predicted.jobs) {
    text += job_text(job, predicted.jobs.size() > 1);
  }
  if (predicted.like) text += like_text(*predicted.like);
  text += fmt::format("  valid       {}\n  coverage    {}\n", forecast::range_text(),
                      coverage_text(predicted.jobs.front().step));
  if (predicted.jobs.size() > forecast::kMostWhole) {
    text += fmt::format("  left out    what steps are made of: there are more than {} jobs\n",
                        forecast::kMostWhole);
  }
  if (!predicted.beyond.empty()) text += fmt::format("  FORCED      {}\n", predicted.beyond);
  if (!predicted.what_ifs.empty()) text += what_if_text(predicted);
  if (predicted.scaling) text += scale_text(*predicted.scaling);
  if (predicted.need) text += need_text(*predicted.need);
  if (predicted.advice) text += advice_text(*predicted.advice);
  return text + next_line(predicted);
}

}  // namespace tw::guide
