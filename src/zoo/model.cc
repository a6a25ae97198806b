// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/model.h"

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

}  // namespace tw::zoo
