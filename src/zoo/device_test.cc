// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/device.h"

#include "trainwire/base/error.h"
#include "trainwire/zoo/zoo.h"

#include <gtest/gtest.h>

namespace tw::zoo {
namespace {

using namespace std::chrono_literals;

Device device(std::string_view name) { return *find_device(name); }

TEST(FindDevice, KnowsTheListedOnes) {
  for (const Device& known : devices()) {
    EXPECT_EQ(find_device(known.name)->name, known.name);
    EXPECT_GT(known.peak_flops, 0);
    EXPECT_FALSE(known.source.empty());
  }
  EXPECT_EQ(find_device("A100")->name, "a100");
  EXPECT_FALSE(find_device("a10"));
  EXPECT_FALSE(find_device(""));
}

TEST(ComputeTime, ReproducesEveryCalibration) {
  for (const Calibration& row : calibrations()) {
    const ComputeTime time = compute_time(*find(row.model), device(row.device), row.batch);
    EXPECT_NEAR(seconds(time.total()), seconds(row.iteration), 1e-9) << row.model;
    EXPECT_TRUE(time.calibrated);
    EXPECT_EQ(time.source, row.source);
  }
}

TEST(ComputeTime, GivesTheIterationTimesOfSalamyTable31) {
  EXPECT_EQ(compute_time(*find("bert-large"), device("a100"), 8).total(), 840ms);
  EXPECT_EQ(compute_time(*find("vgg16-torchvision"), device("a100"), 64).total(), 370ms);
  EXPECT_EQ(compute_time(*find("densenet161"), device("a100"), 64).total(), 380ms);
  EXPECT_EQ(compute_time(*find("resnet50-torchvision"), device("a100"), 64).total(), 160ms);
}

TEST(Efficiency, IsWorkOverTimeAndPeak) {
  // ResNet-50: 4.089 G multiply-adds x 2 x 3 x 64 samples / 0.16 s = 9.81 TFLOP/s of 19.5: 0.503.
  const Model resnet = *find("resnet50-torchvision");
  EXPECT_NEAR(compute_time(resnet, device("a100"), 64).efficiency, 0.503, 0.003);
}

TEST(ComputeTime, SpendsTwiceForwardOnBackward) {
  const ComputeTime time = compute_time(*find("vgg16-torchvision"), device("a100"), 64);
  EXPECT_NEAR(seconds(time.backward), 2 * seconds(time.forward), 2e-9);
}

TEST(ComputeTime, GrowsWithTheBatch) {
  const Model model = *find("resnet50-torchvision");
  EXPECT_EQ(compute_time(model, device("a100"), 128).total(), 320ms);
  EXPECT_EQ(compute_time(model, device("a100"), 1).total(), 2500us);
}

TEST(ComputeTime, IsSharedByTheLayersToTheLastNanosecond) {
  for (const Entry& entry : entries()) {
    const Model model = entry.build();
    const ComputeTime time = compute_time(model, device("t4"), 7);
    ASSERT_EQ(time.layers.size(), model.layers.size());
    Duration forward{0};
    Duration backward{0};
    for (const LayerTime& layer : time.layers) {
      EXPECT_GE(layer.forward, Duration(0)) << layer.layer;
      forward += layer.forward;
      backward += layer.backward;
    }
    EXPECT_EQ(forward, time.forward) << entry.name;
    EXPECT_EQ(backward, time.backward) << entry.name;
  }
}

TEST(ComputeTime, GivesLayersTheirShareOfTheFlops) {
  // Layers of 30, 0 and 90 FLOPs: a quarter, nothing and three quarters, in forward order.
  const Model model{.name = "m",
                    .source = "",
                    .input = "",
                    .layers = {{"a", 1, 0, 30.0}, {"b", 1, 0, 0.0}, {"c", 1, 0, 90.0}}};
  const Device slow{.name = "slow", .summary = "", .peak_flops = 1, .source = ""};
  const ComputeTime time = compute_time(model, slow, 1);
  EXPECT_EQ(time.layers[0].layer, "a");
  EXPECT_NEAR(seconds(time.layers[0].forward) / seconds(time.forward), 0.25, 1e-9);
  EXPECT_EQ(time.layers[1].forward, 0s);
  EXPECT_NEAR(seconds(time.layers[2].backward) / seconds(time.backward), 0.75, 1e-9);
}

TEST(ComputeTime, KeepsTheCalibrationOfAModelWithAnotherHead) {
  // Ten classes save 990 * 2048 * 2 of 7.7 GFLOPs: 0.05 % of 0.7 s.
  const ComputeTime time = compute_time(*find("resnet50", {.classes = 10}), device("t4"), 64);
  EXPECT_TRUE(time.calibrated);
  EXPECT_NEAR(seconds(time.total()), 0.7 * (1 - 0.00053), 1e-4);
}

TEST(ComputeTime, EstimatesFromTheOtherVariantOfTheArchitecture) {
  const ComputeTime keras = compute_time(*find("resnet50-keras"), device("a100"), 64);
  EXPECT_FALSE(keras.calibrated);
  EXPECT_EQ(keras.source, "estimated from resnet50-torchvision (salamy Table 3.1)");
  EXPECT_EQ(keras.efficiency,
            compute_time(*find("resnet50-torchvision"), device("a100"), 64).efficiency);
}

TEST(ComputeTime, EstimatesFromTheMedianOfTheDevice) {
  // Three rows on the T4: DenseNet-121 1.55, ResNet-50 2.12, Inception 4.4 TFLOP/s. The middle one.
  const ComputeTime time = compute_time(*find("mobilenetv2"), device("t4"), 64);
  EXPECT_FALSE(time.calibrated);
  EXPECT_EQ(time.source, "estimated: median of t4's calibrated models");
  EXPECT_EQ(time.efficiency, compute_time(*find("resnet50"), device("t4"), 64).efficiency);
  // Four on the A100: half way between the middle two, BERT 0.36, DenseNet 0.40, ResNet 0.50, VGG
  // 0.82.
  const double middle = (compute_time(*find("densenet161"), device("a100"), 64).efficiency +
                         compute_time(*find("resnet50"), device("a100"), 64).efficiency) /
                        2;
  EXPECT_DOUBLE_EQ(compute_time(*find("mlp"), device("a100"), 64).efficiency, middle);
}

TEST(ComputeTime, EstimatesFromAllRowsOnADeviceWithoutOne) {
  // Of 0.19, 0.26, 0.36, 0.40, 0.50, 0.54 and 0.82 the fourth, DenseNet-161's on the A100.
  const double middle = compute_time(*find("densenet161"), device("a100"), 64).efficiency;
  for (const char* name : {"v100", "h100", "cpu"}) {
    const ComputeTime time = compute_time(*find("resnet50"), device(name), 64);
    EXPECT_FALSE(time.calibrated);
    EXPECT_EQ(time.source, "estimated: median of all calibrated models on other devices");
    EXPECT_DOUBLE_EQ(time.efficiency, middle) << name;
  }
}

TEST(ComputeTime, IsZeroWithoutFlops) {
  const ComputeTime time = compute_time(anonymous(97_MB), device("a100"), 64);
  EXPECT_EQ(time.total(), 0s);
  EXPECT_EQ(time.efficiency, 0);
  EXPECT_FALSE(time.calibrated);
  ASSERT_EQ(time.layers.size(), 1);
  EXPECT_EQ(time.layers[0].forward, 0s);
}

TEST(ComputeTime, RefusesAStepThatOutlastsTheClock) {
  const Model huge = *find("transformer", {.blocks = 10'000, .width = 1'000'000});
  EXPECT_THROW(compute_time(huge, device("cpu"), 1'000'000), SpecError);
  EXPECT_THROW(compute_time(huge, device("cpu"), 0), std::logic_error);
}

}  // namespace
}  // namespace tw::zoo
