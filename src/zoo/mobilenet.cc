// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/architectures.h"
#include "trainwire/zoo/net_builder.h"

#include <fmt/format.h>

namespace tw::zoo {
namespace {

constexpr Shape kImage{224, 224, 3};

/// Version 1: a depthwise and a pointwise convolution (Table 1 of the paper).
struct Separable {
  int filters;
  int stride;
};
constexpr std::array kSeparable{
    Separable{64, 1},  Separable{128, 2},  Separable{128, 1},  Separable{256, 2}, Separable{256, 1},
    Separable{512, 2}, Separable{512, 1},  Separable{512, 1},  Separable{512, 1}, Separable{512, 1},
    Separable{512, 1}, Separable{1024, 2}, Separable{1024, 1},
};

/// Version 2: `count` inverted residuals, the first with `stride` (Table 2 of the paper).
struct Inverted {
  int expansion;
  int filters;
  int count;
  int stride;
};
constexpr std::array kInverted{
    Inverted{1, 16, 1, 1}, Inverted{6, 24, 2, 2},  Inverted{6, 32, 3, 2},  Inverted{6, 64, 4, 2},
    Inverted{6, 96, 3, 1}, Inverted{6, 160, 3, 2}, Inverted{6, 320, 1, 1},
};

/// The names of one inverted residual's layers; `expand` and its norm are unused at expansion 1.
struct InvertedNames {
  std::string expand;
  std::string expand_norm;
  std::string depthwise;
  std::string depthwise_norm;
  std::string project;
  std::string project_norm;
};

InvertedNames keras_names(int index, int /*expansion*/) {
  const std::string name = index == 0 ? "expanded_conv" : fmt::format("block_{}", index);
  return {name + "_expand",       name + "_expand_BN", name + "_depthwise",
          name + "_depthwise_BN", name + "_project",   name + "_project_BN"};
}

InvertedNames torch_names(int index, int expansion) {
  const std::string name = fmt::format("features.{}.conv", index + 1);
  // Without expansion the parts move up by one.
  const int part = expansion == 1 ? 0 : 1;
  return {name + ".0.0",
          name + ".0.1",
          fmt::format("{}.{}.0", name, part),
          fmt::format("{}.{}.1", name, part),
          fmt::format("{}.{}", name, part + 1),
          fmt::format("{}.{}", name, part + 2)};
}

void inverted_residuals(NetBuilder& net, InvertedNames (*name)(int index, int expansion)) {
  int index = 0;
  for (const Inverted& group : kInverted) {
    for (int i = 0; i < group.count; ++i, ++index) {
      const InvertedNames names = name(index, group.expansion);
      if (group.expansion > 1) {
        net.conv(names.expand, {.filters = group.expansion * net.shape().channels});
        net.batch_norm(names.expand_norm);
      }
      net.depthwise(names.depthwise, i == 0 ? group.stride : 1);
      net.batch_norm(names.depthwise_norm);
      net.conv(names.project, {.filters = group.filters});
      net.batch_norm(names.project_norm);
    }
  }
}

}  // namespace

Model mobilenet_keras(int classes) {
  NetBuilder net(kImage, kKerasNorm);
  net.conv("conv1", {.filters = 32, .kernel = 3, .stride = 2});
  net.batch_norm("conv1_bn");
  int index = 1;
  for (const Separable& block : kSeparable) {
    net.depthwise(fmt::format("conv_dw_{}", index), block.stride);
    net.batch_norm(fmt::format("conv_dw_{}_bn", index));
    net.conv(fmt::format("conv_pw_{}", index), {.filters = block.filters});
    net.batch_norm(fmt::format("conv_pw_{}_bn", index));
    ++index;
  }
  net.global_pool();
  net.conv("conv_preds", {.filters = classes, .bias = true});
  return std::move(net).take(kKeras);
}

Model mobilenetv2_keras(int classes) {
  NetBuilder net(kImage, kKerasNorm);
  net.conv("Conv1", {.filters = 32, .kernel = 3, .stride = 2});
  net.batch_norm("bn_Conv1");
  inverted_residuals(net, keras_names);
  net.conv("Conv_1", {.filters = 1280});
  net.batch_norm("Conv_1_bn");
  net.global_pool();
  net.dense("predictions", classes);
  return std::move(net).take(kKeras);
}

Model mobilenetv2_torchvision(int classes) {
  NetBuilder net(kImage, kTorchNorm);
  net.conv("features.0.0", {.filters = 32, .kernel = 3, .stride = 2});
  net.batch_norm("features.0.1");
  inverted_residuals(net, torch_names);
  net.conv("features.18.0", {.filters = 1280});
  net.batch_norm("features.18.1");
  net.global_pool();
  net.dense("classifier.1", classes);
  return std::move(net).take(kTorchvision);
}

}  // namespace tw::zoo
