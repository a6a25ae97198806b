// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/architectures.h"
#include "trainwire/zoo/net_builder.h"

#include <fmt/format.h>

namespace tw::zoo {
namespace {

constexpr Shape kImage{224, 224, 3};
constexpr Pool kStemPool{.kernel = 3, .stride = 2, .padding = Padding::Same};

/// One bottleneck: 1x1 to `filters`, 3x3, 1x1 to four times `filters`, and a shortcut around them.
struct Unit {
  std::string name;
  int filters;
  int stride;
  bool projects;  ///< the shortcut is a 1x1 convolution: in the first unit of each stage
};

/// Calls `unit` for every bottleneck; name_unit(stage, index) counts both from 0.
void for_each_unit(const Stages& stages, auto name_unit, auto unit) {
  int filters = 64;
  for (int stage = 0; stage < 4; ++stage, filters *= 2) {
    for (int i = 0; i < stages[static_cast<std::size_t>(stage)]; ++i) {
      const bool first = i == 0;
      unit(Unit{name_unit(stage, i), filters, first && stage > 0 ? 2 : 1, first});
    }
  }
}

std::string torch_name(int stage, int index) { return fmt::format("layer{}.{}", stage + 1, index); }

void keras_conv(NetBuilder& net, const std::string& name, Conv conv) {
  conv.bias = true;
  net.conv(name + "_conv", conv);
  net.batch_norm(name + "_bn");
}

void keras_unit(NetBuilder& net, const Unit& unit) {
  if (unit.projects) {
    const Shape start = net.shape();
    keras_conv(net, unit.name + "_0", {.filters = 4 * unit.filters, .stride = unit.stride});
    net.resume(start);
  }
  keras_conv(net, unit.name + "_1", {.filters = unit.filters, .stride = unit.stride});
  keras_conv(net, unit.name + "_2", {.filters = unit.filters, .kernel = 3});
  keras_conv(net, unit.name + "_3", {.filters = 4 * unit.filters});
}

void torch_unit(NetBuilder& net, const Unit& unit) {
  const Shape start = net.shape();
  net.conv(unit.name + ".conv1", {.filters = unit.filters});
  net.batch_norm(unit.name + ".bn1");
  net.conv(unit.name + ".conv2", {.filters = unit.filters, .kernel = 3, .stride = unit.stride});
  net.batch_norm(unit.name + ".bn2");
  net.conv(unit.name + ".conv3", {.filters = 4 * unit.filters});
  net.batch_norm(unit.name + ".bn3");
  if (!unit.projects) return;
  net.resume(start);
  net.conv(unit.name + ".downsample.0", {.filters = 4 * unit.filters, .stride = unit.stride});
  net.batch_norm(unit.name + ".downsample.1");
}

void preactivated_unit(NetBuilder& net, const Unit& unit) {
  const Shape start = net.shape();
  // conv1's normalisation, before the pool, serves the very first unit.
  if (unit.name != torch_name(0, 0)) net.batch_norm(unit.name + ".bn1");
  net.conv(unit.name + ".conv1", {.filters = unit.filters});
  net.batch_norm(unit.name + ".bn2");
  net.conv(unit.name + ".conv2", {.filters = unit.filters, .kernel = 3, .stride = unit.stride});
  net.batch_norm(unit.name + ".bn3");
  net.conv(unit.name + ".conv3", {.filters = 4 * unit.filters});
  if (!unit.projects) return;
  net.resume(start);
  net.conv(unit.name + ".shortcut", {.filters = 4 * unit.filters, .stride = unit.stride});
}

}  // namespace

Model resnet_keras(const Stages& stages, int classes) {
  NetBuilder net(kImage, kKerasNorm);
  keras_conv(net, "conv1", {.filters = 64, .kernel = 7, .stride = 2});
  net.pool(kStemPool);
  const auto name = [](int stage, int i) {
    return fmt::format("conv{}_block{}", stage + 2, i + 1);
  };
  for_each_unit(stages, name, [&](const Unit& unit) { keras_unit(net, unit); });
  net.global_pool();
  net.dense("predictions", classes);
  return std::move(net).take(kKeras);
}

Model resnet_torchvision(const Stages& stages, int classes) {
  NetBuilder net(kImage, kTorchNorm);
  net.conv("conv1", {.filters = 64, .kernel = 7, .stride = 2});
  net.batch_norm("bn1");
  net.pool(kStemPool);
  for_each_unit(stages, torch_name, [&](const Unit& unit) { torch_unit(net, unit); });
  net.global_pool();
  net.dense("fc", classes);
  return std::move(net).take(kTorchvision);
}

Model resnet_preactivated(const Stages& stages, int classes) {
  NetBuilder net(kImage, kTorchNorm);
  net.conv("conv1", {.filters = 64, .kernel = 7, .stride = 2});
  net.batch_norm("bn1");
  net.pool(kStemPool);
  for_each_unit(stages, torch_name, [&](const Unit& unit) { preactivated_unit(net, unit); });
  net.batch_norm("bn_last");
  net.global_pool();
  net.dense("fc", classes);
  return std::move(net).take("He et al. 2016");
}

}  // namespace tw::zoo
