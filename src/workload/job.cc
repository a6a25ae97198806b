// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/job.h"

#include "trainwire/base/error.h"
#include "trainwire/zoo/device.h"
#include "trainwire/zoo/zoo.h"

#include <fmt/format.h>

#include <cmath>

namespace tw::workload {

zoo::Model model_of(const spec::Job& job) {
  if (job.parameters->has_value()) return zoo::anonymous(**job.parameters);
  const auto model = zoo::find(*job.model, {.classes = *job.classes,
                                            .widths = *job.widths,
                                            .blocks = *job.blocks,
                                            .width = *job.width,
                                            .sequence = *job.sequence,
                                            .vocabulary = *job.vocabulary});
  if (!model) {
    throw SpecError(fmt::format("job {}: there is no model \"{}\"; `trainwire models` lists them",
                                *job.name, *job.model));
  }
  return *model;
}

namespace {

Compute as_asked(const spec::Job& job, const zoo::Model& model) {
  const double jitter = *job.compute_jitter;
  if (*job.compute == spec::Compute::None) return {.jitter = jitter, .source = "none"};
  if (job.compute_time->has_value()) {
    // Backward costs twice forward, as in zoo/device.h.
    const Duration total = **job.compute_time;
    return {.forward = total / 3,
            .backward = total - total / 3,
            .jitter = jitter,
            .source = "the experiment's compute_time"};
  }
  const auto device = zoo::find_device(*job.device);
  check(device.has_value(), "the experiment was checked against the devices");
  const zoo::ComputeTime time = zoo::compute_time(model, *device, *job.batch);
  return {
      .forward = time.forward, .backward = time.backward, .jitter = jitter, .source = time.source};
}

}  // namespace

Compute compute_of(const spec::Job& job, const zoo::Model& model) {
  Compute compute = as_asked(job, model);
  for (Duration* time : {&compute.forward, &compute.backward}) {
    *time = Duration(std::llround(static_cast<double>(time->count()) * job.time_factor));
  }
  return compute;
}

collective::Arrangement arrangement_of(const spec::Experiment& experiment, const spec::Job& job) {
  collective::Arrangement arrangement{
      .layout = {.hosts = *experiment.network.hosts,
                 .host_of = spec::placement(experiment.network, job)},
      .servers = *job.servers,
      .asynchronous = *job.asynchronous,
      .pieces = *job.pieces,
      .seed = *experiment.run.seed,
  };
  const std::string problem = collective::problem(*job.strategy, arrangement);
  if (!problem.empty()) throw SpecError(fmt::format("job {}: {}", *job.name, problem));
  return arrangement;
}

std::vector<Bucket> timed_buckets(const zoo::Model& model, Bytes bucket, Duration backward) {
  const bool by_work = model.forward_flops() > 0;
  const auto work = [&](const zoo::Layer& layer) {
    return by_work ? layer.forward_flops : static_cast<double>(layer.trainable);
  };
  const double all = by_work ? model.forward_flops() : static_cast<double>(model.trainable());
  std::vector<Bucket> result;
  auto layer = model.layers.rbegin();
  double done = 0;
  for (const std::int64_t elements : zoo::buckets(model, bucket)) {
    // As many layers as fill it; layers without parameters delay the next bucket.
    for (std::int64_t filled = 0; filled < elements; ++layer) {
      filled += layer->trainable;
      done += work(*layer);
    }
    result.push_back({.elements = elements, .ready = from_seconds(seconds(backward) * done / all)});
  }
  if (!result.empty()) result.back().ready = backward;
  return result;
}

}  // namespace tw::workload
