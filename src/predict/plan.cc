// SPDX-License-Identifier: Apache-2.0
#include "trainwire/predict/plan.h"

#include "trainwire/collective/strategies.h"
#include "trainwire/predict/exchange.h"
#include "trainwire/workload/job.h"

#include <algorithm>
#include <set>

namespace tw::predict {
namespace {

constexpr std::int64_t kElementBytes = 4;

Bytes bytes_of(std::int64_t elements) { return Bytes(kElementBytes * elements); }

StepPlan step_of(const Exchange& exchange, const collective::Count& count) {
  StepPlan step{
      .total = bytes_of(count.elements - count.local_elements),
      .local = bytes_of(count.local_elements),
      .rank_sent = bytes_of(count.rank_sent_elements_max),
      .link_bytes = {},
      .busiest_host = 0,
      .transfers = count.transfers,
      .rounds = exchange.schedule.rounds * static_cast<std::int64_t>(exchange.buckets.size()),
      .buckets = static_cast<int>(exchange.buckets.size()),
      .pairs = {},
      .pair_count = 0};
  for (std::size_t host = 0; host < count.host_sent_elements.size(); ++host) {
    const Bytes bytes =
        bytes_of(std::max(count.host_sent_elements[host], count.host_received_elements[host]));
    if (bytes <= step.link_bytes) continue;
    step.link_bytes = bytes;
    step.busiest_host = static_cast<int>(host);
  }
  step.pairs = host_pairs(exchange, step.pair_count);
  return step;
}

/// Bytes on the network that bring the first model to every rank.
Bytes broadcast_bytes(const spec::Job& job, const Exchange& exchange, const StepPlan& step,
                      std::int64_t elements) {
  const collective::FirstModel first = collective::strategy(*job.strategy).first_model;
  if (!*job.broadcast || first == collective::FirstModel::Own) return Bytes(0);
  // The distribution half of a step.
  if (first == collective::FirstModel::FromServers) return Bytes(step.total.count() / 2);
  const collective::Schedule tree = collective::broadcast(exchange.layout);
  const collective::Count count = collective::count(tree, exchange.layout, elements);
  return bytes_of(count.elements - count.local_elements);
}

TrainingPlan training_of(const spec::Job& job, const StepPlan& step, Bytes broadcast) {
  const auto per_step = static_cast<double>(step.total.count());
  TrainingPlan training{.steps = *job.steps,
                        .total_bytes = per_step * static_cast<double>(*job.steps),
                        .warmup_bytes = per_step * *job.warmup,
                        .broadcast_bytes = static_cast<double>(broadcast.count()),
                        .share_before = 0};
  const double before = training.warmup_bytes + training.broadcast_bytes;
  const double all = before + training.total_bytes;
  if (all > 0) training.share_before = before / all;
  return training;
}

/// Over many steps of pair averaging every rank pulls from every other: all ordered pairs across
/// hosts.
collective::Flows flows_of(const Exchange& exchange) {
  if (exchange.schedule.goal != collective::Goal::PairAverage) {
    return collective::flows(exchange.schedule, exchange.layout);
  }
  std::vector<std::int64_t> on_host(static_cast<std::size_t>(exchange.layout.hosts));
  for (const int host : exchange.layout.host_of) ++on_host[static_cast<std::size_t>(host)];
  const std::int64_t ranks = exchange.layout.ranks();
  collective::Flows flows;
  for (const std::int64_t here : on_host) flows.gradient += here * (ranks - here);
  return flows;
}

FlowPlan flows_of(const spec::Job& job, const Exchange& exchange) {
  const collective::Flows flows = flows_of(exchange);
  return {.gradient = flows.gradient * *job.connections,
          .acknowledgement = flows.acknowledgement * *job.connections,
          .side = 2 * static_cast<std::int64_t>(exchange.layout.ranks()) * *job.side_connections};
}

int used_hosts(const collective::Layout& layout) {
  return static_cast<int>(std::set<int>(layout.host_of.begin(), layout.host_of.end()).size());
}

}  // namespace

JobPlan plan(const spec::Experiment& experiment, const spec::Job& job) {
  const zoo::Model model = workload::model_of(job);
  const Exchange exchange = predict::exchange(experiment, job, zoo::buckets(model, *job.bucket));
  const collective::Count count = predict::count(exchange);
  StepPlan step = step_of(exchange, count);
  const ComputePlan compute = workload::compute_of(job, model);
  const Duration bound = exchange_bound(experiment.network, exchange, count);
  const TrainingPlan training =
      training_of(job, step, broadcast_bytes(job, exchange, step, model.trainable()));

  std::optional<BitRate> required;
  if (compute.total() > Duration::zero()) required = step.link_bytes / compute.total();
  return {.name = *job.name,
          .model = model.name,
          .model_source = model.source,
          .parameters = model.parameters(),
          .trainable = model.trainable(),
          .gradient_bytes = model.gradient_bytes(),
          .strategy = *job.strategy,
          .ranks = exchange.layout.ranks(),
          .hosts = used_hosts(exchange.layout),
          .step = std::move(step),
          .flows = flows_of(job, exchange),
          .training = training,
          .compute = compute,
          .exchange_bound = bound,
          .iteration_bound = *job.overlap ? std::max(compute.total(), compute.forward + bound)
                                          : compute.total() + bound,
          .required_bandwidth = required};
}

}  // namespace tw::predict
