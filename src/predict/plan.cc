// SPDX-License-Identifier: Apache-2.0
#include "trainwire/predict/plan.h"

#include "trainwire/collective/strategies.h"
#include "trainwire/predict/bound.h"
#include "trainwire/predict/exchange.h"
#include "trainwire/spec/framework.h"
#include "trainwire/workload/volume.h"

#include <algorithm>
#include <set>

namespace tw::predict {
namespace {

using workload::kElementBytes;

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

TrainingPlan training_plan(const workload::Training& job, const StepPlan& step) {
  const auto per_step = static_cast<double>(step.total.count());
  TrainingPlan training{.steps = job.steps,
                        .total_bytes = per_step * static_cast<double>(job.steps),
                        .warmup_bytes = per_step * job.warmup,
                        .broadcast_bytes = static_cast<double>(start_bytes(job).count()),
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

/// Beside the gradients': control connections, and what a framework makes without using it.
FlowPlan flows_of(const workload::Training& job, const Exchange& exchange,
                  const spec::BesideConnections& beside) {
  const collective::Flows flows = flows_of(exchange);
  const std::int64_t ranks = exchange.layout.ranks();
  return {.gradient = flows.gradient * job.connections,
          .acknowledgement = flows.acknowledgement * job.connections,
          .side = 2 * (ranks * job.side_connections + (ranks - 1) * beside.idle + beside.refused)};
}

int used_hosts(const collective::Layout& layout) {
  return static_cast<int>(std::set<int>(layout.host_of.begin(), layout.host_of.end()).size());
}

/// What overlaps an exchange may hide it.
Duration iteration_bound(const workload::Training& training, Duration exchange) {
  const workload::Compute& compute = training.compute;
  Duration beside = exchange;
  if (!training.overlap) beside += compute.backward;
  if (!training.forward_overlap) beside += compute.forward;
  return std::max(compute.total(), beside);
}

}  // namespace

JobPlan plan(const spec::Experiment& experiment, const spec::Job& job) {
  const workload::Training training = workload::training_of(experiment, job);
  const Exchange exchange = exchange_of(training);
  const collective::Count count = predict::count(exchange);
  StepPlan step = step_of(exchange, count);
  const workload::Compute& compute = training.compute;
  const ExchangeBound bound = exchange_bound(network::Network(experiment.network), exchange, count,
                                             step.pairs, training.connections);
  const TrainingPlan all = training_plan(training, step);

  std::optional<BitRate> required;
  if (compute.total() > Duration::zero()) required = step.link_bytes / compute.total();
  return {.name = training.name,
          .model = training.model.name,
          .model_source = training.model.source,
          .parameters = training.model.parameters(),
          .trainable = training.model.trainable(),
          .gradient_bytes = training.model.gradient_bytes(),
          .strategy = training.strategy,
          .ranks = training.ranks(),
          .hosts = used_hosts(exchange.layout),
          .step = std::move(step),
          .flows = flows_of(training, exchange, spec::beside_connections(job, training.ranks())),
          .training = all,
          .compute = compute,
          .exchange_bound = bound.time,
          .bottleneck = bound.bottleneck,
          .iteration_bound = iteration_bound(training, bound.time),
          .required_bandwidth = required};
}

}  // namespace tw::predict
