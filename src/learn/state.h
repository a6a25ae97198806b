// SPDX-License-Identifier: Apache-2.0
// What a training needs to go on where it was, as bytes: for checkpoints, and for workers that join.
//
// The number of steps that are done, and named arrays: parameters, momentum, what compression has kept.
// What is random follows from the step (learner.h). Bytes are of this machine's order; who writes them
// to a disk adds a checksum.

#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace tw::learn {

struct State {
  std::int64_t step = 0;  ///< that comes next
  std::map<std::string, std::vector<float>> arrays = {};
  bool operator==(const State&) const = default;
};

std::vector<std::byte> to_bytes(const State& state);
/// Throws DataError when they are none.
State state_from(std::span<const std::byte> bytes);

/// Copies an array of the state. Throws DataError when it is not there, or of another size: the state is
/// another model's.
void restore(const State& state, const std::string& name, std::span<float> into);

}  // namespace tw::learn
