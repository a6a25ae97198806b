// SPDX-License-Identifier: Apache-2.0
// The operations that nccl-tests times, and the columns in which it tells of them.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tw::nccl {

enum class Operation {
  AllReduce,
  AllGather,
  ReduceScatter,
  Broadcast,
  Reduce,
  AllToAll,
  SendRecv,  ///< every rank sends to the next one, in a circle
};

/// all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, sendrecv.
std::string_view name_of(Operation operation);
/// By that name, or nccl-tests' own ("alltoall").
std::optional<Operation> find_operation(std::string_view name);

/// Bus bandwidth over algorithm bandwidth, as nccl-tests defines them: 2(n-1)/n for all-reduce,
/// (n-1)/n for all-gather, reduce-scatter and all-to-all, 1 for the others. REQUIRES: ranks >= 1.
double bus_factor(Operation operation, int ranks);

/// Whether the size, which is always that of the large side, is cut into a part for each rank; the
/// column `count` then has the elements of one part.
bool in_parts(Operation operation);

/// The column `redop`: "sum" where ranks' data are combined, "none" elsewhere.
std::string_view redop_of(Operation operation);

/// Bytes of an element by nccl-tests' name for its type; nothing for another name.
std::optional<int> type_bytes(std::string_view type);

}  // namespace tw::nccl
