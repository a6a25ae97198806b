// SPDX-License-Identifier: Apache-2.0
// Rows of inputs times weights plus biases: what dense layers and convolutions both are.

#pragma once

#include "trainwire/learn/layer.h"

#include <cstdint>
#include <span>

namespace tw::learn {

struct Linear {
  std::int64_t inputs = 0;  ///< of a row
  std::int64_t outputs = 0;
  Activation activation = Activation::None;

  std::int64_t parameters() const { return (inputs + 1) * outputs; }
  void initialise(std::span<float> parameters, Random& random) const;
  /// As Layer's, for as many rows as `in` holds.
  void forward(std::span<const float> parameters, std::span<const float> in,
               std::span<float> out) const;
  void backward(std::span<const float> parameters, const Seen& seen, std::span<float> of_outputs,
                std::span<float> of_parameters, std::span<float> of_inputs) const;
};

}  // namespace tw::learn
