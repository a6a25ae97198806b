// SPDX-License-Identifier: Apache-2.0
// The plain feed-forward networks: VGG and the multi-layer perceptron.
#include "trainwire/base/error.h"
#include "trainwire/zoo/architectures.h"
#include "trainwire/zoo/net_builder.h"

#include <fmt/format.h>

#include <algorithm>

namespace tw::zoo {
namespace {

constexpr Shape kImage{224, 224, 3};
constexpr Pool kHalve{.kernel = 2, .stride = 2};

Conv conv3x3(int filters) { return {.filters = filters, .kernel = 3, .bias = true}; }

/// 64, 128, 256, 512, 512.
int filters_of(std::size_t block) { return std::min(64 << block, 512); }

}  // namespace

Model vgg_keras(const std::array<int, 5>& blocks, int classes) {
  NetBuilder net(kImage, kKerasNorm);
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    for (int i = 1; i <= blocks[block]; ++i) {
      net.conv(fmt::format("block{}_conv{}", block + 1, i), conv3x3(filters_of(block)));
    }
    net.pool(kHalve);
  }
  net.dense("fc1", 4096);
  net.dense("fc2", 4096);
  net.dense("predictions", classes);
  return std::move(net).take(kKeras);
}

Model vgg_torchvision(const std::array<int, 5>& blocks, int classes) {
  NetBuilder net(kImage, kTorchNorm);
  // The index counts activations (one per convolution) and pools too.
  int index = 0;
  for (std::size_t block = 0; block < blocks.size(); ++block) {
    for (int i = 0; i < blocks[block]; ++i, index += 2) {
      net.conv(fmt::format("features.{}", index), conv3x3(filters_of(block)));
    }
    net.pool(kHalve);
    ++index;
  }
  net.dense("classifier.0", 4096);
  net.dense("classifier.3", 4096);
  net.dense("classifier.6", classes);
  return std::move(net).take(kTorchvision);
}

Model mlp(std::span<const int> widths) {
  check(widths.size() >= 2, "a multi-layer perceptron has inputs and outputs");
  NetBuilder net({1, 1, widths[0]}, kKerasNorm);
  for (std::size_t i = 1; i < widths.size(); ++i) net.dense(fmt::format("dense_{}", i), widths[i]);
  Model model = std::move(net).take("trainwire");
  model.input = fmt::format("{} values", widths[0]);
  return model;
}

Model cnn() {
  NetBuilder net({28, 28, 1}, kKerasNorm);
  net.conv("conv_1", {.filters = 16, .kernel = 3, .bias = true});
  net.pool({.kernel = 2, .stride = 2});
  net.conv("conv_2", {.filters = 32, .kernel = 3, .bias = true});
  net.pool({.kernel = 2, .stride = 2});
  net.dense("dense_1", 128);
  net.dense("dense_2", 10);
  return std::move(net).take("trainwire");
}

}  // namespace tw::zoo
