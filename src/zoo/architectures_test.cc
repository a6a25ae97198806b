// SPDX-License-Identifier: Apache-2.0
// The totals that the libraries and papers publish, against those that the architectures give.
#include "trainwire/zoo/architectures.h"

#include "trainwire/zoo/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tw::zoo {
namespace {

const Layer* layer_of(const Model& model, std::string_view name) {
  const auto layer = std::ranges::find(model.layers, name, &Layer::name);
  return layer != model.layers.end() ? &*layer : nullptr;
}

struct Total {
  const char* model;
  std::int64_t parameters;
  std::int64_t non_trainable;
};

// keras.io/api/applications and model.summary().
class KerasTotals : public ::testing::TestWithParam<Total> {};
TEST_P(KerasTotals, AreThePublishedOnes) {
  const auto model = find(GetParam().model);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->source, "Keras applications");
  EXPECT_EQ(model->parameters(), GetParam().parameters);
  EXPECT_EQ(model->non_trainable(), GetParam().non_trainable);
}
// Non-trainable numbers not printed by Keras' page follow from two per normalised channel:
// densenet169: 2 x 79,200 channels, resnet152: 2 x 75,712.
INSTANTIATE_TEST_SUITE_P(Models, KerasTotals,
                         ::testing::Values(Total{"mobilenet-keras", 4'253'864, 21'888},
                                           Total{"mobilenetv2-keras", 3'538'984, 34'112},
                                           Total{"densenet121-keras", 8'062'504, 83'648},
                                           Total{"densenet169-keras", 14'307'880, 158'400},
                                           Total{"densenet201-keras", 20'242'984, 229'056},
                                           Total{"inceptionv3-keras", 23'851'784, 34'432},
                                           Total{"resnet50-keras", 25'636'712, 53'120},
                                           Total{"resnet101-keras", 44'707'176, 105'344},
                                           Total{"resnet152-keras", 60'419'944, 151'424},
                                           Total{"vgg16-keras", 138'357'544, 0},
                                           Total{"vgg19-keras", 143'667'240, 0}));

// num_params of torchvision's weights; running statistics are buffers there.
class TorchvisionTotals : public ::testing::TestWithParam<Total> {};
TEST_P(TorchvisionTotals, AreThePublishedOnes) {
  const auto model = find(GetParam().model);
  ASSERT_TRUE(model);
  EXPECT_EQ(model->source, "torchvision");
  EXPECT_EQ(model->trainable(), GetParam().parameters);
  EXPECT_EQ(model->non_trainable(), 0);
}
INSTANTIATE_TEST_SUITE_P(Models, TorchvisionTotals,
                         ::testing::Values(Total{"mobilenetv2-torchvision", 3'504'872, 0},
                                           Total{"densenet121-torchvision", 7'978'856, 0},
                                           Total{"densenet161-torchvision", 28'681'000, 0},
                                           Total{"densenet201-torchvision", 20'013'928, 0},
                                           Total{"inceptionv3-torchvision", 27'161'264, 0},
                                           Total{"resnet50-torchvision", 25'557'032, 0},
                                           Total{"resnet101-torchvision", 44'549'160, 0},
                                           Total{"resnet152-torchvision", 60'192'808, 0},
                                           Total{"vgg16-torchvision", 138'357'544, 0},
                                           Total{"vgg19-torchvision", 143'667'240, 0}));

TEST(ResNet200, HasItsClosedFormTotal) {
  // Stage of n units, c filters, d = input channels: the first unit has (d + 9c + 4c) c in its
  // path and 4dc in its projection, the others (4c + 9c + 4c) c. Norms: 2 (input + c + c) a unit.
  std::int64_t expected = 7 * 7 * 3 * 64 + 2 * 64;  // conv1 and its norm
  std::int64_t d = 64;
  std::int64_t c = 64;
  for (const std::int64_t n : {3, 24, 36, 3}) {
    expected += (d + 13 * c) * c + 4 * d * c + (n - 1) * 17 * c * c;
    expected += 2 * (d + 2 * c) + (n - 1) * 2 * 6 * c;
    d = 4 * c;
    c *= 2;
  }
  expected -= 2 * 64;                         // the first unit uses conv1's norm
  expected += 2 * 2048 + 2048 * 1000 + 1000;  // last norm and head
  const auto model = find("resnet200");
  EXPECT_EQ(model->trainable(), expected);
  EXPECT_NEAR(static_cast<double>(expected), 64.7e6, 0.1e6);
}

struct Work {
  const char* model;
  double giga_multiply_adds;
};

// Multiply-adds as torchvision documents its weights ("GFLOPS" there), and as papers print theirs:
// MobileNet 0.569 and MobileNetV2 0.300 (their Table 8 and Table 4), ResNet 3.8, 7.6 and 11.3 with
// the stride on the 1x1 (He et al. 2015, Table 1). Counters differ in what they leave out, hence 3
// %.
class ForwardWork : public ::testing::TestWithParam<Work> {};
TEST_P(ForwardWork, IsWithinThreePercentOfThePublished) {
  const double flops = find(GetParam().model)->forward_flops();
  EXPECT_NEAR(flops / 2e9 / GetParam().giga_multiply_adds, 1, 0.03) << flops / 2e9;
}
INSTANTIATE_TEST_SUITE_P(
    Models, ForwardWork,
    ::testing::Values(Work{"mobilenet-keras", 0.569}, Work{"mobilenetv2-keras", 0.300},
                      Work{"mobilenetv2-torchvision", 0.301},
                      Work{"densenet121-torchvision", 2.834}, Work{"densenet121-keras", 2.834},
                      Work{"densenet161-torchvision", 7.728},
                      Work{"densenet201-torchvision", 4.291},
                      Work{"inceptionv3-torchvision", 5.713}, Work{"inceptionv3-keras", 5.713},
                      Work{"resnet50-torchvision", 4.089}, Work{"resnet101-torchvision", 7.801},
                      Work{"resnet152-torchvision", 11.514}, Work{"resnet50-keras", 3.8},
                      Work{"resnet101-keras", 7.6}, Work{"resnet152-keras", 11.3},
                      Work{"vgg16-torchvision", 15.47}, Work{"vgg16-keras", 15.47},
                      Work{"vgg19-torchvision", 19.632}));

TEST(Architectures, NameLayersAsTheLibrariesDo) {
  for (const auto& [model, layer] :
       {std::pair{"resnet50-keras", "conv5_block3_3_bn"},
        {"resnet50-torchvision", "layer4.2.conv3"},
        {"resnet50-torchvision", "layer1.0.downsample.0"},
        {"densenet121-keras", "conv5_block16_2_conv"},
        {"densenet161-torchvision", "features.denseblock4.denselayer24.conv2"},
        {"mobilenet-keras", "conv_pw_13_bn"},
        {"mobilenetv2-keras", "block_16_project_BN"},
        {"mobilenetv2-torchvision", "features.1.conv.2"},
        {"mobilenetv2-torchvision", "features.17.conv.3"},
        {"inceptionv3-keras", "conv2d_93"},
        {"inceptionv3-torchvision", "Mixed_7c.branch3x3dbl_3b.conv"},
        {"vgg16-keras", "block5_conv3"},
        {"vgg16-torchvision", "features.28"},
        {"vgg19-torchvision", "features.34"},
        {"bert-large-uncased", "encoder.layer.23.output.dense"},
        {"gpt2-xl", "h.47.mlp.c_proj"}}) {
    EXPECT_NE(layer_of(*find(model), layer), nullptr) << model << " " << layer;
  }
}

TEST(Architectures, NameNoTwoLayersAlike) {
  for (const Entry& entry : entries()) {
    std::vector<std::string> seen;
    for (const Layer& layer : entry.build().layers) seen.push_back(layer.name);
    std::ranges::sort(seen);
    EXPECT_EQ(std::ranges::adjacent_find(seen), seen.end()) << entry.name;
  }
}

TEST(Architectures, EndWithTheirHead) {
  // 2048 features to 1000 classes with bias; 1024 for MobileNet's 1x1 convolution.
  EXPECT_EQ(find("resnet50-keras")->layers.back(), (Layer{"predictions", 2'049'000, 0, 4'096'000}));
  EXPECT_EQ(find("mobilenet-keras")->layers.back(), (Layer{"conv_preds", 1'025'000, 0, 2'048'000}));
}

TEST(Architectures, CountInceptionsAuxiliaryClassifier) {
  // conv0 768*128 + 256, conv1 25*128*768 + 1536, fc 769*1000: 3,326,696 more than the 23,834,568
  // parameters that torchvision has without it.
  EXPECT_EQ(find("inceptionv3-torchvision")->trainable(), 23'834'568 + 3'326'696);
}

}  // namespace
}  // namespace tw::zoo
