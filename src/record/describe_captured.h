// SPDX-License-Identifier: Apache-2.0
// The members of captured.h, named once for writing and reading.

#pragma once

#include "trainwire/record/captured.h"
#include "trainwire/record/json_io.h"

namespace tw::record {

template <typename Io>
void describe(Io& io, As<Damage> auto& damage) {
  io("offset", damage.offset);
  io("text", damage.text);
}

template <typename Io>
void describe(Io& io, As<CaptureFile> auto& file) {
  io("path", file.path);
  io("format", file.format);
  io("compression", file.compression);
  io("file_bytes", file.file_bytes);
  io("packets", file.packets);
  io("bytes", file.bytes);
  io("duplicates", file.duplicates);
  io("first_s", file.first_s);
  io("last_s", file.last_s);
  io.or_null("dropped", file.dropped);
  io.or_null("damage", file.damage);
  io("clock_known", file.clock_known);
  io("clock_offset_s", file.clock_offset_s);
  io("clock_uncertainty_s", file.clock_uncertainty_s);
  io("clock_drift_ppm", file.clock_drift_ppm);
  io("point_of_view", file.point_of_view);
}

template <typename Io>
void describe(Io& io, As<Capture> auto& capture) {
  io("packets", capture.packets);
  io("bytes", capture.bytes);
  io("duration_s", capture.duration_s);
  io("start_s", capture.start_s);
  io.or_null("dropped", capture.dropped);
  io("interrupted", capture.interrupted);
  io("super_frames", capture.super_frames);
  io("verdicts", capture.verdicts);
  io("window_s", capture.window_s);
  io("files", capture.files);
}

template <typename Io>
void describe(Io& io, As<Quality> auto& quality) {
  io("level", quality.level);
  io("reasons", quality.reasons);
}

template <typename Io>
void describe(Io& io, As<Host> auto& host) {
  io("name", host.name);
  io("addresses", host.addresses);
  io("role", host.role);
}

template <typename Io>
void describe(Io& io, As<Pair> auto& pair) {
  io("from", pair.from);
  io("to", pair.to);
  io("packets", pair.packets);
  io("wire_bytes", pair.wire_bytes);
  io("payload_bytes", pair.payload_bytes);
  io("stream_bytes", pair.stream_bytes);
  io("retransmitted_bytes", pair.retransmitted_bytes);
}

template <typename Io>
void describe(Io& io, As<FlowClasses> auto& classes) {
  io("gradient", classes.gradient);
  io("acknowledgement", classes.acknowledgement);
  io("control", classes.control);
  io("tiny", classes.tiny);
  io("cross", classes.cross);
}

template <typename Io>
void describe(Io& io, As<Flows> auto& flows) {
  io("count", flows.count);
  io("by_class", flows.by_class);
  io("small_and_finished", flows.small_and_finished);
}

template <typename Io>
void describe(Io& io, As<BusiestHost> auto& busiest) {
  io("host", busiest.host);
  io("direction", busiest.direction);
  io("mean_bps", busiest.mean_bps);
  io("peak_bps", busiest.peak_bps);
}

template <typename Io>
void describe(Io& io, As<Rates> auto& rates) {
  io("mean_bps", rates.mean_bps);
  io("peak_bps", rates.peak_bps);
  io.or_null("peak_to_mean", rates.peak_to_mean);
  io("peak_window_s", rates.peak_window_s);
  io("busiest", rates.busiest);
  io("retransmitted_share", rates.retransmitted_share);
}

template <typename Io>
void describe(Io& io, As<Bursts> auto& bursts) {
  io("count", bursts.count);
  io("gap_s", bursts.gap_s);
  io.or_null("median_bytes", bursts.median_bytes);
  io.or_null("completion_p50_s", bursts.completion_p50_s);
  io.or_null("completion_p99_s", bursts.completion_p99_s);
}

template <typename Io>
void describe(Io& io, As<OtherSteps> auto& other) {
  io("count", other.count);
  io("median_s", other.median_s);
  io("probability", other.probability);
}

template <typename Io>
void describe(Io& io, As<Iterations> auto& iterations) {
  io("count", iterations.count);
  io.if_any("averages", iterations.averages);
  io("source", iterations.source);
  io("confidence", iterations.confidence);
  io.if_any("evidence", iterations.evidence);
  const bool seen = iterations.evidence.has_value();
  const auto figure = [&](const char* key, auto& value) {
    seen ? io.or_null(key, value) : io.if_any(key, value);
  };
  const auto of_packets = [&](const char* key, auto& value) {
    if (seen || Io::kReads) io(key, value);
  };
  of_packets("first_untypical", iterations.first_untypical);
  figure("median_s", iterations.median_s);
  figure("ci_low_s", iterations.ci_low_s);
  figure("ci_high_s", iterations.ci_high_s);
  figure("p99_s", iterations.p99_s);
  figure("mean_s", iterations.mean_s);
  io.if_any("usual_s", iterations.usual_s);
  figure("compute_gap_s", iterations.compute_gap_s);
  figure("exchange_s", iterations.exchange_s);
  of_packets("bytes_before", iterations.bytes_before);
  of_packets("bytes_during", iterations.bytes_during);
  of_packets("bytes_after", iterations.bytes_after);
  of_packets("packets_before", iterations.packets_before);
  of_packets("packets_during", iterations.packets_during);
  of_packets("packets_after", iterations.packets_after);
  of_packets("times_s", iterations.times_s);
  of_packets("starts_s", iterations.starts_s);
  io.if_any("runner_up", iterations.runner_up);
  io.if_any("job", iterations.job);
}

template <typename Io>
void describe(Io& io, As<RunnerUp> auto& other) {
  io("operation", other.operation);
  io("strategy", other.strategy);
  io("ranks_on_each", other.ranks_on_each);
  io("bytes_per_iteration", other.bytes_per_iteration);
  io("probability", other.probability);
}

template <typename Io>
void describe(Io& io, As<Collective> auto& collective) {
  io("operation", collective.operation);
  io("strategy", collective.strategy);
  io("order", collective.order);
  io("bytes_per_iteration", collective.bytes_per_iteration);
  io("count", collective.count);
  io("buckets", collective.buckets);
  io("confidence", collective.confidence);
  io("evidence", collective.evidence);
  io.or_null("time_s", collective.time_s);
  io.or_null("algbw_bps", collective.algbw_bps);
  io.or_null("busbw_bps", collective.busbw_bps);
  io.if_any("bytes_confidence", collective.bytes_confidence);
  io.if_any("runner_up", collective.runner_up);
  io.if_any("job", collective.job);
}

template <typename Io>
void describe(Io& io, As<Bottleneck> auto& bottleneck) {
  io("from", bottleneck.from);
  io("to", bottleneck.to);
  io("rate_bps", bottleneck.rate_bps);
  io("confidence", bottleneck.confidence);
  io("evidence", bottleneck.evidence);
}

template <typename Io>
void describe(Io& io, As<Straggler> auto& straggler) {
  io("host", straggler.host);
  io("delay_s", straggler.delay_s);
  io("confidence", straggler.confidence);
  io("evidence", straggler.evidence);
  io.if_any("rank", straggler.rank);
}

template <typename Io>
void describe(Io& io, As<Finding> auto& finding) {
  io("text", finding.text);
  io("severity", finding.severity);
  io.if_any("job", finding.job);
  io.if_any("kind", finding.kind);
  io.if_any("filter", finding.filter);
}

}  // namespace tw::record
