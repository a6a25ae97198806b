// SPDX-License-Identifier: Apache-2.0
#include "trainwire/zoo/model.h"

#include "trainwire/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

namespace tw::zoo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Model model_of(const std::vector<std::int64_t>& trainable) {
  Model model;
  for (const std::int64_t n : trainable) model.layers.push_back({.name = "layer", .trainable = n});
  return model;
}

TEST(Model, AddsUpItsLayers) {
  const Model model{.name = "m",
                    .source = "",
                    .input = "",
                    .layers = {{"a", 10, 2, 5.0}, {"b", 0, 0, 1.5}, {"c", 7, 4, 0.0}}};
  EXPECT_EQ(model.trainable(), 17);
  EXPECT_EQ(model.non_trainable(), 6);
  EXPECT_EQ(model.parameters(), 23);
  EXPECT_DOUBLE_EQ(model.forward_flops(), 6.5);
  EXPECT_EQ(model.gradient_bytes(), Bytes(68));
}

TEST(Buckets, FillFromTheLastLayer) {
  // 40 bytes are 10 elements: 6 + 5 reach them, then 10 alone; 3 is what remains.
  EXPECT_THAT(buckets(model_of({3, 10, 5, 6}), Bytes(40)), ElementsAre(11, 10, 3));
}

TEST(Buckets, CloseWhenTheSizeIsReachedExactly) {
  EXPECT_THAT(buckets(model_of({1, 4, 6}), Bytes(40)), ElementsAre(10, 1));
}

TEST(Buckets, KeepALayerLargerThanTheSizeWhole) {
  EXPECT_THAT(buckets(model_of({100, 1}), Bytes(8)), ElementsAre(101));
  EXPECT_THAT(buckets(model_of({100, 2}), Bytes(8)), ElementsAre(2, 100));
}

TEST(Buckets, OfSizeZeroHoldTheWholeModel) {
  EXPECT_THAT(buckets(model_of({3, 10, 5, 6}), Bytes(0)), ElementsAre(24));
}

TEST(Buckets, AreNeverEmpty) {
  EXPECT_THAT(buckets(model_of({0, 4, 0, 0, 4, 0}), Bytes(1)), ElementsAre(4, 4));
  EXPECT_THAT(buckets(model_of({0, 0}), Bytes(1)), IsEmpty());
  EXPECT_THAT(buckets(model_of({0, 0}), Bytes(0)), IsEmpty());
  EXPECT_THAT(buckets(model_of({}), Bytes(0)), IsEmpty());
}

TEST(Buckets, LoseNoElementOfAnyModel) {
  for (const Entry& entry : entries()) {
    const Model model = entry.build();
    for (const Bytes size : {0_B, 1_B, 1_MiB, 25_MiB, 100000_MB}) {
      const auto filled = buckets(model, size);
      EXPECT_EQ(std::accumulate(filled.begin(), filled.end(), std::int64_t{0}), model.trainable())
          << entry.name << " in buckets of " << exact(size);
      // All but the last reach the size.
      for (std::size_t i = 0; i + 1 < filled.size(); ++i) EXPECT_GE(Bytes(4 * filled[i]), size);
    }
  }
}

TEST(Buckets, RefuseANegativeSize) {
  EXPECT_THROW(buckets(model_of({1}), Bytes(-1)), std::logic_error);
}

}  // namespace
}  // namespace tw::zoo
