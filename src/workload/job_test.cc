// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/job.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/framework.h"
#include "trainwire/workload/framework_time.h"
#include "trainwire/zoo/zoo.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <numeric>

namespace tw::workload {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Forward order: gradients come last layer first.
zoo::Model model_with(std::vector<zoo::Layer> layers) {
  zoo::Model model;
  model.layers = std::move(layers);
  return model;
}

zoo::Model of(const std::vector<std::int64_t>& trainable) {
  zoo::Model model;
  for (const std::int64_t n : trainable) model.layers.push_back({.name = "layer", .trainable = n});
  return model;
}

std::vector<std::int64_t> sizes_of(const zoo::Model& model, Bytes size, Bytes first = {}) {
  std::vector<std::int64_t> sizes;
  for (const Bucket& bucket : timed_buckets(model, {.first = first, .others = size}, {})) {
    sizes.push_back(bucket.elements);
  }
  return sizes;
}

TEST(BucketSizes, FillFromTheLastLayer) {
  // 40 bytes are 10 elements: 6 + 5 reach them, then 10 alone; 3 is what remains.
  EXPECT_THAT(sizes_of(of({3, 10, 5, 6}), Bytes(40)), ElementsAre(11, 10, 3));
}

TEST(BucketSizes, CloseWhenTheSizeIsReachedExactly) {
  EXPECT_THAT(sizes_of(of({1, 4, 6}), Bytes(40)), ElementsAre(10, 1));
}

TEST(BucketSizes, KeepALayerLargerThanTheSizeWhole) {
  EXPECT_THAT(sizes_of(of({100, 1}), Bytes(8)), ElementsAre(101));
  EXPECT_THAT(sizes_of(of({100, 2}), Bytes(8)), ElementsAre(2, 100));
}

TEST(BucketSizes, OfSizeZeroHoldTheWholeModel) {
  EXPECT_THAT(sizes_of(of({3, 10, 5, 6}), Bytes(0)), ElementsAre(24));
}

TEST(BucketSizes, AreNeverEmpty) {
  EXPECT_THAT(sizes_of(of({0, 4, 0, 0, 4, 0}), Bytes(1)), ElementsAre(4, 4));
  EXPECT_THAT(sizes_of(of({0, 0}), Bytes(1)), IsEmpty());
  EXPECT_THAT(sizes_of(of({0, 0}), Bytes(0)), IsEmpty());
  EXPECT_THAT(sizes_of(of({}), Bytes(0)), IsEmpty());
}

TEST(BucketSizes, LoseNoElementOfAnyModel) {
  for (const zoo::Entry& entry : zoo::entries()) {
    const zoo::Model model = entry.build();
    for (const Bytes size : {0_B, 1_B, 1_MiB, 25_MiB, 100000_MB}) {
      const auto filled = sizes_of(model, size);
      EXPECT_EQ(std::accumulate(filled.begin(), filled.end(), std::int64_t{0}), model.trainable())
          << entry.name << " in buckets of " << exact(size);
      // All but the last reach the size.
      for (std::size_t i = 0; i + 1 < filled.size(); ++i) EXPECT_GE(Bytes(4 * filled[i]), size);
    }
  }
}

TEST(BucketSizes, MayBeginWithASmallerOne) {
  EXPECT_THAT(sizes_of(of({3, 10, 5, 6}), Bytes(40), Bytes(4)), ElementsAre(6, 15, 3));
  // 0 sends everything at once, whatever the first would be.
  EXPECT_THAT(sizes_of(of({3, 10, 5, 6}), Bytes(0), Bytes(4)), ElementsAre(24));
}

// As NCCL's log of DistributedDataParallel says: 2,052,000, 28,852,224 and 15,853,824 bytes of
// ResNet-18 would need that model; these are ResNet-50's by the same rule.
TEST(MeasuredGradients, FillBucketsAsPyTorchDoes) {
  spec::Job job;
  job.model = {"resnet50-torchvision"};
  job.device = {"h200"};
  job.batch = {64};
  const zoo::Model model = model_of(job);
  const Compute compute = compute_of(job, model);
  EXPECT_EQ(compute.total(), std::chrono::microseconds(10'893 + 25'684 + 294));
  const auto buckets = timed_buckets(model, {.first = 1_MiB, .others = 25_MiB}, compute);
  ASSERT_EQ(buckets.size(), 5u);
  EXPECT_EQ(buckets.front().elements, 2'049'000);  // the head: fc.bias and fc.weight
  EXPECT_NEAR(seconds(buckets.front().ready), 0.397e-3, 1e-6);
  EXPECT_EQ(buckets.back().ready, compute.backward);
}

// 161 tensors: half of the time before forward, half while gradients come, of which the head's two, the first that are
// there, wait for two halves of a tensor.
TEST(MeasuredGradients, AreDelayedByWhatTheFrameworkDoesForEachTensor) {
  spec::Job job;
  job.model = {"resnet50-torchvision"};
  job.device = {"h200"};
  job.batch = {64};
  const zoo::Model model = model_of(job);
  const Compute without = compute_of(job, model);
  job.framework = {"pytorch"};
  const Compute with = compute_of(job, model);
  const Duration each = spec::framework_of(job)->tensor_time;
  EXPECT_GT(each, Duration{});
  EXPECT_EQ(framework_time(job, model, with), 161 * each);
  EXPECT_EQ(with.forward - without.forward, 161 * each / 2);
  EXPECT_EQ(with.backward - without.backward, 161 * each / 2);
  EXPECT_NEAR(seconds(with.gradients[1].ready - without.gradients[1].ready), seconds(each), 1e-8);
  EXPECT_EQ(with.gradients.back().ready, with.backward);
}

TEST(ComputeOf, AddsNothingWhereNothingIsComputed) {
  spec::Job job;
  job.framework = {"pytorch"};
  job.model = {"resnet50-torchvision"};
  job.compute = {spec::Compute::None};
  EXPECT_EQ(compute_of(job, model_of(job)).total(), Duration{});
}

TEST(ModelOf, AShortNameMeansTheFrameworksOwnVariant) {
  const auto name = [](const std::string& framework, const std::string& model) {
    spec::Job job;
    job.framework = {framework, spec::Origin::File};
    job.model = {model, spec::Origin::File};
    return model_of(job).name;
  };
  EXPECT_EQ(name("pytorch", "resnet50"), "resnet50-torchvision");
  EXPECT_EQ(name("pytorch", "resnet50-keras"), "resnet50-keras");
  EXPECT_EQ(name("tensorflow", "resnet50"), "resnet50-keras");
}

class GradientTable : public ::testing::Test {
 protected:
  GradientTable() {
    job_.parameters = {Bytes(40)};
    job_.compute_time = {std::chrono::milliseconds(30)};
    job_.gradient_ready = {path_};
  }
  ~GradientTable() override { std::remove(path_.c_str()); }
  Compute from(const std::string& text) {
    std::ofstream(path_) << text;
    return compute_of(job_, model_of(job_));
  }
  spec::Job job_;
  std::string path_ = ::testing::TempDir() + "gradients.csv";
};

TEST_F(GradientTable, IsStretchedToTheJobsBackward) {
  const Compute compute = from("# a comment\nname,elements,ready_us\na,4,2\nb,6,1\n");
  EXPECT_EQ(compute.backward, milliseconds(20));
  ASSERT_EQ(compute.gradients.size(), 2u);
  EXPECT_EQ(compute.gradients[0], (zoo::Gradient{6, milliseconds(10)}));
  EXPECT_EQ(compute.gradients[1], (zoo::Gradient{4, milliseconds(20)}));
}

TEST_F(GradientTable, OfAnotherModelIsRefused) {
  EXPECT_THROW(from("elements,ready_ms\n4,2\n"), DataError);
}

TEST_F(GradientTable, NamesTheLineThatIsWrong) {
  try {
    from("elements,ready_ms\n10,soon\n");
    FAIL();
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("line 2: \"soon\" is no ready_ms"));
  }
}

TEST_F(GradientTable, ThatIsNotThereIsNamed) {
  EXPECT_THROW(compute_of(job_, model_of(job_)), SystemError);
}

TEST(TimedBuckets, AreReadyWhenBackwardHasPassedTheirLayers) {
  const zoo::Model model = model_with({{.name = "a", .trainable = 10, .forward_flops = 6},
                                       {.name = "pool", .forward_flops = 1},
                                       {.name = "b", .trainable = 10, .forward_flops = 2},
                                       {.name = "c", .trainable = 10, .forward_flops = 1}});
  const auto buckets = timed_buckets(model, {.others = Bytes(40)}, {.backward = milliseconds(100)});
  ASSERT_EQ(buckets.size(), 3u);
  EXPECT_EQ(buckets[0].ready, milliseconds(10));  // c: 1 of 10
  EXPECT_EQ(buckets[1].ready, milliseconds(30));  // and b: 2 of 10
  EXPECT_EQ(buckets[2].ready, milliseconds(100));
}

TEST(FusedBuckets, HoldWhatIsReadyWhenTheLastAreThrough) {
  // Ten gradients of 1 MB, one each 10 ms; an exchange takes 12 ms a MB.
  Compute compute{.backward = milliseconds(100)};
  for (int i = 1; i <= 10; ++i) {
    compute.gradients.push_back({.elements = 250'000, .ready = milliseconds(10 * i)});
  }
  const auto takes = [](Bytes bytes) {
    return std::chrono::microseconds(12 * bytes.count() / 1000);
  };
  std::vector<std::int64_t> megabytes;
  std::vector<Duration> ready;
  for (const Bucket& each :
       fused_buckets({}, {.cycle = milliseconds(1), .most = 64_MiB, .takes = takes}, compute)) {
    megabytes.push_back(each.elements / 250'000);
    ready.push_back(each.ready);
  }
  // At 10 one is there; at 22 one; at 34 one; ... at 70 two.
  EXPECT_THAT(megabytes, ElementsAre(1, 1, 1, 1, 1, 2, 2, 1));
  EXPECT_EQ(ready[0], milliseconds(10));
  EXPECT_EQ(ready[1], milliseconds(22));
  EXPECT_EQ(ready[5], milliseconds(70));
  EXPECT_EQ(ready[6], milliseconds(94));
  EXPECT_EQ(ready[7], milliseconds(100));
  // A look a cycle: each alone when the line is fast, all together up to the limit when all are there.
  const auto at_once = [](Bytes) { return Duration(); };
  EXPECT_EQ(fused_buckets({}, {.cycle = milliseconds(1), .takes = at_once}, compute).size(), 10u);
  compute.backward = {};
  for (auto& gradient : compute.gradients) gradient.ready = {};
  EXPECT_EQ(fused_buckets({}, {.cycle = milliseconds(1), .takes = at_once}, compute).size(), 1u);
  EXPECT_EQ(fused_buckets(
                {}, {.cycle = milliseconds(1), .most = Bytes(4'000'000), .takes = at_once}, compute)
                .size(),
            3u);
}

TEST(TimedBuckets, OfAModelWithoutWorkFollowItsParameters) {
  const zoo::Model model =
      model_with({{.name = "a", .trainable = 30}, {.name = "b", .trainable = 10}});
  const auto buckets = timed_buckets(model, {.others = Bytes(4)}, {.backward = milliseconds(40)});
  ASSERT_EQ(buckets.size(), 2u);
  EXPECT_EQ(buckets[0].ready, milliseconds(10));
  EXPECT_EQ(buckets[1].ready, milliseconds(40));
}

TEST(TimedBuckets, OfAnEmptyModelAreNone) {
  EXPECT_TRUE(timed_buckets(model_with({}), {}, {.backward = milliseconds(1)}).empty());
}

TEST(TimedBuckets, OfOneBucketAreReadyAtTheEnd) {
  const zoo::Model model = model_with({{.name = "a", .trainable = 3, .forward_flops = 0}});
  const auto buckets = timed_buckets(model, {.others = Bytes(0)}, {.backward = milliseconds(7)});
  ASSERT_EQ(buckets.size(), 1u);
  EXPECT_EQ(buckets[0].elements, 3);
  EXPECT_EQ(buckets[0].ready, milliseconds(7));
}

}  // namespace
}  // namespace tw::workload
