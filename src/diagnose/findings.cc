// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/findings.h"

#include "trainwire/base/units.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/diagnose/finding_kinds.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::diagnose {
namespace {

constexpr std::size_t kMostFindings = 7;
constexpr std::size_t kMostNames = 8;
constexpr double kSure = 0.75;
constexpr double kWorthAFinding = 0.05;  ///< probability of another reading of the steps

std::string time_text(double s) { return readable(from_seconds(s)); }
std::string size_text(double bytes) { return readable(Bytes(std::llround(bytes))); }

std::string guessed(double confidence) { return confidence < kSure ? " (guessed)" : ""; }

std::string in_words(const std::string& name) {
  const collective::Strategy* strategy = collective::find_strategy(name);
  const bool is_served = strategy != nullptr && strategy->has_servers;
  std::string text(is_served ? collective::name_of(strategy->operation) : name);
  std::replace(text.begin(), text.end(), '_', ' ');
  return text;
}

/// What it moves. Sharded training gathers the parameters that it has sharded.
std::string_view moved(const Collective& collective) {
  if (collective.operation == kAllGather) return "sharded parameters";
  const bool is_all_to_all =
      collective.operation == collective::name_of(collective::Operation::AllToAll);
  return is_all_to_all ? "payload" : "gradients";
}

std::string placed(const Collective& collective) {
  const std::size_t n = collective.order.size();
  const std::string name = in_words(collective.strategy);
  switch (collective::shape_of(collective.strategy)) {
    case collective::Shape::Ring:
      return fmt::format("{} of {}: {}", name, n, arrow_chain(collective.order));
    case collective::Shape::Tree:
      return fmt::format("{} of {} under {}", name, n, collective.order.front());
    case collective::Shape::Any:
      break;
  }
  return fmt::format("{} of {} hosts", name, n);
}

void add_bottleneck(std::vector<Finding>& findings, const Analysis& analysis) {
  if (!analysis.bottleneck) return;
  const Bottleneck& slow = *analysis.bottleneck;
  findings.push_back({fmt::format("{}→{} is the slow link, at {}{}: {}; every host waits for it",
                                  slow.from, slow.to, readable(BitRate(slow.rate_bps)),
                                  guessed(slow.confidence), slow.evidence),
                      Severity::Warning, std::string(kSlowLink)});
}

void add_straggler(std::vector<Finding>& findings, const Analysis& analysis) {
  if (!analysis.straggler) return;
  const Straggler& late = *analysis.straggler;
  findings.push_back(
      {fmt::format("{} starts {} late{}: {}; the network is idle meanwhile", late.host,
                   time_text(late.delay_s), guessed(late.confidence), late.evidence),
       Severity::Warning, std::string(kStraggler)});
}

std::string interval_text(const Iterations& iterations) {
  if (!iterations.ci_low_s || !iterations.ci_high_s) return {};
  return fmt::format(" (95 % interval {} to {})", time_text(*iterations.ci_low_s),
                     time_text(*iterations.ci_high_s));
}

void add_summary(std::vector<Finding>& findings, const Analysis& analysis,
                 const std::string& unknown) {
  const Iterations& iterations = analysis.iterations;
  if (iterations.steps.empty()) return;
  std::string text = fmt::format("{} iterations of {}{}{}", iterations.steps.size(),
                                 time_text(iterations.median_s), interval_text(iterations),
                                 guessed(iterations.confidence));
  if (!analysis.collectives.empty()) {
    const Collective& main = analysis.collectives.front();
    text += fmt::format("; {} of {} in each, {}{}",
                        size_text(static_cast<double>(main.operation == kAllGather
                                                          ? analysis.model_bytes.value_or(0)
                                                          : main.bytes_per_iteration)),
                        moved(main), placed(main), guessed(main.confidence));
  } else {
    text += "; " + unknown;
  }
  findings.push_back({std::move(text), Severity::Info, std::string(kSteps)});
}

void add_other_reading(std::vector<Finding>& findings, const Analysis& analysis) {
  const Iterations& iterations = analysis.iterations;
  if (!iterations.other || iterations.other->probability < kWorthAFinding) return;
  findings.push_back(
      {fmt::format("the packets could also be {:.0f} iterations of {} (probability {:.2f}): a log "
                   "of the steps decides it",
                   iterations.other->count, time_text(iterations.other->median_s),
                   iterations.other->probability),
       Severity::Notice, std::string(kOtherReading)});
}

void add_share(std::vector<Finding>& findings, const Analysis& analysis) {
  const Iterations& iterations = analysis.iterations;
  if (iterations.steps.empty() || iterations.median_s <= 0) return;
  // Exchanges of hosts that are not in step overlap, and may last longer than an iteration.
  const double part = std::min(iterations.exchange_s / iterations.median_s, 1.0);
  const std::string waiting =
      analysis.straggler
          ? fmt::format(", up to {} of that waiting for {}", time_text(analysis.straggler->delay_s),
                        analysis.straggler->host)
          : "";
  findings.push_back(
      {fmt::format(
           "an exchange takes {} from its first byte to its last, {:.0f} % of an iteration{}; "
           "for {} of an iteration nothing of it is on the wire",
           time_text(iterations.exchange_s), 100 * part, waiting,
           time_text(iterations.compute_gap_s)),
       part > 0.5 ? Severity::Notice : Severity::Info, std::string(kExchangeShare)});
}

void add_first_step(std::vector<Finding>& findings, const Analysis& analysis) {
  const Iterations& iterations = analysis.iterations;
  if (!iterations.first_untypical || iterations.from_log) return;
  const Iteration& first = iterations.steps.front();
  findings.push_back(
      {fmt::format(
           "the first iteration is not typical: its exchange takes {}, later ones {}",
           time_text(static_cast<double>(first.exchange_end_ns - first.exchange_start_ns) * 1e-9),
           time_text(iterations.exchange_s)),
       Severity::Info, std::string(kFirstStep)});
}

void add_broadcast(std::vector<Finding>& findings, const Analysis& analysis) {
  for (const Collective& collective : analysis.collectives) {
    if (collective.operation != "broadcast") continue;
    findings.push_back(
        {fmt::format(
             "before the first iteration {} goes from {} to {} others: it is probably rank 0",
             size_text(static_cast<double>(collective.bytes_per_iteration)),
             collective.order.front(), collective.order.size() - 1),
         Severity::Info, std::string(kFirstModel)});
  }
}

void add_losses(std::vector<Finding>& findings, const gather::Captured& traffic) {
  std::uint64_t repeated = 0;
  std::uint64_t payload = 0;
  bool is_shared = false;
  for (const flow::Flow& flow : traffic.flows) {
    is_shared = is_shared || flow.cross;
    if (flow.cross) continue;
    repeated += flow.retransmitted_bytes + flow.recovered_bytes;
    payload += flow.payload_bytes;
  }
  if (payload == 0 || 1000 * repeated < payload) return;
  findings.push_back(
      {fmt::format("{:.2f} % of the {} ({}) was sent again",
                   100 * static_cast<double>(repeated) / static_cast<double>(payload),
                   is_shared ? "job's payload" : "payload",
                   size_text(static_cast<double>(repeated))),
       Severity::Warning, std::string(kSentAgain)});
}

void add_other_traffic(std::vector<Finding>& findings, const Analysis& analysis,
                       const gather::Captured& traffic) {
  if (analysis.iterations.steps.empty()) return;
  double gradient = 0;
  double other = 0;
  for (std::size_t i = 0; i < traffic.flows.size(); ++i) {
    const auto bytes = static_cast<double>(traffic.flows[i].stream_bytes());
    if (analysis.classes[i] == FlowClass::Cross) continue;
    (analysis.classes[i] == FlowClass::Gradient ? gradient : other) += bytes;
  }
  // Without a strategy that is known nobody can say what is part of an exchange.
  if (gradient == 0 || other < 0.02 * (gradient + other)) return;
  findings.push_back({fmt::format("{} ({:.1f} % of the bytes) are not part of the exchanges",
                                  size_text(other), 100 * other / (gradient + other)),
                      Severity::Notice, std::string(kOtherTraffic)});
}

}  // namespace

std::string arrow_chain(const std::vector<std::string>& hosts) {
  if (hosts.size() <= kMostNames) return fmt::format("{}", fmt::join(hosts, "→"));
  return fmt::format("{}→…→{}", fmt::join(hosts.begin(), hosts.begin() + kMostNames - 2, "→"),
                     hosts.back());
}

std::vector<Finding> findings_of(const Analysis& analysis, const gather::Captured& traffic,
                                 const std::string& looked_for, const std::string& unknown) {
  std::vector<Finding> findings;
  add_bottleneck(findings, analysis);
  add_straggler(findings, analysis);
  add_summary(findings, analysis, unknown);
  if (analysis.iterations.steps.empty()) {
    findings.push_back({fmt::format("no training found: {}", looked_for), Severity::Notice,
                        std::string(kNoTraining)});
  }
  add_other_reading(findings, analysis);
  add_share(findings, analysis);
  add_losses(findings, traffic);
  add_other_traffic(findings, analysis, traffic);
  add_broadcast(findings, analysis);
  add_first_step(findings, analysis);
  if (findings.size() > kMostFindings) findings.resize(kMostFindings);
  return findings;
}

}  // namespace tw::diagnose
