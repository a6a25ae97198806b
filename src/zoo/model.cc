// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/model.h"

#include "trainwire/base/error.h"

#include <numeric>

namespace tw::zoo {

std::int64_t Model::trainable() const {
  return std::accumulate(
      layers.begin(), layers.end(), std::int64_t{0},
      [](std::int64_t sum, const Layer& layer) { return sum + layer.trainable; });
}

std::int64_t Model::non_trainable() const {
  return std::accumulate(
      layers.begin(), layers.end(), std::int64_t{0},
      [](std::int64_t sum, const Layer& layer) { return sum + layer.non_trainable; });
}

double Model::forward_flops() const {
  return std::accumulate(layers.begin(), layers.end(), 0.0,
                         [](double sum, const Layer& layer) { return sum + layer.forward_flops; });
}

std::vector<std::int64_t> buckets(const Model& model, Bytes size) {
  check(size >= Bytes(0), "a bucket has no negative size");
  std::vector<std::int64_t> filled;
  std::int64_t open = 0;
  for (auto layer = model.layers.rbegin(); layer != model.layers.rend(); ++layer) {
    open += layer->trainable;
    if (size == Bytes(0) || open == 0 || Bytes(kElementBytes * open) < size) continue;
    filled.push_back(open);
    open = 0;
  }
  if (open > 0) filled.push_back(open);
  return filled;
}

}  // namespace tw::zoo
