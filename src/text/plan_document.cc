// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/plan_document.h"

#include "trainwire/network/scale_doubts.h"

namespace tw::text {
namespace {

using nlohmann::ordered_json;

/// Whole while it fits, so that readers see integers where bytes are whole.
ordered_json whole(double value) {
  if (value < 0x1p53) return static_cast<std::int64_t>(value);
  return value;
}

ordered_json pairs_of(const predict::StepPlan& step) {
  ordered_json pairs = ordered_json::array();
  for (const predict::PairBytes& pair : step.pairs) {
    pairs.push_back({{"from", spec::host_name(pair.from)},
                     {"to", spec::host_name(pair.to)},
                     {"bytes", pair.bytes.count()}});
  }
  return pairs;
}

ordered_json step_of(const predict::StepPlan& step) {
  return {{"total_bytes", step.total.count()},
          {"local_bytes", step.local.count()},
          {"transfers", step.transfers},
          {"rounds", step.rounds},
          {"buckets", step.buckets},
          {"rank_sent_bytes", step.rank_sent.count()},
          {"busiest_link",
           {{"host", spec::host_name(step.busiest_host)}, {"bytes", step.link_bytes.count()}}},
          {"pair_count", step.pair_count},
          {"pairs_listed", static_cast<std::int64_t>(step.pairs.size()) == step.pair_count},
          {"pairs", pairs_of(step)}};
}

ordered_json training_of(const predict::TrainingPlan& training) {
  return {{"steps", training.steps},
          {"total_bytes", whole(training.total_bytes)},
          {"warmup_bytes", whole(training.warmup_bytes)},
          {"broadcast_bytes", whole(training.broadcast_bytes)},
          {"share_before", training.share_before}};
}

ordered_json bottleneck_of(const predict::JobPlan& job) {
  if (!job.bottleneck) return nullptr;
  const bool leaves = job.bottleneck->direction == spec::Direction::FromHost;
  return {{"where", job.bottleneck->where},
          {"direction", leaves ? "from_host" : "to_host"},
          {"bytes", job.bottleneck->bytes.count()},
          {"rate_bps", job.bottleneck->rate.bits_per_second()},
          {"time_s", job.bottleneck->seconds()}};
}

ordered_json job_of(const predict::JobPlan& job) {
  ordered_json document{
      {"name", job.name},
      {"model",
       {{"name", job.model},
        {"source", job.model_source},
        {"parameters", job.parameters},
        {"trainable_parameters", job.trainable},
        {"gradient_bytes", job.gradient_bytes.count()}}},
      {"strategy", job.strategy},
      {"ranks", job.ranks},
      {"hosts", job.hosts},
      {"step", step_of(job.step)},
      {"flows",
       {{"gradient", job.flows.gradient},
        {"acknowledgement", job.flows.acknowledgement},
        {"side", job.flows.side},
        {"total", job.flows.gradient + job.flows.acknowledgement + job.flows.side}}},
      {"training", training_of(job.training)},
      {"compute_s", seconds(job.compute.total())},
      {"forward_s", seconds(job.compute.forward)},
      {"backward_s", seconds(job.compute.backward)},
      {"compute_source", job.compute.source},
      {"exchange_bound_s", seconds(job.exchange_bound)},
      {"bottleneck", bottleneck_of(job)},
      {"iteration_bound_s", seconds(job.iteration_bound)},
      {"required_bandwidth_bps", nullptr}};
  if (job.required_bandwidth)
    document["required_bandwidth_bps"] = job.required_bandwidth->bits_per_second();
  return document;
}

}  // namespace

ordered_json plan_document(const spec::Experiment& experiment,
                           std::span<const predict::JobPlan> plans) {
  ordered_json jobs = ordered_json::array();
  for (const predict::JobPlan& job : plans) jobs.push_back(job_of(job));
  return {{"schema", 1},
          {"command", "plan"},
          {"experiment", *experiment.name},
          {"scale", *experiment.run.scale},
          {"slow_motion", *experiment.run.slow_motion},
          {"doubts", network::scale_doubts(experiment)},
          {"jobs", std::move(jobs)}};
}

}  // namespace tw::text
