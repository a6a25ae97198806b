// SPDX-License-Identifier: Apache-2.0
// The members of run.h, named once for writing and reading, in the documents' order.

#pragma once

#include "trainwire/record/describe_account.h"
#include "trainwire/record/describe_captured.h"
#include "trainwire/record/describe_imported.h"
#include "trainwire/record/describe_network.h"
#include "trainwire/record/run.h"

namespace tw::record {

template <typename Io>
void describe(Io& io, As<Check> auto& check) {
  io("name", check.name);
  io("ok", check.ok);
  io("expected", check.expected);
  io("found", check.found);
  io("text", check.text);
  io.if_any("caution", check.caution);
}

template <typename Io>
void describe(Io& io, As<Expectation> auto& expectation) {
  io("metric", expectation.metric);
  io("ok", expectation.ok);
  io("expected", expectation.expected);
  io.or_null("found", expectation.found);
  io("text", expectation.text);
}

template <typename Io>
void describe(Io& io, As<Machine> auto& machine) {
  io("level", machine.level);
  io("reasons", machine.reasons);
}

template <typename Io>
void describe(Io& io, As<Rank> auto& rank) {
  io("name", rank.name);
  io("exit_code", rank.exit_code);
  io("signal", rank.signal);
  io("stopped", rank.stopped);
  io("output", rank.output);
}

template <typename Io>
void describe(Io& io, As<Times> auto& times) {
  io("median_s", times.median_s);
  io("ci_low_s", times.ci_low_s);
  io("ci_high_s", times.ci_high_s);
  io("count", times.count);
  io.or_null("mean_s", times.mean_s);
  io("mean_low_s", times.mean_low_s);
  io("mean_high_s", times.mean_high_s);
  io("p99_s", times.p99_s);
  io("p99_low_s", times.p99_low_s);
  io("p99_high_s", times.p99_high_s);
  io("times_s", times.times_s);
}

template <typename Io>
void describe(Io& io, As<Alone> auto& alone) {
  io("step", alone.step);
  io("slowdown", alone.slowdown);
}

template <typename Io>
void describe(Io& io, As<Pace> auto& pace) {
  io("forward_s", pace.forward_s);
  io("backward_s", pace.backward_s);
  io("bucket_bytes", pace.bucket_bytes);
  io("bucket_ready_s", pace.bucket_ready_s);
}

template <typename Io>
void describe(Io& io, As<LearningPoint> auto& point) {
  io("rank", point.rank);
  io("step", point.step);
  io("time_s", point.time_s);
  io("samples", point.samples);
  io("sent_bytes", point.sent_bytes);
  io("loss", point.loss);
  io("accuracy", point.accuracy);
}

template <typename Io>
void describe(Io& io, As<LearningTarget> auto& target) {
  io("accuracy", target.accuracy);
  io.or_null("step", target.step);
  io.or_null("time_s", target.time_s);
  io.or_null("sent_bytes", target.sent_bytes);
}

template <typename Io>
void describe(Io& io, As<Staleness> auto& staleness) {
  io("mean", staleness.mean);
  io("most", staleness.most);
}

template <typename Io>
void describe(Io& io, As<Learning> auto& learning) {
  io("data", learning.data);
  io("train_samples", learning.train_samples);
  io("test_samples", learning.test_samples);
  io("parameters", learning.parameters);
  io("gradient", learning.gradient);
  io("local_steps", learning.local_steps);
  io("accuracy", learning.accuracy);
  io("accuracy_low", learning.accuracy_low);
  io("accuracy_high", learning.accuracy_high);
  io("loss", learning.loss);
  io("time_s", learning.time_s);
  io("sent_bytes", learning.sent_bytes);
  io.if_any("target", learning.target);
  io.if_any("staleness", learning.staleness);
  io("points", learning.points);
}

template <typename Io>
void describe(Io& io, As<Checkpoints> auto& checkpoints) {
  io("written", checkpoints.written);
  io("failed", checkpoints.failed);
  io("bytes", checkpoints.bytes);
  io("longest_s", checkpoints.longest_s);
  io.if_any("problem", checkpoints.problem);
}

template <typename Io>
void describe(Io& io, As<Job> auto& job) {
  io("name", job.name);
  io("strategy", job.strategy);
  io("ranks", job.ranks);
  io("gradient_bytes", job.gradient_bytes);
  io("buckets", job.buckets);
  io("verified", job.verified);
  io.or_null("steps", job.steps);
  io("step_sent_bytes", job.step_sent_bytes);
  io("demand_bytes", job.demand_bytes);
  io.or_null("step", job.step);
  io.or_null("exchange", job.exchange);
  io("busbw_bps", job.busbw_bps);
  io("phases_median_s", job.phases_median_s);
  io.if_any("alone", job.alone);
  io.if_any("accounting", job.accounting);
  io.if_any("verdict", job.verdict);
  io.if_any("pace", job.pace);
  io.if_any("learning", job.learning);
  io.if_any("checkpoints", job.checkpoints);
}

template <typename Io>
void describe(Io& io, As<FaultCost> auto& cost) {
  io("job", cost.job);
  io("usual_s", cost.usual_s);
  io("steps", cost.steps);
  io("longest_s", cost.longest_s);
  io("cost_s", cost.cost_s);
}

template <typename Io>
void describe(Io& io, As<Fault> auto& fault) {
  io("kind", fault.kind);
  io("where", fault.where);
  io.or_null("begin_s", fault.begin_s);
  io.or_null("end_s", fault.end_s);
  io("costs", fault.costs);
}

template <typename Io>
void describe(Io& io, As<Recovery> auto& recovery) {
  io("job", recovery.job);
  io("policy", recovery.policy);
  io("what", recovery.what);
  io("noticed_s", recovery.noticed_s);
  io("notice", recovery.notice);
  io.or_null("detection_s", recovery.detection_s);
  io("step", recovery.step);
  io("lost_steps", recovery.lost_steps);
  io("from_checkpoint", recovery.from_checkpoint);
  io("bytes", recovery.bytes);
  io("recovery_s", recovery.recovery_s);
  io.or_null("back_s", recovery.back_s);
  io("ranks", recovery.ranks);
}

template <typename Io>
void describe(Io& io, As<RankSteps> auto& steps) {
  io.if_any("job", steps.job);
  io("rank", steps.rank);
  io("count", steps.count);
  io("median_s", steps.median_s);
}

template <typename Io>
void describe(Io& io, As<MarkedSteps> auto& steps) {
  io("per_rank", steps.per_rank);
}

template <typename Io>
void describe(Io& io, As<Sweep> auto& sweep) {
  io("points", sweep.points);
}

template <typename Io>
void describe(Io& io, As<Point> auto& point) {
  io("folder", point.folder);
  io("settings", point.settings);
  io("complete", point.complete);
  io("checks_ok", point.checks_ok);
  io.if_any("problem", point.problem);
  io.if_any("expectations", point.expectations);
  io("jobs", point.jobs);
  io.or_null("cross_traffic", point.cross_traffic);
  io.or_null("utilisation", point.utilisation);
}

/// What packets show; only in a document with "capture".
template <typename Io>
void describe_captured(Io& io, As<Run> auto& run) {
  io("quality", run.quality);
  io("hosts", run.hosts);
  io("pairs", run.pairs);
  io("flows", run.flows);
  io("traffic", run.traffic);
  io("bursts", run.bursts);
  io.if_any("iterations", run.iterations);
  io("collectives", run.collectives);
  io.or_null("model_bytes", run.model_bytes);
  io.or_null("bottleneck", run.bottleneck);
  io.or_null("straggler", run.straggler);
  io("findings", run.findings);
}

/// What other programs' files, or `watch`, show where there are no packets; only in a document with "operations", or of
/// `watch`.
template <typename Io>
void describe_imported(Io& io, As<Run> auto& run) {
  io("quality", run.quality);
  io("hosts", run.hosts);
  io("pairs", run.pairs);
  io.if_any("iterations", run.iterations);
  io("collectives", run.collectives);
  io.or_null("straggler", run.straggler);
  io("findings", run.findings);
}

/// Of ranks on a network; only in a document with "engine".
template <typename Io>
void describe_conducted(Io& io, As<Run> auto& run) {
  io("checks", run.checks);
  io("network", run.network);
  io("cpu_bound", run.cpu_bound);
  io("machine", run.machine);
  io("ranks", run.ranks);
  io.if_any("duration_s", run.duration_s);
}

template <typename Io>
void describe(Io& io, As<Run> auto& run) {
  io.if_any("command", run.command);
  io.if_any("name", run.name);
  io.if_any("verdict", run.verdict);
  io.if_any("accounting", run.accounting);
  io.if_any("capture", run.capture);
  if (run.capture || Io::kReads) describe_captured(io, run);
  io.if_any("operations", run.operations);
  io.if_any("sources", run.sources);
  io.if_any("watched", run.watched);
  const bool imported = (run.operations || run.command == "watch") && !run.capture;
  if (imported && !Io::kReads) describe_imported(io, run);
  io.if_any("engine", run.engine);
  if (run.engine || Io::kReads) describe_conducted(io, run);
  if (!run.capture && !imported && !Io::kReads) io.if_any("iterations", run.iterations);
  io.if_any("steps", run.steps);
  if (!run.jobs.empty() || Io::kReads) io("jobs", run.jobs);
  io.if_any("utilisation", run.utilisation);
  io.if_any("cross_traffic", run.cross_traffic);
  if (!run.faults.empty() || Io::kReads) io("faults", run.faults);
  if (!run.recoveries.empty() || Io::kReads) io("recoveries", run.recoveries);
  io.if_any("sweep", run.sweep);
  io.if_any("points", run.points);
  io.if_any("experiment", run.experiment);
  io.if_any("expectations", run.expectations);
}

}  // namespace tw::record
