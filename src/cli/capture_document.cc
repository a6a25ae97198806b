// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/capture_document.h"

#include "trainwire/result/schema.h"

#include <array>

namespace tw::cli {
namespace {

using nlohmann::ordered_json;

double in_seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

template <typename T>
ordered_json or_null(const std::optional<T>& value) {
  return value ? ordered_json(*value) : ordered_json();
}

ordered_json damage_document(const std::optional<capture::Damage>& damage) {
  if (!damage) return nullptr;
  return {{"offset", damage->offset}, {"text", damage->text}};
}

ordered_json capture_part(const CaptureResult& result) {
  const gather::Captured& traffic = result.traffic;
  ordered_json files = ordered_json::array();
  for (const gather::FileSummary& file : traffic.files) files.push_back(file_document(file));
  return {{"packets", traffic.totals.packets},
          {"bytes", traffic.totals.wire_bytes},
          {"duration_s", duration_s(traffic.totals)},
          {"start_s", in_seconds(traffic.totals.first_ns)},
          {"dropped", or_null(dropped(traffic))},
          {"interrupted", result.interrupted},
          {"super_frames", traffic.totals.super_frames},
          {"verdicts", verdict_document(traffic.totals)},
          {"window_s", in_seconds(traffic.clock.width_ns)},
          {"files", std::move(files)}};
}

ordered_json hosts_part(const CaptureResult& result) {
  ordered_json hosts = ordered_json::array();
  for (const gather::Host& host : result.analysis.hosts) {
    ordered_json addresses = ordered_json::array();
    for (const std::uint32_t number : host.addresses) {
      addresses.push_back(result.traffic.addresses[number].text());
    }
    hosts.push_back(
        {{"name", host.name}, {"addresses", std::move(addresses)}, {"role", name_of(host.role)}});
  }
  return hosts;
}

ordered_json pairs_part(const CaptureResult& result, const HostNames& names) {
  ordered_json pairs = ordered_json::array();
  for (const HostPair& pair : host_pairs(result.traffic, names)) {
    pairs.push_back({{"from", names.name(pair.from)},
                     {"to", names.name(pair.to)},
                     {"packets", pair.count.packets},
                     {"wire_bytes", pair.count.wire_bytes},
                     {"payload_bytes", pair.count.payload_bytes},
                     {"stream_bytes", pair.count.stream_bytes},
                     {"retransmitted_bytes", pair.count.retransmitted_bytes}});
  }
  return pairs;
}

ordered_json flows_part(const CaptureResult& result) {
  const ClassCounts counts = class_counts(result.traffic, result.analysis);
  return {{"count", counts.sum()},
          {"by_class",
           {{"gradient", counts.gradient},
            {"acknowledgement", counts.acknowledgement},
            {"control", counts.control},
            {"tiny", counts.tiny},
            {"cross", counts.cross}}},
          {"small_and_finished", result.traffic.retired_flows}};
}

ordered_json traffic_part(const CaptureResult& result) {
  const RateFigures& rates = result.rates;
  return {{"mean_bps", rates.mean_bps},
          {"peak_bps", rates.peak_bps},
          {"peak_to_mean",
           rates.mean_bps > 0 ? ordered_json(rates.peak_bps / rates.mean_bps) : nullptr},
          {"peak_window_s", in_seconds(rates.window_ns)},
          {"busiest",
           {{"host", rates.busiest_host},
            {"direction", rates.busiest_sends ? "from_host" : "to_host"},
            {"mean_bps", rates.busiest_mean_bps},
            {"peak_bps", rates.busiest_peak_bps}}},
          {"retransmitted_share", retransmitted_share(result.traffic)}};
}

ordered_json bursts_part(const CaptureResult& result) {
  const BurstFigures& bursts = result.bursts;
  const bool any = bursts.count > 0;
  return {{"count", bursts.count},
          {"gap_s", in_seconds(result.traffic.burst_gap_ns)},
          {"median_bytes", any ? ordered_json(bursts.median_bytes) : nullptr},
          {"completion_p50_s", any ? ordered_json(bursts.p50_s) : nullptr},
          {"completion_p99_s", any ? ordered_json(bursts.p99_s) : nullptr}};
}

ordered_json iterations_part(const diagnose::Iterations& iterations) {
  ordered_json times = ordered_json::array();
  ordered_json starts = ordered_json::array();
  for (const diagnose::Iteration& step : iterations.steps) {
    times.push_back(in_seconds(step.end_ns - step.start_ns));
    starts.push_back(in_seconds(step.start_ns));
  }
  const bool any = !iterations.steps.empty();
  const auto number = [any](double value) { return any ? ordered_json(value) : ordered_json(); };
  return {{"count", iterations.steps.size()},
          {"source", iterations.from_log ? "log" : "inferred"},
          {"confidence", iterations.confidence},
          {"evidence", iterations.evidence},
          {"first_untypical", iterations.first_untypical},
          {"median_s", number(iterations.median_s)},
          {"ci_low_s", number(iterations.ci_low_s)},
          {"ci_high_s", number(iterations.ci_high_s)},
          {"p99_s", number(iterations.p99_s)},
          {"mean_s", number(iterations.mean_s)},
          {"compute_gap_s", number(iterations.compute_gap_s)},
          {"exchange_s", number(iterations.exchange_s)},
          {"bytes_before", iterations.bytes_before},
          {"bytes_during", iterations.bytes_during},
          {"bytes_after", iterations.bytes_after},
          {"packets_before", iterations.packets_before},
          {"packets_during", iterations.packets_during},
          {"packets_after", iterations.packets_after},
          {"times_s", std::move(times)},
          {"starts_s", std::move(starts)}};
}

ordered_json collectives_part(const diagnose::Analysis& analysis) {
  ordered_json collectives = ordered_json::array();
  for (const diagnose::Collective& collective : analysis.collectives) {
    ordered_json json{{"operation", collective.operation},
                      {"strategy", collective.strategy},
                      {"order", collective.order},
                      {"bytes_per_iteration", collective.bytes_per_iteration},
                      {"count", collective.count},
                      {"buckets", collective.buckets},
                      {"confidence", collective.confidence},
                      {"evidence", collective.evidence}};
    const auto timing = timing_of(collective, analysis);
    json["time_s"] = timing ? ordered_json(timing->time_s.value) : nullptr;
    json["algbw_bps"] = timing ? ordered_json(timing->algbw_bps) : nullptr;
    json["busbw_bps"] = timing ? ordered_json(timing->busbw_bps) : nullptr;
    collectives.push_back(std::move(json));
  }
  return collectives;
}

ordered_json bottleneck_part(const std::optional<diagnose::Bottleneck>& bottleneck) {
  if (!bottleneck) return nullptr;
  return {{"from", bottleneck->from},
          {"to", bottleneck->to},
          {"rate_bps", bottleneck->rate_bps},
          {"confidence", bottleneck->confidence},
          {"evidence", bottleneck->evidence}};
}

ordered_json straggler_part(const std::optional<diagnose::Straggler>& straggler) {
  if (!straggler) return nullptr;
  return {{"host", straggler->host},
          {"delay_s", straggler->delay_s},
          {"confidence", straggler->confidence},
          {"evidence", straggler->evidence}};
}

ordered_json findings_part(const diagnose::Analysis& analysis) {
  ordered_json findings = ordered_json::array();
  for (const diagnose::Finding& finding : analysis.findings) {
    findings.push_back({{"text", finding.text}, {"severity", name_of(finding.severity)}});
  }
  return findings;
}

}  // namespace

ordered_json file_document(const gather::FileSummary& file) {
  return {{"path", file.path},
          {"format", file.facts.format},
          {"compression", file.facts.compression},
          {"file_bytes", file.facts.file_bytes},
          {"packets", file.packets},
          {"bytes", file.wire_bytes},
          {"duplicates", file.duplicates},
          {"first_s", in_seconds(file.first_ns)},
          {"last_s", in_seconds(file.last_ns)},
          {"dropped", or_null(file.dropped)},
          {"damage", damage_document(file.damage)},
          {"clock_known", file.clock_known},
          {"clock_offset_s", in_seconds(file.clock_offset_ns)},
          {"clock_uncertainty_s", in_seconds(file.clock_uncertainty_ns)},
          {"clock_drift_ppm", file.clock_drift_ppm},
          {"point_of_view", file.view}};
}

ordered_json verdict_document(const flow::Totals& totals) {
  ordered_json verdicts;
  for (std::size_t i = 0; i < totals.by_verdict.size(); ++i) {
    verdicts[std::string(name_of(static_cast<packet::Verdict>(i)))] = totals.by_verdict[i];
  }
  return verdicts;
}

ordered_json capture_document(std::string_view command, const CaptureResult& result) {
  const HostNames names(result.traffic, result.analysis);
  const diagnose::Analysis& analysis = result.analysis;
  return {{"schema", result::kSchema},
          {"command", command},
          {"capture", capture_part(result)},
          {"quality",
           {{"level", name_of(analysis.quality.level)}, {"reasons", analysis.quality.reasons}}},
          {"hosts", hosts_part(result)},
          {"pairs", pairs_part(result, names)},
          {"flows", flows_part(result)},
          {"traffic", traffic_part(result)},
          {"bursts", bursts_part(result)},
          {"iterations", iterations_part(analysis.iterations)},
          {"collectives", collectives_part(analysis)},
          {"model_bytes", or_null(analysis.model_bytes)},
          {"bottleneck", bottleneck_part(analysis.bottleneck)},
          {"straggler", straggler_part(analysis.straggler)},
          {"findings", findings_part(analysis)}};
}

std::string dumped(const ordered_json& document) {
  return document.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace tw::cli
