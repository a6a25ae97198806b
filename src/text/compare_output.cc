// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/compare_output.h"

#include "trainwire/base/bus_text.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/text/verdict_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace tw::text {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostSettings = 6;
constexpr std::size_t kMostLines = 20;  ///< of rows: with all around them no more than 30

std::string shown(study::Metric metric, double value) {
  switch (metric) {
    case study::Metric::Step:
    case study::Metric::Exchange:
    case study::Metric::ToTarget:
      return readable(from_seconds(value));
    case study::Metric::Accuracy:
      return fmt::format("{:.2f} %", 100 * value);
    case study::Metric::Busbw:
      return bus_text(value);
    case study::Metric::Staleness:
      return fmt::format("{:.2f} updates", value);
    case study::Metric::Bytes:
      return readable(Bytes(std::llround(value)));
  }
  return {};
}

/// "453.8 ms ±0.3 %": the longer arm of the interval.
std::string shown(study::Metric metric, const stats::Estimate& estimate) {
  const double arm = std::max(estimate.high - estimate.value, estimate.value - estimate.low);
  const double percent = 100 * arm / estimate.value;
  return fmt::format("{} ±{:.{}f} %", shown(metric, estimate.value), percent,
                     percent >= 10 ? 0 : 1);
}

std::string p_text(double p) { return p < 0.001 ? "p < 0.001" : fmt::format("p = {:.2g}", p); }

/// The verdict, its interval when the words do not give it, and p.
std::string verdict(const study::MetricRow& row) {
  if (!row.difference || row.difference->verdict == stats::Verdict::TooFew) return row.text;
  const stats::Difference& found = *row.difference;
  if (found.verdict != stats::Verdict::NoEvidence) {
    return fmt::format("{}, {}", row.text, p_text(found.p));
  }
  return fmt::format("{}: {:+.1f} % [{:+.1f}, {:+.1f}], {}", row.text, 100 * found.relative.value,
                     100 * found.relative.low, 100 * found.relative.high, p_text(found.p));
}

struct Line {
  std::string title;
  std::string baseline;
  std::string other;
  std::string verdict;
};

Line line_of(const study::MetricRow& row, std::string title) {
  Line line{.title = std::move(title),
            .baseline = shown(row.metric, row.baseline),
            .other = shown(row.metric, row.other),
            .verdict = verdict(row)};
  // Of too few values an interval would promise more than it holds.
  if (row.difference && row.difference->verdict != stats::Verdict::TooFew) {
    line.baseline = shown(row.metric, row.difference->baseline);
    line.other = shown(row.metric, row.difference->other);
  }
  return line;
}

std::string padded(const std::string& text, std::size_t width) {
  return text + std::string(width - std::min(width, width_of(text)), ' ');
}

/// Columns as wide as they need to be; lines beyond kMostLines are counted only.
std::string table(const std::vector<Line>& lines) {
  std::size_t title = 0;
  std::size_t baseline = 0;
  std::size_t other = 0;
  for (const Line& line : lines) {
    title = std::max(title, width_of(line.title));
    baseline = std::max(baseline, width_of(line.baseline));
    other = std::max(other, width_of(line.other));
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), kMostLines); ++i) {
    const Line& line = lines[i];
    text += fmt::format("{}  {}  {}  {}\n", padded(line.title, title),
                        padded(line.baseline, baseline), padded(line.other, other), line.verdict);
  }
  if (lines.size() > kMostLines) {
    text += fmt::format("and {} more: --json has them\n", lines.size() - kMostLines);
  }
  return text;
}

std::string settings_text(const std::vector<study::SettingDifference>& differing) {
  std::string text;
  for (std::size_t i = 0; i < std::min(differing.size(), kMostSettings); ++i) {
    text += fmt::format("  {}: {} -> {}\n", differing[i].key, differing[i].baseline,
                        differing[i].other);
  }
  if (differing.size() > kMostSettings) {
    text += fmt::format("  and {} more\n", differing.size() - kMostSettings);
  }
  return text;
}

std::string label(const study::Comparison& comparison) {
  if (comparison.settings.empty()) return printable(comparison.path);
  return printable(fmt::format("{}", fmt::join(comparison.settings, " ")));
}

std::string next_step(const CompareView& view) {
  bool few = false;
  for (const study::Comparison& comparison : view.comparisons) {
    const study::MetricRow& row = comparison.rows.front();
    few = few || (row.difference && row.difference->verdict == stats::Verdict::TooFew);
  }
  if (few) return "Next: more steps in each run, --set job.steps=50";
  if (!view.limit) return "Next: --fail-if '+3%' makes it a test; --json has every number";
  return "Next: `trainwire show EXPERIMENT` explains a setting; --json has every number";
}

/// A part of the difference that is worth a word, of all of it.
constexpr double kMostly = 0.4;

/// Packets, and traces, show that bytes move and not what of it a slower link costs: all of it is then "slow_link" where one
/// was found, and "bandwidth" where none was.
constexpr std::array<std::string_view, 2> kTransfer{"bandwidth", "slow_link"};

bool is_transfer(std::string_view part) {
  return std::ranges::find(kTransfer, part) != kTransfer.end();
}

/// Whether each of the two has all of its transfer under one name.
bool are_unsplit(const record::Accounting& before, const record::Accounting& after) {
  return std::ranges::none_of(std::array{&before, &after}, [](const record::Accounting* each) {
    return part_s(*each, kTransfer[0]) > 0 && part_s(*each, kTransfer[1]) > 0;
  });
}

/// What a part takes; of transfer that is not split, all of it.
double compared_s(const record::Accounting& accounting, std::string_view part, bool unsplit) {
  if (!unsplit || !is_transfer(part)) return part_s(accounting, part);
  double sum_s = 0;
  for (const std::string_view each : kTransfer) sum_s += part_s(accounting, each);
  return sum_s;
}

/// The part that grew or shrank most, in words; "" where no part explains enough.
std::string main_part(const study::Comparison& comparison, double more_s) {
  if (!comparison.baseline_accounting || !comparison.other_accounting) return {};
  const record::Accounting& before = *comparison.baseline_accounting;
  const record::Accounting& after = *comparison.other_accounting;
  const bool unsplit = are_unsplit(before, after);
  std::string most;
  double most_s = 0;
  // Of two names for all transfer, the slower run's says why.
  const bool is_worse = more_s > 0;
  for (const record::Accounting* accounting :
       {is_worse ? &after : &before, is_worse ? &before : &after}) {
    for (const record::AccountPart& part : accounting->parts) {
      const double of_part_s =
          compared_s(after, part.name, unsplit) - compared_s(before, part.name, unsplit);
      if (of_part_s * more_s <= 0 || std::abs(of_part_s) <= std::abs(most_s)) continue;
      most = part.name;
      most_s = of_part_s;
    }
  }
  if (std::abs(most_s) < kMostly * std::abs(more_s)) return {};
  // Parts have names of one thing and of several, with articles and without: no verb suits all.
  return fmt::format(" ({} {}{})", part_words(most), most_s > 0 ? "+" : "-",
                     shown(study::Metric::Step, std::abs(most_s)));
}

/// What came of it, in one sentence.
std::string sentence(const study::Comparison& comparison) {
  const study::MetricRow& row = comparison.rows.front();
  if (row.metric != study::Metric::Step) return {};
  const std::string whose = row.job.empty() ? "" : fmt::format(" of {}", printable(row.job));
  if (!row.difference || row.difference->verdict == stats::Verdict::TooFew ||
      row.difference->verdict == stats::Verdict::NoEvidence) {
    return fmt::format("No difference of steps{} is sure: {} and {}.", whose,
                       shown(row.metric, row.baseline), shown(row.metric, row.other));
  }
  return fmt::format("A step{} takes {} instead of {}, {:+.0f} %{}.", whose,
                     shown(row.metric, row.other), shown(row.metric, row.baseline),
                     100 * row.relative, main_part(comparison, row.other - row.baseline));
}

std::string one_in_full(const CompareView& view) {
  const study::Comparison& comparison = view.comparisons.front();
  const std::string first = sentence(comparison);
  std::string text = first.empty() ? "" : first + "\n\n";
  text += fmt::format("baseline  {}, {} steps\nother     {}, {} steps\n", printable(view.baseline),
                      comparison.baseline_steps, label(comparison), comparison.other_steps);
  if (!comparison.differing.empty()) {
    text += "settings that differ\n" + settings_text(comparison.differing);
  }
  std::vector<Line> lines{{"metric", "baseline", "other", "verdict"}};
  for (const study::MetricRow& row : comparison.rows) lines.push_back(line_of(row, title(row)));
  return text + "\n" + table(lines);
}

std::string one_line_each(const CompareView& view) {
  const std::string metric = title(view.comparisons.front().rows.front());
  std::vector<Line> lines{{metric, "baseline", "other", "verdict"}};
  for (const study::Comparison& comparison : view.comparisons) {
    lines.push_back(line_of(comparison.rows.front(), cut(label(comparison), 40)));
  }
  return fmt::format("baseline  {}\n\n{}", printable(view.baseline), table(lines));
}

ordered_json estimate_document(const stats::Estimate& estimate) {
  return {{"value", estimate.value},
          {"ci_low", estimate.low},
          {"ci_high", estimate.high},
          {"n", estimate.n}};
}

ordered_json row_document(const study::MetricRow& row) {
  ordered_json document{{"metric", name_of(row.metric)},
                        {"statistic", row.statistic},
                        {"job", row.job.empty() ? ordered_json() : ordered_json(row.job)},
                        {"unit", row.metric == study::Metric::Bytes      ? "bytes"
                                 : row.metric == study::Metric::Busbw    ? "bit/s"
                                 : row.metric == study::Metric::Accuracy ? "share"
                                                                         : "s"}};
  if (!row.difference) {
    document["baseline"] = {{"value", row.baseline}};
    document["other"] = {{"value", row.other}};
    document["relative"] = {{"value", row.relative}};
    document["test"] = nullptr;
    document["verdict"] = row.relative > 0 ? "higher" : row.relative < 0 ? "lower" : "same";
  } else {
    document["baseline"] = estimate_document(row.difference->baseline);
    document["other"] = estimate_document(row.difference->other);
    document["relative"] = estimate_document(row.difference->relative);
    document["test"] = stats::kDifferenceTest;
    document["p"] = row.difference->p;
    document["verdict"] = stats::name_of(row.difference->verdict);
  }
  document["text"] = row.text;
  return document;
}

ordered_json comparison_document(const study::Comparison& comparison) {
  ordered_json document{
      {"run", comparison.path},          {"text", sentence(comparison)},
      {"settings", comparison.settings}, {"baseline_steps", comparison.baseline_steps},
      {"steps", comparison.other_steps}, {"differing_settings", ordered_json::array()},
      {"metrics", ordered_json::array()}};
  for (const study::SettingDifference& each : comparison.differing) {
    document["differing_settings"].push_back(
        {{"key", each.key}, {"baseline", each.baseline}, {"other", each.other}});
  }
  for (const study::MetricRow& row : comparison.rows)
    document["metrics"].push_back(row_document(row));
  return document;
}

}  // namespace

std::string compare_text(const CompareView& view) {
  std::string body = view.comparisons.size() == 1 ? one_in_full(view) : one_line_each(view);
  for (const Doubt& doubt : view.doubts) {
    body +=
        fmt::format("not to be relied on: {}: {}\n", printable(doubt.path), printable(doubt.text));
  }
  return fmt::format("{}\n95 % intervals; test: {}\n{}\n", body, stats::kDifferenceTest,
                     next_step(view));
}

ordered_json compare_document(const CompareView& view) {
  ordered_json document{{"schema", 1},
                        {"command", "compare"},
                        {"baseline", view.baseline},
                        {"confidence", 0.95},
                        {"comparisons", ordered_json::array()},
                        {"fail_if", nullptr}};
  for (const study::Comparison& comparison : view.comparisons) {
    document["comparisons"].push_back(comparison_document(comparison));
  }
  document["doubts"] = ordered_json::array();
  for (const Doubt& doubt : view.doubts) {
    document["doubts"].push_back({{"run", doubt.path}, {"text", doubt.text}});
  }
  if (!view.limit) return document;
  document["fail_if"] = {{"limit", view.limit->text}, {"failed", ordered_json::array()}};
  for (const FailedRow& row : view.failed) {
    document["fail_if"]["failed"].push_back(
        {{"run", row.path}, {"settings", row.settings}, {"metric", row.title}, {"text", row.text}});
  }
  return document;
}

}  // namespace tw::text
