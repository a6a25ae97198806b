// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/framework_time.h"

#include "trainwire/spec/framework.h"

#include <algorithm>
#include <cmath>

namespace tw::workload {

std::int64_t tensors_of(const Compute& compute, const zoo::Model& model) {
  if (!compute.gradients.empty()) return std::ssize(compute.gradients);
  return std::ranges::count_if(model.layers,
                               [](const zoo::Layer& layer) { return layer.trainable > 0; });
}

Duration framework_time(const spec::Job& job, const zoo::Model& model, const Compute& compute) {
  const spec::Framework* const framework = spec::framework_of(job);
  if (framework == nullptr || compute.total() == Duration{}) return {};
  if (*job.compute == spec::Compute::Train) return {};  // trainwire itself trains
  const Duration all = tensors_of(compute, model) * framework->tensor_time;
  return Duration(std::llround(static_cast<double>(all.count()) * job.time_factor));
}

}  // namespace tw::workload
