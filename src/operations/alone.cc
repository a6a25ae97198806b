// SPDX-License-Identifier: Apache-2.0
#include "trainwire/operations/alone.h"

#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/operations/lateness.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

namespace tw::operations {
namespace {

constexpr double kLittle = 0.1;      ///< of a step
constexpr double kConfidence = 0.6;  ///< other ranks may be in collectives for longer

double seconds(std::int64_t nanos) { return 1e-9 * static_cast<double>(nanos); }
std::string time_text(double time_s) { return readable(from_seconds(time_s)); }

std::vector<Span> spans_of(const Told& file) {
  std::vector<Span> spans;
  if (file.readiness) return spans;  // it says more than when its own rank was in collectives
  for (const Operation& each : file.operations) {
    if (is_timed(each)) spans.push_back({*each.start_ns, *each.end_ns});
  }
  return joined(std::move(spans));
}

struct OfRank {
  double in_s = 0;    ///< in collectives that computing does not hide
  double step_s = 0;  ///< mean, or all the time
  bool has_steps = false;
};

/// Of a mean step where the file tells steps.
OfRank time_of(const Told& file, const std::vector<Span>& spans) {
  std::int64_t in_ns = 0;
  for (const Span& span : spans) in_ns += span.end_ns - span.start_ns;
  OfRank made{.in_s = seconds(in_ns - common_ns(spans, file.computing)),
              .step_s = seconds(spans.back().end_ns - spans.front().start_ns)};
  if (file.steps.empty()) return made;
  const auto count = static_cast<double>(file.steps.size());
  made.step_s = std::accumulate(
                    file.steps.begin(), file.steps.end(), 0.0,
                    [](double sum, const Step& step) { return sum + seconds(step.duration_ns); }) /
                count;
  made.in_s = std::min(made.in_s / count, made.step_s);
  made.has_steps = true;
  return made;
}

int ranks_of(const Told& file) {
  int ranks = file.world_size;
  for (const Operation& each : file.operations) ranks = std::max(ranks, each.group_size);
  return ranks;
}

std::string who_gave(const Told& file, int ranks) {
  const std::string who = fmt::format("rank {}", file.rank.value_or(0));
  return ranks > 1 ? fmt::format("of {} ranks only {} gave a trace", ranks, who)
                   : fmt::format("only {} gave a trace", who);
}

record::Verdict of_file(const Told& file, const std::vector<Span>& spans) {
  const OfRank time = time_of(file, spans);
  const std::string whole = time.has_steps
                                ? fmt::format("a step of {}", time_text(time.step_s))
                                : fmt::format("the {} that it covers", time_text(time.step_s));
  const int rank = file.rank.value_or(0);
  const std::string hidden = file.computing.empty() ? "" : " that computing does not hide";
  if (!file.computing.empty() && time.in_s < kLittle * time.step_s) {
    return {.cause = "compute",
            .cost_s = time.step_s - time.in_s,
            .share = 1 - time.in_s / time.step_s,
            .gain_s = time.in_s,
            .gain_ci = {0, time.in_s},
            .confidence = kConfidence,
            .text = fmt::format("Not the network, as far as one trace tells: of {} rank {} is in "
                                "collectives{} for only {}. Other ranks may be for longer: {}.",
                                whole, rank, hidden, time_text(time.in_s),
                                who_gave(file, ranks_of(file)))};
  }
  return {.cause = "unknown",
          .text = fmt::format("No verdict: {}. It is in collectives{} for {} of {}; whether it "
                              "waits there for others or for the network, the traces of all ranks "
                              "tell.",
                              who_gave(file, ranks_of(file)), hidden, time_text(time.in_s), whole)};
}

}  // namespace

std::optional<record::Verdict> verdict_of_one(const Imported& imported) {
  const Told* only = nullptr;
  std::vector<Span> spans;
  std::set<int> ranks;
  for (const Told& file : imported.told) {
    std::vector<Span> of_file = spans_of(file);
    if (of_file.empty()) continue;
    ranks.insert(file.rank.value_or(-1));
    if (only != nullptr) continue;
    only = &file;
    spans = std::move(of_file);
  }
  if (only == nullptr || spans.back().end_ns <= spans.front().start_ns) return {};
  if (ranks.size() == 1) return of_file(*only, spans);
  return record::Verdict{
      .cause = "unknown",
      .text = fmt::format("No verdict: {} ranks tell when they were in collectives, but no two of "
                          "the same one at the same time; give traces that were recorded together, "
                          "of ranks of one group.",
                          ranks.size())};
}

}  // namespace tw::operations
