// SPDX-License-Identifier: Apache-2.0
#include "trainwire/summarise/describe.h"

#include "trainwire/excerpt/selection.h"
#include "trainwire/gather/ports.h"

#include <utility>

namespace tw::summarise {
namespace {

double in_seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

std::string text(std::string_view view) { return std::string(view); }

std::optional<std::string> if_named(const std::string& job) {
  return job.empty() ? std::nullopt : std::optional(job);
}

record::Capture capture_of(const CaptureResult& result) {
  const gather::Captured& traffic = result.traffic;
  record::Capture capture{.packets = traffic.totals.packets,
                          .bytes = traffic.totals.wire_bytes,
                          .duration_s = duration_s(traffic.totals),
                          .start_s = in_seconds(traffic.totals.first_ns),
                          .dropped = dropped(traffic),
                          .interrupted = result.interrupted,
                          .super_frames = traffic.totals.super_frames,
                          .verdicts = verdict_counts(traffic.totals),
                          .window_s = in_seconds(traffic.clock.width_ns)};
  for (const gather::FileSummary& file : traffic.files) capture.files.push_back(described(file));
  return capture;
}

std::vector<record::Host> hosts_of(const CaptureResult& result) {
  std::vector<record::Host> hosts;
  for (const gather::Host& host : result.analysis.hosts) {
    record::Host& made =
        hosts.emplace_back(record::Host{.name = host.name, .role = text(name_of(host.role))});
    for (const std::uint32_t number : host.addresses) {
      made.addresses.push_back(gather::real_text(result.traffic.addresses[number]));
    }
  }
  return hosts;
}

std::vector<record::Pair> pairs_of(const CaptureResult& result) {
  const HostNames names(result.traffic, result.analysis);
  std::vector<record::Pair> pairs;
  for (const HostPair& pair : host_pairs(result.traffic, names)) {
    pairs.push_back({.from = names.name(pair.from),
                     .to = names.name(pair.to),
                     .packets = pair.count.packets,
                     .wire_bytes = pair.count.wire_bytes,
                     .payload_bytes = pair.count.payload_bytes,
                     .stream_bytes = pair.count.stream_bytes,
                     .retransmitted_bytes = pair.count.retransmitted_bytes});
  }
  return pairs;
}

record::Flows flows_of(const CaptureResult& result) {
  const record::FlowClasses classes = class_counts(result.traffic, result.analysis);
  return {.count = classes.sum(),
          .by_class = classes,
          .small_and_finished = result.traffic.retired_flows};
}

record::Rates rates_of(const CaptureResult& result) {
  const RateFigures& rates = result.rates;
  record::Rates made{.mean_bps = rates.mean_bps,
                     .peak_bps = rates.peak_bps,
                     .peak_window_s = in_seconds(rates.window_ns),
                     .busiest = {.host = rates.busiest_host,
                                 .direction = rates.busiest_sends ? "from_host" : "to_host",
                                 .mean_bps = rates.busiest_mean_bps,
                                 .peak_bps = rates.busiest_peak_bps},
                     .retransmitted_share = retransmitted_share(result.traffic)};
  if (rates.mean_bps > 0) made.peak_to_mean = rates.peak_bps / rates.mean_bps;
  return made;
}

record::Bursts bursts_of(const CaptureResult& result) {
  const BurstFigures& bursts = result.bursts;
  record::Bursts made{.count = bursts.count, .gap_s = in_seconds(result.traffic.burst_gap_ns)};
  if (bursts.count == 0) return made;
  made.median_bytes = bursts.median_bytes;
  made.completion_p50_s = bursts.p50_s;
  made.completion_p99_s = bursts.p99_s;
  return made;
}

record::Iterations iterations_of(const diagnose::Iterations& iterations) {
  record::Iterations made{.count = iterations.steps.size(),
                          .source = iterations.from_log ? "log" : "inferred",
                          .confidence = iterations.confidence,
                          .evidence = iterations.evidence,
                          .first_untypical = iterations.first_untypical,
                          .bytes_before = iterations.bytes_before,
                          .bytes_during = iterations.bytes_during,
                          .bytes_after = iterations.bytes_after,
                          .packets_before = iterations.packets_before,
                          .packets_during = iterations.packets_during,
                          .packets_after = iterations.packets_after};
  for (const diagnose::Iteration& step : iterations.steps) {
    made.times_s.push_back(in_seconds(step.end_ns - step.start_ns));
    made.starts_s.push_back(in_seconds(step.start_ns));
  }
  if (iterations.other) {
    made.runner_up = {.count = iterations.other->count,
                      .median_s = iterations.other->median_s,
                      .probability = iterations.other->probability};
  }
  if (iterations.steps.empty()) return made;
  made.median_s = iterations.median_s;
  made.ci_low_s = iterations.ci_low_s;
  made.ci_high_s = iterations.ci_high_s;
  made.averages = iterations.averages;
  if (!iterations.averages) made.p99_s = iterations.p99_s;
  made.mean_s = iterations.mean_s;
  made.usual_s = iterations.usual_s;
  made.compute_gap_s = iterations.compute_gap_s;
  made.exchange_s = iterations.exchange_s;
  return made;
}

/// `job` names whose they are, where there are several.
void add_collectives(const diagnose::Analysis& analysis, const std::string& job,
                     std::vector<record::Collective>& collectives) {
  for (const diagnose::Collective& collective : analysis.collectives) {
    record::Collective& made = collectives.emplace_back(
        record::Collective{.operation = collective.operation,
                           .strategy = collective.strategy,
                           .order = collective.order,
                           .bytes_per_iteration = collective.bytes_per_iteration,
                           .count = collective.count,
                           .buckets = collective.buckets,
                           .confidence = collective.confidence,
                           .evidence = collective.evidence,
                           .bytes_confidence = collective.bytes_confidence,
                           .job = if_named(job)});
    if (const auto& other = collective.runner_up) {
      made.runner_up = {.operation = other->operation,
                        .strategy = other->strategy,
                        .ranks_on_each = other->ranks_on_each,
                        .bytes_per_iteration = other->bytes_per_iteration,
                        .probability = other->probability};
    }
    const auto timing = timing_of(collective, analysis);
    if (!timing) continue;
    made.time_s = timing->time_s.value;
    made.algbw_bps = timing->algbw_bps;
    made.busbw_bps = timing->busbw_bps;
  }
}

/// Who is slow, and what is said of it.
void describe_diagnosis(const diagnose::Analysis& analysis, record::Run& run) {
  if (analysis.bottleneck) {
    run.bottleneck = record::Bottleneck{.from = analysis.bottleneck->from,
                                        .to = analysis.bottleneck->to,
                                        .rate_bps = analysis.bottleneck->rate_bps,
                                        .confidence = analysis.bottleneck->confidence,
                                        .evidence = analysis.bottleneck->evidence};
  }
  if (analysis.straggler) {
    run.straggler = record::Straggler{.host = analysis.straggler->host,
                                      .delay_s = analysis.straggler->delay_s,
                                      .confidence = analysis.straggler->confidence,
                                      .evidence = analysis.straggler->evidence};
  }
}

record::Finding finding_of(const diagnose::Analysis& analysis, const gather::Captured& traffic,
                           std::size_t i) {
  const diagnose::Finding& found = analysis.findings[i];
  record::Finding finding{
      .text = found.text, .severity = text(name_of(found.severity)), .kind = found.kind};
  const excerpt::Selection selection = excerpt::of_finding(analysis, traffic, i);
  if (!selection.is_everything()) finding.filter = excerpt::wireshark_filter(selection);
  return finding;
}

/// Of several jobs in turns, each one's most important first, and by name.
void add_findings(const CaptureResult& result, record::Run& run) {
  std::vector<std::pair<std::string, const diagnose::Analysis*>> all{
      {result.job, &result.analysis}};
  for (const JobAnalysis& job : result.other_jobs) all.emplace_back(job.name, &job.analysis);
  for (std::size_t i = 0, left = 1; left > 0; ++i) {
    left = 0;
    for (const auto& [name, analysis] : all) {
      if (i >= analysis->findings.size()) continue;
      ++left;
      run.findings.push_back(finding_of(*analysis, result.traffic, i));
      record::Finding& finding = run.findings.back();
      if (!name.empty()) finding.text = name + ": " + finding.text;
      finding.job = if_named(name);
    }
  }
}

}  // namespace

record::CaptureFile described(const gather::FileSummary& file) {
  record::CaptureFile made{.path = file.path,
                           .format = file.facts.format,
                           .compression = file.facts.compression,
                           .file_bytes = file.facts.file_bytes,
                           .packets = file.packets,
                           .bytes = file.wire_bytes,
                           .duplicates = file.duplicates,
                           .first_s = in_seconds(file.first_ns),
                           .last_s = in_seconds(file.last_ns),
                           .dropped = file.dropped,
                           .clock_known = file.clock_known,
                           .clock_offset_s = in_seconds(file.clock_offset_ns),
                           .clock_uncertainty_s = in_seconds(file.clock_uncertainty_ns),
                           .clock_drift_ppm = file.clock_drift_ppm,
                           .point_of_view = file.view};
  if (file.damage) made.damage = {.offset = file.damage->offset, .text = file.damage->text};
  return made;
}

std::vector<record::Count> verdict_counts(const flow::Totals& totals) {
  std::vector<record::Count> counts;
  for (std::size_t i = 0; i < totals.by_verdict.size(); ++i) {
    counts.push_back(
        {.of = text(name_of(static_cast<packet::Verdict>(i))), .count = totals.by_verdict[i]});
  }
  return counts;
}

record::Run described(const CaptureResult& result, std::string_view command) {
  record::Run run{.command = text(command)};
  if (result.traffic.totals.packets == 0) return run;
  const diagnose::Analysis& analysis = result.analysis;
  run.capture = capture_of(result);
  run.quality = {.level = text(name_of(analysis.quality.level)),
                 .reasons = analysis.quality.reasons};
  run.hosts = hosts_of(result);
  run.pairs = pairs_of(result);
  run.flows = flows_of(result);
  run.traffic = rates_of(result);
  run.bursts = bursts_of(result);
  run.iterations = iterations_of(analysis.iterations);
  run.iterations->job = if_named(result.job);
  add_collectives(analysis, result.job, run.collectives);
  for (const JobAnalysis& job : result.other_jobs) {
    add_collectives(job.analysis, job.name, run.collectives);
  }
  run.model_bytes = analysis.model_bytes;
  describe_diagnosis(analysis, run);
  add_findings(result, run);
  return run;
}

}  // namespace tw::summarise
