// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/linear.h"

#include "trainwire/learn/multiply.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

namespace tw::learn {

void Linear::initialise(std::span<float> parameters, Random& random) const {
  const double gain = activation == Activation::Rectify ? 2 : 1;
  const double deviation = std::sqrt(gain / static_cast<double>(inputs));
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    const bool is_weight = i < static_cast<std::size_t>(inputs * outputs);
    parameters[i] = is_weight ? static_cast<float>(deviation * random.normal()) : 0.0f;
  }
}

void Linear::forward(std::span<const float> parameters, std::span<const float> in,
                     std::span<float> out) const {
  const std::int64_t rows = std::ssize(in) / inputs;
  multiply({in.data(), inputs, 1}, {parameters.data(), outputs, 1}, {rows, outputs, inputs},
           Into::Replace, out.data());
  const float* const biases = parameters.data() + inputs * outputs;
  const float least = activation == Activation::Rectify ? 0.0f : -FLT_MAX;
  for (std::int64_t i = 0; i < rows; ++i) {
    float* const row = out.data() + i * outputs;
    for (std::int64_t j = 0; j < outputs; ++j) {
      const float value = row[j] + biases[j];
      row[j] = value < least ? least : value;
    }
  }
}

void Linear::backward(std::span<const float> parameters, const Seen& seen,
                      std::span<float> of_outputs, std::span<float> of_parameters,
                      std::span<float> of_inputs) const {
  const std::int64_t rows = std::ssize(seen.inputs) / inputs;
  float* const of_biases = of_parameters.data() + inputs * outputs;
  std::fill_n(of_biases, outputs, 0.0f);
  for (std::int64_t i = 0; i < rows; ++i) {
    float* const row = of_outputs.data() + i * outputs;
    const float* const made = seen.outputs.data() + i * outputs;
    for (std::int64_t j = 0; activation == Activation::Rectify && j < outputs; ++j) {
      row[j] = made[j] > 0 ? row[j] : 0.0f;
    }
    for (std::int64_t j = 0; j < outputs; ++j) of_biases[j] += row[j];
  }
  multiply({seen.inputs.data(), 1, inputs}, {of_outputs.data(), outputs, 1},
           {inputs, outputs, rows}, Into::Replace, of_parameters.data());
  if (of_inputs.empty()) return;
  multiply({of_outputs.data(), outputs, 1}, {parameters.data(), 1, outputs},
           {rows, inputs, outputs}, Into::Replace, of_inputs.data());
}

}  // namespace tw::learn
