// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/top_k.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace tw::learn {

TopK::TopK(std::int64_t parameters, std::int64_t kept)
    : kept_(static_cast<std::size_t>(parameters)), next_(static_cast<std::size_t>(kept)) {
  check(kept >= 1 && kept <= parameters && parameters <= 1 << 24, "some of the gradients travel");
  for (std::int64_t i = 0; i < kept; ++i) {
    next_[static_cast<std::size_t>(i)] = static_cast<float>(i * parameters / kept);
  }
}

void TopK::send(std::span<const float> gradients, bool chooses, std::span<float> payload) {
  check(gradients.size() == kept_.size() && payload.size() == 2 * next_.size(),
        "the bucket is this one");
  for (std::size_t i = 0; i < kept_.size(); ++i) kept_[i] += gradients[i];
  const std::size_t count = next_.size();
  for (std::size_t i = 0; i < count; ++i) {
    payload[i] = std::exchange(kept_[static_cast<std::size_t>(next_[i])], 0.0f);
  }
  if (chooses) {
    std::ranges::copy(largest(), payload.begin() + static_cast<std::ptrdiff_t>(count));
  } else {
    std::ranges::fill(payload.subspan(count), 0.0f);
  }
}

void TopK::receive(std::span<const float> payload, std::span<float> gradients) {
  const std::size_t count = next_.size();
  std::ranges::fill(gradients, 0.0f);
  for (std::size_t i = 0; i < count; ++i) {
    gradients[static_cast<std::size_t>(next_[i])] = payload[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    const float number = payload[count + i];
    const bool can_be = number >= 0 && number < static_cast<float>(kept_.size());
    next_[i] = can_be ? std::floor(number) : 0.0f;
  }
}

/// In rising order: neighbours in memory are neighbours on the wire.
std::vector<float> TopK::largest() {
  numbers_.resize(kept_.size());
  std::iota(numbers_.begin(), numbers_.end(), 0u);
  const auto middle = numbers_.begin() + std::ssize(next_);
  std::ranges::nth_element(numbers_, middle - 1, [this](std::uint32_t a, std::uint32_t b) {
    const float left = std::fabs(kept_[a]);
    const float right = std::fabs(kept_[b]);
    return left != right ? left > right : a < b;
  });
  std::sort(numbers_.begin(), middle);
  return {numbers_.begin(), middle};
}

}  // namespace tw::learn
