// SPDX-License-Identifier: Apache-2.0
// In which order ranks exchange buckets where the order is chosen as they go: the first worker that
// is free decides which of its buckets is next, all others follow. Servers decide nothing.
//
// Limits: everybody knows at once; what a coordinator's messages would take is left out.

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace tw::play {

struct Turn {
  std::int64_t step = 0;
  int bucket = 0;
  bool operator==(const Turn&) const = default;
};

class Turns {
 public:
  /// Whose turn it is after so many; nothing: nobody has decided.
  std::optional<Turn> at(std::size_t number) const {
    if (number >= turns_.size()) return {};
    return turns_[number];
  }
  /// REQUIRES: it is the next one.
  void decide(const Turn& turn) { turns_.push_back(turn); }

 private:
  std::vector<Turn> turns_;
};

}  // namespace tw::play
