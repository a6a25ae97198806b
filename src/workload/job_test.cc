// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/job.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tw::workload {
namespace {

using std::chrono::milliseconds;

/// Forward order: gradients come last layer first.
zoo::Model model_with(std::vector<zoo::Layer> layers) {
  zoo::Model model;
  model.layers = std::move(layers);
  return model;
}

TEST(TimedBuckets, AreReadyWhenBackwardHasPassedTheirLayers) {
  const zoo::Model model = model_with({{.name = "a", .trainable = 10, .forward_flops = 6},
                                       {.name = "pool", .forward_flops = 1},
                                       {.name = "b", .trainable = 10, .forward_flops = 2},
                                       {.name = "c", .trainable = 10, .forward_flops = 1}});
  const auto buckets = timed_buckets(model, Bytes(40), milliseconds(100));
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].ready, milliseconds(10));  // c: 1 of 10
  EXPECT_EQ(buckets[1].ready, milliseconds(30));  // and b: 2 of 10
  EXPECT_EQ(buckets[2].ready, milliseconds(100));
}

TEST(TimedBuckets, OfAModelWithoutWorkFollowItsParameters) {
  const zoo::Model model =
      model_with({{.name = "a", .trainable = 30}, {.name = "b", .trainable = 10}});
  const auto buckets = timed_buckets(model, Bytes(4), milliseconds(40));
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].ready, milliseconds(10));
  EXPECT_EQ(buckets[1].ready, milliseconds(40));
}

TEST(TimedBuckets, OfAnEmptyModelAreNone) {
  EXPECT_TRUE(timed_buckets(model_with({}), Bytes(0), milliseconds(1)).empty());
}

TEST(TimedBuckets, OfOneBucketAreReadyAtTheEnd) {
  const zoo::Model model = model_with({{.name = "a", .trainable = 3, .forward_flops = 0}});
  const auto buckets = timed_buckets(model, Bytes(0), milliseconds(7));
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0].elements, 3);
  EXPECT_EQ(buckets[0].ready, milliseconds(7));
}

}  // namespace
}  // namespace tw::workload
