// SPDX-License-Identifier: Apache-2.0
// What PyTorch writes about a collective into an event of a trace, and what NCCL's kernels are called.

#pragma once

#include "trainwire/operations/operation.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tw::readers {

/// What an event's args say of a collective.
struct KinetoFields {
  std::string collective = {};
  std::string dtype = {};
  std::string group = {};
  std::string ranks = {};
  std::optional<std::int64_t> in = {};
  std::optional<std::int64_t> out = {};
  std::optional<std::int64_t> group_size = {};
  std::optional<std::int64_t> sequence = {};
  std::optional<std::int64_t> rank = {};
  std::optional<std::int64_t> peer = {};
  std::optional<std::int64_t> id = {};  ///< External id
  std::int64_t enqueue_ns = -1;
};

/// Of an event's args, whatever is there of the old names ("Input Dims") and the new.
KinetoFields kineto_fields(std::string_view args);

inline bool has_size(const KinetoFields& fields) { return fields.in || fields.out; }

/// From 0 to 9,999,999, as ranks and sizes of groups are.
bool is_small(std::optional<std::int64_t> number);

/// Operation, size, group and peer; what is not told stays as it is.
void put_fields(const KinetoFields& fields, operations::Operation& into);

/// Of RCCL, MSCCL and oneCCL too.
bool is_kernel_of_nccl(std::string_view name);
/// "all_reduce" of "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" and "ncclKernel_AllReduce_RING_LL_Sum_float".
std::string op_of_kernel(std::string_view name);
/// "ring" of "..._RING_LL".
std::string algorithm_of_kernel(std::string_view name);

}  // namespace tw::readers
