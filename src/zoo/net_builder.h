// SPDX-License-Identifier: Apache-2.0
// Writes down a convolutional network layer by layer while following the shape of its feature map,
// so that parameters and FLOPs follow from the architecture.
//
// Square strides; padding is Keras' "same" (output = ceil(input / stride), which is also what
// torchvision's symmetric padding of half a kernel gives) or "valid" (no padding). A branch starts
// where resume() puts it; who joins branches resumes at the joined shape.
//
// Limits: no dilation, no grouped convolution other than depthwise.

#pragma once

#include "trainwire/zoo/model.h"

#include <string>
#include <vector>

namespace tw::zoo {

struct Shape {
  int height;
  int width;
  int channels;

  bool operator==(const Shape&) const = default;
};

/// A window: `.kernel = 3` is square, `.kernel = {1, 7}` is one high and seven wide.
struct Kernel {
  constexpr Kernel(int side) : height(side), width(side) {}  // NOLINT(google-explicit-constructor)
  constexpr Kernel(int rows, int columns) : height(rows), width(columns) {}

  int height;
  int width;
};

enum class Padding { Same, Valid };

struct Conv {
  int filters;
  Kernel kernel = 1;
  int stride = 1;
  Padding padding = Padding::Same;
  bool bias = false;
};

struct Pool {
  Kernel kernel;
  int stride;
  Padding padding = Padding::Valid;
};

/// What a library counts of a batch normalisation. The shift (beta) is always trainable.
struct BatchNorm {
  bool scale = true;               ///< gamma exists
  bool running_statistics = true;  ///< moving mean and variance count, as non-trainable parameters
};
inline constexpr BatchNorm kKerasNorm{};
inline constexpr BatchNorm kKerasUnscaledNorm{.scale = false};
/// PyTorch keeps running statistics as buffers, which parameters() leaves out.
inline constexpr BatchNorm kTorchNorm{.running_statistics = false};

class NetBuilder {
 public:
  NetBuilder(Shape input, BatchNorm norm);

  const Shape& shape() const { return shape_; }
  /// The next layer reads a map of this shape.
  void resume(Shape shape) { shape_ = shape; }

  void conv(std::string name, const Conv& conv);
  /// One filter of 3x3 per channel, padded, without bias.
  void depthwise(std::string name, int stride);
  void batch_norm(std::string name);
  void pool(const Pool& pool);
  void global_pool();
  /// Reads the flattened map; with bias.
  void dense(std::string name, int units);

  /// The network so far, without a name.
  Model take(std::string source) &&;

 private:
  void add(std::string name, std::int64_t trainable, double multiply_adds);
  /// Leaves the shape that a window sliding over the map produces.
  void slide(const Kernel& kernel, int stride, Padding padding);

  Shape input_;
  Shape shape_;
  BatchNorm norm_;
  std::vector<Layer> layers_;
};

}  // namespace tw::zoo
