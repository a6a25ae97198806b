// SPDX-License-Identifier: Apache-2.0
// What a job needs to go on from a step, as bytes that tell whether they are whole.
//
//   bytes 0-7    "twckpt01"
//   bytes 8-15   the step to be done next, signed
//   bytes 16-23  the run's seed
//   bytes 24-31  how many bytes of state follow
//   bytes 32-39  checksum of everything else
//   bytes 40-    state: numbers of four bytes, whose meaning is the trainer's
//
// Numbers are in the machine's byte order: a checkpoint is read where it was written. The checksum
// (FNV-1a over words of 64 bits) finds what is torn or rotten; it is no proof against malice.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tw::checkpoint {

struct Checkpoint {
  std::int64_t step = 0;  ///< to be done next
  std::uint64_t seed = 0;
  std::vector<float> state = {};
  bool operator==(const Checkpoint&) const = default;
};

inline constexpr std::size_t kHeaderBytes = 40;

std::string encode(const Checkpoint& checkpoint);

/// Why the bytes are no checkpoint ("it ends after 120 of 4040 bytes"), or "".
std::string problem(std::string_view bytes);
/// Throws DataError with the problem.
Checkpoint decode(std::string_view bytes);

}  // namespace tw::checkpoint
