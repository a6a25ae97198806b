// SPDX-License-Identifier: Apache-2.0
// What a rank keeps while groups come and go: when a peer is lost, its connections and exchanges are
// given up, but not what it has learnt.

#pragma once

#include "trainwire/base/error.h"
#include "trainwire/learn/state.h"
#include "trainwire/trainer/pupil.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tw::trainer {

/// The run has asked this rank to leave its group: no failure.
class Halted : public Error {
 public:
  Halted() : Error("the run has asked to stop") {}
};

struct Memory {
  std::vector<float> payload = {};
  std::int64_t next = 0;   ///< the step that it does next
  bool has_model = false;  ///< it has trained: its model may be given to others
  // Of ranks that really train.
  std::optional<learn::State> learnt = {};  ///< before step `next`
  std::vector<Pupil::Kept> kept = {};       ///< models to be judged in the end
  std::int64_t begin_ns = 0;                ///< of the first step
  // In groups that were given up.
  std::int64_t sent = 0;     ///< bytes of payload
  std::int64_t checked = 0;  ///< elements
  std::int64_t wrong = 0;
};

}  // namespace tw::trainer
