// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

namespace tw::account {
namespace {

constexpr std::size_t kMostNamed = 3;

struct Unit {
  double per_s;
  std::string_view name;
};

Unit unit_for(double time_s) {
  if (time_s >= 1) return {1, "s"};
  return time_s >= 1e-3 ? Unit{1e3, "ms"} : Unit{1e6, "us"};
}

/// Three digits, whole from 100 on.
std::string number(double time_s, const Unit& unit) {
  const double value = time_s * unit.per_s;
  return std::abs(value) >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
}

/// What parts are called in a list.
std::string_view part_words(const std::string& part) {
  static const std::map<std::string, std::string_view> words = {
      {"bandwidth", "transfer at the links' rate"},
      {"latency", "delay"},
      {"late_rank", "waiting for a late rank"},
      {"slow_link", "waiting behind a slow link"},
      {"loss", "loss and its repair"},
      {"cross_traffic", "cross traffic"},
      {"other_job", "other jobs"},
      {"window", "a small socket buffer"},
      {"idle_restart", "slow start after pauses"}};
  const auto found = words.find(part);
  return found == words.end() ? std::string_view(part) : found->second;
}

std::string gain_text(const Judged& judged, const Cause& cause) {
  if (cause.if_not.empty()) return {};
  std::string text = fmt::format(" {} a step would take {}", cause.if_not,
                                 with_interval(cause.step_s, cause.low_s, cause.high_s));
  if (judged.is_hidden) {
    text += fmt::format(", as {} would take its place",
                        judged.hider.empty() ? "something else" : part_words(judged.hider));
  }
  return text + ".";
}

std::string network_text(const record::Accounting& accounting, const Judged& judged,
                         const Cause& cause) {
  const bool is_all = judged.cost_s >= 0.9 * judged.network_s;
  const std::string costs =
      fmt::format("The network costs {} a step", part_of(judged.network_s, accounting.step_s));
  if (is_all) return fmt::format("{}: {}.", costs, cause.words);
  std::string text =
      fmt::format("{}, {} of that by {}", costs, time_words(judged.cost_s), cause.words);
  if (judged.beside) {
    text += fmt::format(", and about {} by {}", time_words(judged.beside->seconds),
                        part_words(judged.beside->name));
  }
  return text + ".";
}

std::string late_text(const record::Accounting& accounting, const Judged& judged,
                      const Cause& cause) {
  const double share = judged.network_s / accounting.step_s;
  if (share < 0.2) return fmt::format("Not the network: {}.", cause.words);
  return fmt::format("Mostly not the network: {}; the network costs {} a step.", cause.words,
                     part_of(judged.network_s, accounting.step_s));
}

std::string unknown_text(const record::Accounting& accounting, const Judged& judged) {
  const double lost = record::part_s(accounting, "unexplained");
  std::vector<std::string> named;
  for (const record::AccountPart& part : judged.largest) {
    if (named.size() < kMostNamed) {
      named.push_back(fmt::format("{} {}", part_words(part.name), time_words(part.seconds)));
    }
  }
  if (std::abs(lost) > 0.25 * accounting.step_s) {
    return fmt::format(
        "No cause found: {} a step are not explained by what the experiment says of computing and "
        "network.",
        part_of(lost, accounting.step_s));
  }
  return fmt::format("No single cause: of {} a step, {} go to {}.", time_words(accounting.step_s),
                     time_words(accounting.step_s - record::part_s(accounting, "compute")),
                     fmt::join(named, ", "));
}

std::string text_of(const record::Accounting& accounting, const Judged& judged,
                    const Cause& cause) {
  if (judged.cause == "unknown") return unknown_text(accounting, judged);
  if (judged.cause == "compute") {
    return fmt::format("Not the network: computing takes {} a step.",
                       part_of(judged.cost_s, accounting.step_s));
  }
  if (judged.cause == "late_rank") return late_text(accounting, judged, cause);
  return network_text(accounting, judged, cause);
}

}  // namespace

std::string time_words(double time_s) {
  const Unit unit = unit_for(time_s);
  return fmt::format("{} {}", number(time_s, unit), unit.name);
}

std::string part_of(double part_s, double whole_s) {
  const Unit unit = unit_for(whole_s);
  return fmt::format("{} of {} {}", number(part_s, unit), number(whole_s, unit), unit.name);
}

std::string with_interval(double time_s, double low_s, double high_s) {
  const Unit unit = unit_for(time_s);
  return fmt::format("{} {} ({} to {})", number(time_s, unit), unit.name, number(low_s, unit),
                     number(high_s, unit));
}

record::Verdict verdict_of(const record::Accounting& accounting, const Judged& found,
                           const Cause& cause) {
  const Judged judged =
      cause.if_not.empty() ? found : doubted(found, accounting.step_s - cause.step_s);
  record::Verdict verdict{.job = accounting.job,
                          .cause = judged.cause,
                          .where = cause.where,
                          .cost_s = judged.cost_s,
                          .share = accounting.step_s > 0 ? judged.cost_s / accounting.step_s : 0,
                          .confidence = judged.confidence,
                          .text = text_of(accounting, judged, cause) + gain_text(judged, cause)};
  if (!cause.if_not.empty()) {
    verdict.gain_s = accounting.step_s - cause.step_s;
    verdict.gain_ci = {accounting.step_s - cause.high_s, accounting.step_s - cause.low_s};
  }
  return verdict;
}

record::Verdict no_verdict(const std::string& why) {
  return {.cause = "unknown", .text = fmt::format("No verdict: {}.", why)};
}

}  // namespace tw::account
