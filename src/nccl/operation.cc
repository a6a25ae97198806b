// SPDX-License-Identifier: Apache-2.0
#include "trainwire/nccl/operation.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tw::nccl {
namespace {

constexpr std::array<std::pair<std::string_view, Operation>, 8> kNames{{
    {"all_reduce", Operation::AllReduce},
    {"all_gather", Operation::AllGather},
    {"reduce_scatter", Operation::ReduceScatter},
    {"broadcast", Operation::Broadcast},
    {"reduce", Operation::Reduce},
    {"all_to_all", Operation::AllToAll},
    {"sendrecv", Operation::SendRecv},
    {"alltoall", Operation::AllToAll},
}};

constexpr std::array<std::pair<std::string_view, int>, 12> kTypes{{
    {"int8", 1},
    {"uint8", 1},
    {"f8e4m3", 1},
    {"f8e5m2", 1},
    {"half", 2},
    {"bfloat16", 2},
    {"int32", 4},
    {"uint32", 4},
    {"float", 4},
    {"int64", 8},
    {"uint64", 8},
    {"double", 8},
}};

}  // namespace

std::string_view name_of(Operation operation) {
  return std::find_if(kNames.begin(), kNames.end(),
                      [&](const auto& row) { return row.second == operation; })
      ->first;
}

std::optional<Operation> find_operation(std::string_view name) {
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const auto& row) { return row.first == name; });
  if (found == kNames.end()) return std::nullopt;
  return found->second;
}

double bus_factor(Operation operation, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  if (operation == Operation::AllReduce) return 2 * others;
  return in_parts(operation) ? others : 1;
}

bool in_parts(Operation operation) {
  return operation == Operation::AllGather || operation == Operation::ReduceScatter ||
         operation == Operation::AllToAll;
}

std::string_view redop_of(Operation operation) {
  const bool sums = operation == Operation::AllReduce || operation == Operation::ReduceScatter ||
                    operation == Operation::Reduce;
  return sums ? "sum" : "none";
}

std::optional<int> type_bytes(std::string_view type) {
  const auto found = std::find_if(kTypes.begin(), kTypes.end(),
                                  [&](const auto& row) { return row.first == type; });
  if (found == kTypes.end()) return std::nullopt;
  return found->second;
}

}  // namespace tw::nccl
