// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/training.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tw::workload {

using collective::FirstModel;

int Training::workers() const { return ranks() - (row().has_servers ? arrangement.servers : 0); }

bool Training::asynchronous() const {
  return row().draws_peers || (row().has_servers && arrangement.asynchronous);
}

std::int64_t Training::elements() const {
  return std::accumulate(buckets.begin(), buckets.end(), std::int64_t{0},
                         [](std::int64_t sum, const Bucket& b) { return sum + b.elements; });
}

Range Training::range(int bucket) const {
  if (bucket == kWholePayload) return {.first = 0, .elements = elements()};
  Range range;
  for (int i = 0; i <= bucket; ++i) {
    range.first += range.elements;
    range.elements = buckets[static_cast<std::size_t>(i)].elements;
  }
  return range;
}

Duration Training::forward_end(int bucket) const {
  if (compute.backward == Duration{}) return compute.forward;
  const Duration before =
      bucket == 0 ? Duration{} : buckets[static_cast<std::size_t>(bucket) - 1].ready;
  return from_seconds(seconds(compute.forward) * (1 - seconds(before) / seconds(compute.backward)));
}

double Training::factor(int rank) const {
  return straggler >= 0 && arrangement.layout.host(rank) == straggler ? straggler_factor : 1;
}

namespace {

/// Bytes that a ring of so many passes over each link, for each byte of its payload.
double ring_factor(int ranks) { return 2.0 * (ranks - 1) / ranks; }

/// Of the links of the job's own hosts.
BitRate slowest_link(const spec::Network& network, const collective::Layout& layout) {
  BitRate slowest = *network.link.rate;
  for (const spec::LinkOverride& link : network.overrides) {
    const auto host = spec::host_number(network, *link.at);
    const bool is_ours = host && std::ranges::find(layout.host_of, *host) != layout.host_of.end();
    if (is_ours && link.rate) slowest = std::min(slowest, **link.rate);
  }
  return slowest;
}

std::vector<Bucket> buckets_of(const spec::Network& network, const spec::Job& job,
                               const Training& training) {
  if (*job.cycle == Duration{} || !*job.overlap) {
    return timed_buckets(training.model, {.first = *job.first_bucket, .others = *job.bucket},
                         training.compute);
  }
  const int ranks = *job.ranks;
  const BitRate rate = slowest_link(network, training.arrangement.layout);
  const auto takes = [&](Bytes bytes) {
    const double on_a_link =
        ring_factor(ranks) * static_cast<double>(bytes.count()) / job.payload_divisor;
    return from_seconds(8 * on_a_link / rate.bits_per_second()) +
           2 * (ranks - 1) * *network.link.delay;
  };
  return fused_buckets(
      training.model,
      {.cycle = Duration(std::llround(static_cast<double>(job.cycle->count()) * job.time_factor)),
       .most = *job.bucket,
       .takes = takes},
      training.compute);
}

}  // namespace

Training training_of(const spec::Experiment& experiment, const spec::Job& job) {
  Training training;
  training.name = *job.name;
  training.model = model_of(job);
  training.strategy = *job.strategy;
  training.arrangement = arrangement_of(experiment, job);
  training.compute = compute_of(job, training.model);
  training.buckets = buckets_of(experiment.network, job, training);
  for (Bucket& bucket : training.buckets) {
    bucket.elements = static_cast<std::int64_t>(
        std::ceil(static_cast<double>(bucket.elements) / job.payload_divisor));
  }
  if (job.straggler->has_value()) {
    training.straggler = spec::host_number(experiment.network, **job.straggler).value_or(-1);
    training.straggler_factor = *job.straggler_factor;
  }
  training.steps = *job.steps;
  training.warmup = *job.warmup;
  training.broadcast = *job.broadcast;
  training.overlap = *job.overlap;
  training.forward_overlap = *job.forward_overlap;
  if (training.forward_overlap && training.row().draws_peers) {
    throw SpecError(
        fmt::format("job {}: forward_overlap: a model that is averaged with a peer's comes as a "
                    "whole; leave it "
                    "out, or take another strategy than {}",
                    training.name, training.strategy));
  }
  training.connections = *job.connections;
  training.side_connections = *job.side_connections;
  training.start = *job.start;
  if (*job.compute == spec::Compute::Train) make_learn(job, training);
  return training;
}

collective::Schedule step_schedule(const Training& training, std::int64_t step) {
  collective::Arrangement arrangement = training.arrangement;
  arrangement.step = step;
  return collective::make_schedule(training.strategy, arrangement);
}

collective::Schedule start_schedule(const Training& training) {
  if (training.row().first_model == FirstModel::FromServers) {
    return collective::distribution(step_schedule(training));
  }
  return collective::broadcast(training.arrangement.layout);
}

std::vector<int> start_buckets(const Training& training) {
  const FirstModel first = training.row().first_model;
  if (!training.broadcast || first == FirstModel::Own) return {};
  if (first == FirstModel::Broadcast) return {kWholePayload};
  std::vector<int> all(training.buckets.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace tw::workload
