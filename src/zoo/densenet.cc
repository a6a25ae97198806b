// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/architectures.h"
#include "trainwire/zoo/net_builder.h"

#include <fmt/format.h>

namespace tw::zoo {
namespace {

constexpr Shape kImage{224, 224, 3};

/// What the two libraries call the parts; blocks and layers count from 1.
struct Names {
  const char* stem_conv;
  const char* stem_norm;
  /// Norm, bottleneck, norm, convolution of one dense layer, each appended to the layer's name.
  std::array<const char*, 4> parts;
  std::string (*layer)(int block, int layer);
  const char* transition_norm;  ///< appended to the transition's name
  const char* transition_conv;
  std::string (*transition)(int block);
  const char* last_norm;
  const char* head;
};

constexpr Names kKerasNames{
    .stem_conv = "conv1_conv",
    .stem_norm = "conv1_bn",
    .parts = {"_0_bn", "_1_conv", "_1_bn", "_2_conv"},
    .layer = [](int block, int i) { return fmt::format("conv{}_block{}", block + 1, i); },
    .transition_norm = "_bn",
    .transition_conv = "_conv",
    .transition = [](int block) { return fmt::format("pool{}", block + 1); },
    .last_norm = "bn",
    .head = "predictions"};

constexpr Names kTorchNames{
    .stem_conv = "features.conv0",
    .stem_norm = "features.norm0",
    .parts = {".norm1", ".conv1", ".norm2", ".conv2"},
    .layer = [](int block,
                int i) { return fmt::format("features.denseblock{}.denselayer{}", block, i); },
    .transition_norm = ".norm",
    .transition_conv = ".conv",
    .transition = [](int block) { return fmt::format("features.transition{}", block); },
    .last_norm = "features.norm5",
    .head = "classifier"};

/// Adds `growth` channels to the map, computed from all that are there.
void dense_layer(NetBuilder& net, const Names& names, const std::string& name, int growth) {
  Shape joined = net.shape();
  joined.channels += growth;
  net.batch_norm(name + names.parts[0]);
  net.conv(name + names.parts[1], {.filters = 4 * growth});
  net.batch_norm(name + names.parts[2]);
  net.conv(name + names.parts[3], {.filters = growth, .kernel = 3});
  net.resume(joined);
}

/// Halves channels, height and width.
void transition(NetBuilder& net, const Names& names, int block) {
  const std::string name = names.transition(block);
  net.batch_norm(name + names.transition_norm);
  net.conv(name + names.transition_conv, {.filters = net.shape().channels / 2});
  net.pool({.kernel = 2, .stride = 2});
}

void build(NetBuilder& net, const Names& names, const DenseNet& shape, int classes) {
  net.conv(names.stem_conv, {.filters = shape.stem, .kernel = 7, .stride = 2});
  net.batch_norm(names.stem_norm);
  net.pool({.kernel = 3, .stride = 2, .padding = Padding::Same});
  for (int block = 1; block <= 4; ++block) {
    for (int i = 1; i <= shape.blocks[static_cast<std::size_t>(block - 1)]; ++i) {
      dense_layer(net, names, names.layer(block, i), shape.growth);
    }
    if (block < 4) transition(net, names, block);
  }
  net.batch_norm(names.last_norm);
  net.global_pool();
  net.dense(names.head, classes);
}

}  // namespace

Model densenet_keras(const DenseNet& shape, int classes) {
  NetBuilder net(kImage, kKerasNorm);
  build(net, kKerasNames, shape, classes);
  return std::move(net).take(kKeras);
}

Model densenet_torchvision(const DenseNet& shape, int classes) {
  NetBuilder net(kImage, kTorchNorm);
  build(net, kTorchNames, shape, classes);
  return std::move(net).take(kTorchvision);
}

}  // namespace tw::zoo
