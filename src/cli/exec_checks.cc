// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/exec_checks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace tw::cli {
namespace {

RunCheck ranks_check(const lab::ConductOutcome& outcome) {
  const auto good = std::count_if(outcome.ranks.begin(), outcome.ranks.end(),
                                  [](const auto& rank) { return rank.ending.succeeded(); });
  return {.name = "ranks",
          .ok = !outcome.failure && !outcome.interrupted,
          .expected = fmt::format("{} ended well", outcome.ranks.size()),
          .found = fmt::format("{}", good),
          .text = outcome.failure.value_or(outcome.interrupted ? "interrupted" : "all ended well")};
}

RunCheck network_check(const lab::ConductOutcome& outcome, const lab::ConductRequest& request) {
  RunCheck check{.name = "network",
                 .ok = true,
                 .expected = "rate within 3 %, round trip within 5 %, loss within its interval",
                 .found = fmt::format("{} paths measured", outcome.network.size()),
                 .text = "every measured path gives what was asked for"};
  if (outcome.network.empty()) check.text = "one host: nothing to measure";
  for (const testbed::PathCheck& path : outcome.network) {
    if (path.problems.empty()) continue;
    check.ok = false;
    check.text = fmt::format(
        "{} > {}: {}", request.plan.hosts[static_cast<std::size_t>(path.path.from)].name,
        request.plan.hosts[static_cast<std::size_t>(path.path.to)].name, path.problems.front());
  }
  return check;
}

RunCheck drops_check(const lab::ConductOutcome& outcome) {
  std::uint64_t dropped = 0;
  std::string failure;
  for (const capture::LiveResult& capture : outcome.captures) {
    dropped += capture.dropped;
    if (capture.failure) failure = *capture.failure;
  }
  return {.name = "capture",
          .ok = dropped == 0 && failure.empty(),
          .expected = "0 dropped",
          .found = fmt::format("{} dropped", dropped),
          .text = !failure.empty() ? failure
                  : dropped == 0   ? "no packet was missed"
                                   : "the captures miss packets: bytes and times are too low"};
}

/// Captured frames of each host against what its device counted.
RunCheck counters_check(const lab::ConductOutcome& outcome) {
  std::uint64_t captured = 0;
  std::uint64_t counted = 0;
  bool same = true;
  for (std::size_t i = 0; i < outcome.captures.size(); ++i) {
    const watch::LinkCounters& counters = outcome.counters[i];
    captured += outcome.captures[i].bytes;
    counted += counters.sent_bytes + counters.received_bytes;
    same = same && outcome.captures[i].bytes == counters.sent_bytes + counters.received_bytes;
  }
  return {.name = "bytes",
          .ok = same,
          .expected = fmt::format("{} counted by the devices", counted),
          .found = fmt::format("{} captured", captured),
          .text = same ? "captures and device counters agree to the byte on every host"
                       : fmt::format("captures and device counters differ by {} bytes",
                                     static_cast<std::int64_t>(captured - counted))};
}

/// What the analysis says each host sent against what its device counted.
RunCheck pairs_check(const lab::ConductOutcome& outcome, const lab::ConductRequest& request,
                     const CaptureResult& result) {
  std::map<std::string, std::uint64_t> sent;
  const HostNames names(result.traffic, result.analysis);
  std::uint64_t all = 0;
  for (const HostPair& pair : host_pairs(result.traffic, names)) {
    sent[names.name(pair.from)] += pair.count.wire_bytes;
    all += pair.count.wire_bytes;
  }
  std::uint64_t counted = 0;
  bool same = true;
  for (std::size_t i = 0; i < outcome.counters.size(); ++i) {
    counted += outcome.counters[i].sent_bytes;
    same = same && sent[request.plan.hosts[i].name] == outcome.counters[i].sent_bytes;
  }
  return {.name = "pairs",
          .ok = same,
          .expected = fmt::format("{} sent by the devices", counted),
          .found = fmt::format("{} in the matrix", all),
          .text = same ? "bytes per pair add up to each host's counter"
                       : "bytes per pair do not add up to each host's counter"};
}

RunCheck machine_check(const lab::ConductOutcome& outcome) {
  const bool ok = outcome.verdict.level <= watch::WatchLevel::Caution;
  return {.name = "machine",
          .ok = ok,
          .expected = "the network is the limit",
          .found = watch::level_name(outcome.verdict.level),
          .text = outcome.verdict.reasons.empty()
                      ? "the machine kept up"
                      : fmt::format("{}", fmt::join(outcome.verdict.reasons, "; "))};
}

}  // namespace

std::vector<RunCheck> exec_checks(const lab::ConductOutcome& outcome,
                                  const lab::ConductRequest& request, const CaptureResult& result) {
  std::vector<RunCheck> checks{ranks_check(outcome)};
  if (request.checks_network) checks.push_back(network_check(outcome, request));
  if (request.captures && !outcome.captures.empty()) {
    checks.push_back(drops_check(outcome));
    checks.push_back(counters_check(outcome));
    if (result.traffic.totals.packets > 0) checks.push_back(pairs_check(outcome, request, result));
  }
  checks.push_back(machine_check(outcome));
  return checks;
}

bool all_ok(const std::vector<RunCheck>& checks) {
  return std::all_of(checks.begin(), checks.end(), [](const RunCheck& check) { return check.ok; });
}

std::string checks_text(const std::vector<RunCheck>& checks) {
  std::string text = "checks\n";
  for (const RunCheck& check : checks) {
    text += fmt::format("  {}  {:<8} {}\n", check.ok ? "ok  " : "FAIL", check.name, check.text);
  }
  return text;
}

nlohmann::ordered_json checks_document(const std::vector<RunCheck>& checks) {
  nlohmann::ordered_json document = nlohmann::ordered_json::array();
  for (const RunCheck& check : checks) {
    document.push_back({{"name", check.name},
                        {"ok", check.ok},
                        {"expected", check.expected},
                        {"found", check.found},
                        {"text", check.text}});
  }
  return document;
}

}  // namespace tw::cli
