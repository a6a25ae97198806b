// SPDX-License-Identifier: Apache-2.0
// A model as the network sees it: layers with parameters to exchange and work to do.
//
// Layers stand in forward order. Backward visits them in reverse, so gradients become ready last
// layer first. Only trainable parameters have gradients and travel; non-trainable ones (the running
// means and variances of batch normalisation as Keras counts them) do not.
//
// Limits: 4-byte elements; a layer's kernel and bias are one entry; FLOPs count a multiply-add as
// two and leave out element-wise work (normalisation, activations, pooling, adding a bias), which
// is a few per cent of the operations of these models. Layers with neither parameters nor counted
// FLOPs are left out.

#pragma once

#include "trainwire/base/units.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw::zoo {

/// A parameter, and its gradient, is a float32.
inline constexpr std::int64_t kElementBytes = 4;

struct Layer {
  std::string name;
  std::int64_t trainable = 0;
  std::int64_t non_trainable = 0;
  /// Forward floating-point operations for one sample; backward takes twice that.
  double forward_flops = 0;

  bool operator==(const Layer&) const = default;
};

struct Model {
  std::string name;
  /// Whose definition is counted: "Keras applications", "torchvision", "He et al. 2016"...
  std::string source;
  /// "224x224x3" or "512 tokens": what FLOPs per sample refer to.
  std::string input;
  std::vector<Layer> layers;

  std::int64_t trainable() const;
  std::int64_t non_trainable() const;
  std::int64_t parameters() const { return trainable() + non_trainable(); }
  double forward_flops() const;
  /// What one rank's gradients occupy.
  Bytes gradient_bytes() const { return Bytes(kElementBytes * trainable()); }

  bool operator==(const Model&) const = default;
};

}  // namespace tw::zoo
