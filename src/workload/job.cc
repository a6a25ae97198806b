// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/job.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/framework.h"
#include "trainwire/workload/framework_time.h"
#include "trainwire/zoo/device.h"
#include "trainwire/zoo/zoo.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <utility>

namespace tw::workload {
namespace {

constexpr std::size_t kLargestTable = 10'000'000;

/// A framework's own variant of a model's short name, where there is one.
std::string variant_of(const spec::Job& job) {
  const spec::Framework* const framework = spec::framework_of(job);
  if (framework == nullptr || framework->variant.empty()) return *job.model;
  const std::string own = fmt::format("{}-{}", *job.model, framework->variant);
  const auto entries = zoo::entries();
  const bool is_there =
      std::ranges::any_of(entries, [&](const zoo::Entry& entry) { return entry.name == own; });
  return is_there ? own : *job.model;
}

}  // namespace

zoo::Model model_of(const spec::Job& job) {
  if (job.parameters->has_value()) return zoo::anonymous(**job.parameters);
  if (job.model->empty()) {
    throw SpecError(fmt::format(
        "job {}: it has a command, which `trainwire exec` starts, and nothing that says "
        "what it would send; add model = ... or parameters = ...",
        *job.name));
  }
  const auto model = zoo::find(variant_of(job), {.classes = *job.classes,
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

/// What a good core does on layers of this size; half or twice that is not unusual.
constexpr double kCoreFlops = 20e9;

Compute on_one_core(const spec::Job& job, const zoo::Model& model) {
  const Duration forward =
      from_seconds(model.forward_flops() * *job.batch * *job.local_steps / kCoreFlops);
  return {.forward = forward,
          .backward = 2 * forward,
          .jitter = *job.compute_jitter,
          .source = "estimated: one processor core at 20 GFLOP/s"};
}

std::string read_table(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text(kLargestTable + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (!file.eof() && file.fail())) {
    throw SystemError(
        fmt::format("{}: cannot be read: {}; gradient_ready names a table of elements "
                    "and ready_ms",
                    path, std::strerror(errno)));
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > kLargestTable) {
    throw DataError(fmt::format("{}: larger than {} MB: no table of gradients", path,
                                kLargestTable / 1'000'000));
  }
  return text;
}

std::vector<zoo::Gradient> table_of(const std::string& path, const zoo::Model& model, int batch) {
  zoo::Profile profile{.gradients =
                           zoo::parse_gradients(read_table(path), path, model.name, batch)};
  if (profile.elements() != model.trainable()) {
    throw DataError(
        fmt::format("{}: gradients of {} elements, but {} has {}; take the table of this "
                    "model",
                    path, profile.elements(), model.name, model.trainable()));
  }
  return std::move(profile.gradients);
}

Compute as_asked(const spec::Job& job, const zoo::Model& model) {
  Compute compute{.jitter = *job.compute_jitter, .source = "none"};
  if (*job.compute == spec::Compute::None) return compute;
  if (*job.compute == spec::Compute::Train && !job.compute_time->has_value()) {
    return on_one_core(job, model);
  }
  const auto device = zoo::find_device(*job.device);
  check(device.has_value(), "the experiment was checked against the devices");
  const auto profile = zoo::find_profile(model.name, device->name, *job.batch);
  if (profile && profile->elements() == model.trainable()) compute.gradients = profile->gradients;
  if (job.gradient_ready->has_value()) {
    compute.gradients = table_of(**job.gradient_ready, model, *job.batch);
  }
  if (job.compute_time->has_value()) {
    // Backward costs twice forward, as in zoo/device.h, unless it was measured.
    const Duration total = **job.compute_time;
    compute.forward = total / 3;
    if (profile) {
      const double share = 1 - seconds(profile->backward) / seconds(profile->total());
      compute.forward = from_seconds(seconds(total) * share);
    }
    compute.backward = total - compute.forward;
    compute.source = "the experiment's compute_time";
    return compute;
  }
  const zoo::ComputeTime time = zoo::compute_time(model, *device, *job.batch);
  compute.forward = time.forward;
  compute.backward = time.backward;
  compute.source = time.source;
  return compute;
}

/// The last gradient ends backward.
void stretch_gradients(Compute& compute) {
  if (compute.gradients.empty()) return;
  const double last = seconds(compute.gradients.back().ready);
  for (zoo::Gradient& gradient : compute.gradients) {
    const double share = last > 0 ? seconds(gradient.ready) / last : 1;
    gradient.ready = from_seconds(seconds(compute.backward) * share);
  }
}

/// Each tensor delays those after it.
void add_framework_time(Compute& compute, Duration time) {
  compute.forward += time / 2;
  compute.backward += time / 2;
  std::int64_t before = 0;
  const auto tensors = static_cast<std::int64_t>(compute.gradients.size());
  for (zoo::Gradient& gradient : compute.gradients) gradient.ready += time / 2 * ++before / tensors;
}

}  // namespace

Compute compute_of(const spec::Job& job, const zoo::Model& model) {
  Compute compute = as_asked(job, model);
  for (Duration* time : {&compute.forward, &compute.backward}) {
    *time = Duration(std::llround(static_cast<double>(time->count()) * job.time_factor));
  }
  stretch_gradients(compute);
  add_framework_time(compute, framework_time(job, model, compute));
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

namespace {

/// When each layer's gradients are there, last layer first; those without parameters delay the next.
std::vector<zoo::Gradient> by_work(const zoo::Model& model, Duration backward) {
  const bool has_flops = model.forward_flops() > 0;
  const double all = has_flops ? model.forward_flops() : static_cast<double>(model.trainable());
  std::vector<zoo::Gradient> result;
  double done = 0;
  for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer) {
    done += has_flops ? layer->forward_flops : static_cast<double>(layer->trainable);
    if (layer->trainable == 0) continue;
    result.push_back(
        {.elements = layer->trainable, .ready = from_seconds(seconds(backward) * done / all)});
  }
  return result;
}

std::vector<zoo::Gradient> gradients_of(const zoo::Model& model, const Compute& compute) {
  return compute.gradients.empty() ? by_work(model, compute.backward) : compute.gradients;
}

}  // namespace

std::vector<Bucket> timed_buckets(const zoo::Model& model, const BucketSizes& sizes,
                                  const Compute& compute) {
  std::vector<Bucket> result;
  Bucket open;
  for (const zoo::Gradient& gradient : gradients_of(model, compute)) {
    open.elements += gradient.elements;
    open.ready = gradient.ready;
    const Bytes enough = result.empty() && sizes.first > Bytes(0) ? sizes.first : sizes.others;
    if (sizes.others == Bytes(0) || Bytes(zoo::kElementBytes * open.elements) < enough) continue;
    result.push_back(std::exchange(open, {}));
  }
  if (open.elements > 0) result.push_back(open);
  if (!result.empty()) result.back().ready = compute.backward;
  return result;
}

std::vector<Bucket> fused_buckets(const zoo::Model& model, const Fusion& fusion,
                                  const Compute& compute) {
  const auto bytes = [](std::int64_t elements) { return Bytes(zoo::kElementBytes * elements); };
  const std::vector<zoo::Gradient> gradients = gradients_of(model, compute);
  std::vector<Bucket> result;
  Duration now = fusion.cycle;
  for (auto next = gradients.begin(); next != gradients.end();) {
    if (next->ready > now) {
      now += fusion.cycle * ((next->ready - now + fusion.cycle - Duration(1)) / fusion.cycle);
    }
    Bucket fused{.ready = std::min(now, compute.backward)};
    do {
      fused.elements += next->elements;
      ++next;
    } while (next != gradients.end() && next->ready <= now &&
             (fusion.most == Bytes(0) || bytes(fused.elements + next->elements) <= fusion.most));
    now += std::max(fusion.cycle, fusion.takes(bytes(fused.elements)));
    result.push_back(fused);
  }
  if (!result.empty()) result.back().ready = compute.backward;
  return result;
}

}  // namespace tw::workload
