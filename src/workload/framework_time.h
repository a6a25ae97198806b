// SPDX-License-Identifier: Apache-2.0
// What a framework does in a step beside computing and exchanging, tensor by tensor.
//
// PyTorch's DistributedDataParallel copies buffers before forward, and has a hook and two copies for every gradient: compute_of()
// has half of it before forward and half while gradients come. A job's compute_time is that without.
//
// Limits: one time for a tensor whatever its size, and whether or not the device has other work meanwhile (it was measured to be
// 10 to 46 us for PyTorch, the most where kernels wait for their launches). A model without measured gradients has a tensor
// a layer.

#pragma once

#include "trainwire/workload/job.h"

#include <cstdint>

namespace tw::workload {

/// What has a gradient of its own.
std::int64_t tensors_of(const Compute& compute, const zoo::Model& model);

/// Of a whole step; 0 where the job has no framework, or does not compute as one would. `compute` with it or
/// without.
Duration framework_time(const spec::Job& job, const zoo::Model& model, const Compute& compute);

}  // namespace tw::workload
