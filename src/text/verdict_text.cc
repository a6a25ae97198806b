// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/verdict_text.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace tw::text {
namespace {

constexpr std::size_t kMostJobs = 3;
/// Of the step: what is less is not worth a word.
constexpr double kWorthAWord = 0.005;

constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kParts = {{
    {"compute", "compute"},
    {"bandwidth", "transfer"},
    {"latency", "delay"},
    {"late_rank", "waiting for a late rank"},
    {"slow_link", "waiting behind a slow link"},
    {"loss", "loss and repair"},
    {"cross_traffic", "cross traffic"},
    {"other_job", "other jobs"},
    {"window", "small socket buffer"},
    {"idle_restart", "slow start after pauses"},
    {"unexplained", "not explained"},
}};

std::string time_text(double time_s) {
  return time_s < 0 ? "-" + readable(from_seconds(-time_s)) : readable(from_seconds(time_s));
}

std::string accounting_text(const record::Accounting& accounting) {
  std::vector<std::string> parts;
  for (const record::AccountPart& part : accounting.parts) {
    if (std::abs(part.seconds) < kWorthAWord * accounting.step_s) continue;
    parts.push_back(fmt::format("{} {}", part_words(part.name), time_text(part.seconds)));
  }
  if (parts.empty()) return {};
  std::string text =
      fmt::format("  a step of {}: {}", time_text(accounting.step_s), fmt::join(parts, ", "));
  if (accounting.overlap_s > kWorthAWord * accounting.step_s) {
    text += fmt::format("; {} more hidden by computing", time_text(accounting.overlap_s));
  }
  return text + "\n";
}

std::string lines_of(const record::Verdict& verdict, const record::Accounting* accounting) {
  const std::string whose = verdict.job.empty() ? "" : printable(verdict.job) + ": ";
  std::string text = fmt::format("{}{}\n", whose, printable(verdict.text));
  if (accounting != nullptr) text += accounting_text(*accounting);
  return text;
}

}  // namespace

std::string_view part_words(std::string_view part) {
  for (const auto& [name, words] : kParts) {
    if (name == part) return words;
  }
  return part;
}

std::string verdict_text(const record::Run& run) {
  if (!run.verdict) return {};
  std::string text = lines_of(*run.verdict, run.accounting ? &*run.accounting : nullptr);
  std::size_t told = 1;
  for (const record::Job& job : run.jobs) {
    if (!job.verdict || job.verdict->job == run.verdict->job || told++ >= kMostJobs) continue;
    text += lines_of(*job.verdict, job.accounting ? &*job.accounting : nullptr);
  }
  return text + "\n";
}

}  // namespace tw::text
