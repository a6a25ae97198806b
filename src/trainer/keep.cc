// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/keep.h"

#include "trainwire/base/error.h"
#include "trainwire/checkpoint/store.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::trainer {

bool is_due(const Survival& survival, std::int64_t step, std::int64_t steps) {
  if (survival.checkpoint_every == 0 || step <= 0 || step >= steps) return false;
  return step % survival.checkpoint_every == 0;
}

Saved save(const Survival& survival, std::int64_t step, std::uint64_t seed,
           const std::function<std::vector<float>()>& model) {
  const std::int64_t begin = os::monotonic_ns();
  Saved saved{.step = step};
  try {
    saved.bytes =
        checkpoint::save({.folder = survival.checkpoint_folder, .name = survival.checkpoint_name},
                         {.step = step, .seed = seed, .state = model()});
  } catch (const SystemError& error) {
    saved.problem = error.what();
  }
  saved.time_ns = os::monotonic_ns() - begin;
  return saved;
}

void restore(const Survival& survival, std::span<float> payload) {
  const checkpoint::Checkpoint found = checkpoint::load(survival.restore);
  if (found.state.size() != payload.size()) {
    throw DataError(fmt::format("{} is of another model: it holds {} numbers, not {}",
                                survival.restore, found.state.size(), payload.size()));
  }
  std::ranges::copy(found.state, payload.begin());
}

}  // namespace tw::trainer
