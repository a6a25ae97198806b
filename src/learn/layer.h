// SPDX-License-Identifier: Apache-2.0
// Layers of a network that is trained on a processor: forward and backward for a batch of samples.
//
// A sample's values lie together; those of a picture row by row, pixel by pixel, all channels of a
// pixel side by side. A layer's parameters are its weights and then its biases, one row of weights
// for each input value.

#pragma once

#include "trainwire/base/random.h"

#include <cstdint>
#include <memory>
#include <span>

namespace tw::learn {

/// What a layer reads of a batch, and what it had made of it.
struct Seen {
  std::span<const float> inputs;
  std::span<const float> outputs;
};

class Layer {
 public:
  virtual ~Layer() = default;

  virtual std::int64_t inputs() const = 0;   ///< of a sample
  virtual std::int64_t outputs() const = 0;  ///< of a sample
  virtual std::int64_t parameters() const { return 0; }
  /// Random weights of the size that He et al. 2015 (10.1109/ICCV.2015.123) derive, no biases.
  virtual void initialise(std::span<float>, Random&) const {}

  /// As many samples as `inputs` holds.
  virtual void forward(std::span<const float> parameters, std::span<const float> inputs,
                       std::span<float> outputs) = 0;
  /// From the loss's gradient of the outputs, which is spent, to that of the parameters and, unless
  /// `of_inputs` is empty, of the inputs; both are replaced.
  virtual void backward(std::span<const float> parameters, const Seen& seen,
                        std::span<float> of_outputs, std::span<float> of_parameters,
                        std::span<float> of_inputs) = 0;
};

/// Whether what is below zero becomes zero.
enum class Activation { None, Rectify };

struct Picture {
  int height = 0;
  int width = 0;
  int channels = 0;
  std::int64_t values() const { return std::int64_t{height} * width * channels; }
};

std::unique_ptr<Layer> dense(std::int64_t inputs, std::int64_t outputs, Activation activation);
/// 3x3, padded with zeros, rectified.
std::unique_ptr<Layer> convolution(const Picture& picture, int filters);
/// The largest of each 2x2; an odd last row or column is left out.
std::unique_ptr<Layer> pooling(const Picture& picture);

}  // namespace tw::learn
