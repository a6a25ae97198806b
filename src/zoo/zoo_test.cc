// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/zoo.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

namespace tw::zoo {
namespace {

using ::testing::HasSubstr;

std::string refusal(std::string_view name, const Variation& variation) {
  try {
    find(name, variation);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Find, KnowsEveryEntryByItsFullName) {
  for (const Entry& entry : entries()) {
    const auto model = find(entry.name);
    ASSERT_TRUE(model) << entry.name;
    EXPECT_EQ(model->name, entry.name);
    EXPECT_GT(model->trainable(), 0);
    EXPECT_GT(model->forward_flops(), 0);
    EXPECT_FALSE(model->source.empty());
    EXPECT_FALSE(model->input.empty());
  }
}

TEST(Find, TakesAShortNameForTheKerasVariantElseForTheOnlyOne) {
  for (const auto& [brief, full] : {std::pair{"resnet50", "resnet50-keras"},
                                    {"vgg16", "vgg16-keras"},
                                    {"mobilenetv2", "mobilenetv2-keras"},
                                    {"densenet161", "densenet161-torchvision"},
                                    {"densenet169", "densenet169-keras"},
                                    {"inceptionv3", "inceptionv3-keras"},
                                    {"resnet200", "resnet200-he2016"},
                                    {"bert-large", "bert-large-uncased"},
                                    {"bert-base", "bert-base-uncased"},
                                    {"gpt2", "gpt2"},
                                    {"gpt2-small", "gpt2"},
                                    {"mobilenet", "mobilenet-keras"},
                                    {"mobilenetv1", "mobilenet-keras"},
                                    {"mlp", "mlp"}}) {
    ASSERT_TRUE(find(brief)) << brief;
    EXPECT_EQ(find(brief)->name, full);
  }
}

TEST(Find, UnderstandsThePapersSpellings) {
  for (const auto& [spelling, full] : {std::pair{"ResNet-50", "resnet50-keras"},
                                       {"bert_large", "bert-large-uncased"},
                                       {"BERT-large", "bert-large-uncased"},
                                       {"densenet-161", "densenet161-torchvision"},
                                       {"DenseNet-161", "densenet161-torchvision"},
                                       {"Inception-v3", "inceptionv3-keras"},
                                       {"InceptionV3", "inceptionv3-keras"},
                                       {"GPT2", "gpt2"},
                                       {"GPT-2", "gpt2"},
                                       {"GPT-2-XL", "gpt2-xl"},
                                       {"MobileNetV2", "mobilenetv2-keras"},
                                       {"VGG-16", "vgg16-keras"},
                                       {"ResNet_50_torchvision", "resnet50-torchvision"},
                                       {"ResNet-200", "resnet200-he2016"}}) {
    ASSERT_TRUE(find(spelling)) << spelling;
    EXPECT_EQ(find(spelling)->name, full);
  }
}

TEST(Find, KnowsNoOtherName) {
  for (const char* name : {"", "-", "resnet", "resnet51", "resnet 50", "keras", "bert", "gpt3"}) {
    EXPECT_FALSE(find(name)) << name;
  }
}

TEST(Find, ChangesTheHead) {
  // MobileNetV2: 3,504,872 trainable, less 1281*1000, plus 1281*10.
  EXPECT_EQ(find("mobilenetv2", {.classes = 10})->trainable(), 2'236'682);
  // ResNet: 2049 parameters a class. 50: 25,583,592 trainable; 101: 44,601,832.
  EXPECT_EQ(find("resnet50", {.classes = 10})->trainable(), 25'583'592 - 990 * 2049);
  EXPECT_EQ(find("resnet101", {.classes = 10})->trainable(), 44'601'832 - 990 * 2049);
  // DenseNet201: 1921 a class of 20,013,928. VGG: 4097. MobileNet: 1025 in a 1x1 convolution.
  EXPECT_EQ(find("densenet201", {.classes = 10})->trainable(), 20'013'928 - 990 * 1921);
  EXPECT_EQ(find("vgg16", {.classes = 10})->trainable(), 138'357'544 - 990 * 4097);
  EXPECT_EQ(find("mobilenet", {.classes = 10})->trainable(), 4'231'976 - 990 * 1025);
  // Inception of torchvision has two heads: 2049 and 769 a class.
  EXPECT_EQ(find("inceptionv3-torchvision", {.classes = 10})->trainable(),
            27'161'264 - 990 * (2049 + 769));
}

TEST(Find, RefusesWhatTheModelHasNot) {
  EXPECT_EQ(refusal("bert-large", {.classes = 2}),
            "model bert-large-uncased: classes cannot be set; it takes sequence");
  EXPECT_EQ(refusal("resnet50", {.widths = std::vector{1, 2}}),
            "model resnet50-keras: widths cannot be set; it takes classes");
  EXPECT_EQ(refusal("mlp", {.blocks = 2}), "model mlp: blocks cannot be set; it takes widths");
  EXPECT_THAT(refusal("gpt2", {.width = 2}), HasSubstr("width cannot be set"));
  EXPECT_THAT(refusal("gpt2", {.vocabulary = 2}), HasSubstr("vocabulary cannot be set"));
}

TEST(Find, RefusesValuesOutOfRange) {
  EXPECT_EQ(refusal("resnet50", {.classes = 0}),
            "model resnet50-keras: classes is 0; choose 1 to 10000000");
  EXPECT_THAT(refusal("transformer", {.blocks = 10'001}), HasSubstr("choose 1 to 10000"));
  EXPECT_THAT(refusal("mlp", {.widths = std::vector{5}}), HasSubstr("widths has 1 values; give 2"));
  EXPECT_THAT(refusal("mlp", {.widths = std::vector{5, 0}}), HasSubstr("widths is 0"));
}

TEST(Find, KeepsTheLargestShapesWithinSixtyThreeBits) {
  const Model model = *find(
      "transformer",
      {.blocks = 10'000, .width = 1'000'000, .sequence = 1'000'000, .vocabulary = 10'000'000});
  // 10^4 blocks of 12 * 10^12 weights dominate.
  EXPECT_NEAR(static_cast<double>(model.gradient_bytes().count()), 4 * 12e16, 0.01 * 4 * 12e16);
}

TEST(Names, AreAllFoundAndEachGivenOnce) {
  std::vector<std::string_view> all = names();
  for (const std::string_view name : all) EXPECT_TRUE(find(name)) << name;
  EXPECT_EQ(all.front(), entries().front().name);
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end());
  EXPECT_TRUE(std::ranges::binary_search(all, "resnet50"));
  EXPECT_TRUE(std::ranges::binary_search(all, "resnet50-torchvision"));
}

TEST(ShortName, DropsTheVariant) {
  EXPECT_EQ(short_name("resnet50-torchvision"), "resnet50");
  EXPECT_EQ(short_name("bert-large-uncased"), "bert-large");
  EXPECT_EQ(short_name("gpt2-xl"), "gpt2-xl");
  EXPECT_EQ(short_name(""), "");
}

TEST(Anonymous, HasTheGivenBytesAndNothingElse) {
  const Model model = anonymous(97_MB);
  EXPECT_EQ(model.name, "97MB");
  EXPECT_EQ(model.gradient_bytes(), 97_MB);
  EXPECT_EQ(model.layers.size(), 1);
  EXPECT_EQ(model.forward_flops(), 0);
}

TEST(Anonymous, RoundsUpToWholeElements) {
  EXPECT_EQ(anonymous(Bytes(0)).trainable(), 0);
  EXPECT_EQ(anonymous(Bytes(1)).trainable(), 1);
  EXPECT_EQ(anonymous(Bytes(4)).trainable(), 1);
  EXPECT_EQ(anonymous(Bytes(5)).trainable(), 2);
  EXPECT_THROW(anonymous(Bytes(-4)), std::logic_error);
}

}  // namespace
}  // namespace tw::zoo
