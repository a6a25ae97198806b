// SPDX-License-Identifier: Apache-2.0
#include "trainwire/workload/learning.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"
#include "trainwire/workload/training.h"
#include "trainwire/workload/vocabulary.h"
#include "trainwire/workload/volume.h"

#include <gmock/gmock.h>

namespace tw::workload {
namespace {

using testing::HasSubstr;

Training trained(const std::string& keys) {
  const spec::Experiment experiment =
      spec::parse("[network]\nhosts = 4\n[[job]]\nmodel = \"mlp\"\ncompute = \"train\"\n" + keys,
                  "test", vocabulary());
  return training_of(experiment, experiment.jobs.front());
}

std::string refusal(const std::string& keys) {
  try {
    trained(keys);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

TEST(Learning, SendsAsManyWordsAsItsGradientsNeed) {
  // 784 x 256 + 256, 256 x 256 + 256, 256 x 10 + 10 parameters.
  constexpr std::int64_t kParameters = 200'960 + 65'792 + 2'570;
  EXPECT_EQ(trained("").elements(), kParameters);
  EXPECT_EQ(trained("gradient = \"fp16\"").elements(), kParameters / 2);
  // 1 % of them is 2694 gradients, with a number each.
  EXPECT_EQ(trained("gradient = \"topk\"").elements(), 2 * 2'694);
  EXPECT_EQ(trained("gradient = \"topk\"").learning->parameters.front(), kParameters);
}

TEST(Learning, OfHalvesMovesHalfTheBytes) {
  EXPECT_EQ(demand(trained("gradient = \"fp16\"")).count() * 2, demand(trained("")).count());
}

TEST(Learning, OfSmallBucketsKeepsOneGradientOfEach) {
  EXPECT_EQ(kept_gradients(10, 0.01), 1);
  EXPECT_EQ(kept_gradients(0, 0.01), 0);
  EXPECT_EQ(kept_gradients(1000, 0.0101), 11);
}

TEST(Learning, RefusesWhatCannotBeTrained) {
  EXPECT_THAT(refusal("strategy = \"all_to_all\""), HasSubstr("sums no gradients"));
  EXPECT_THAT(refusal("strategy = \"pair_averaging\"\ngradient = \"fp16\""),
              HasSubstr("exchanges models, which travel whole"));
  EXPECT_THAT(refusal("strategy = \"ps\"\nasynchronous = true\ngradient = \"topk\""),
              HasSubstr("an asynchronous server exchanges models"));
}

TEST(Learning, TakesItsComputeTimeFromTheFileOrFromOneCore) {
  EXPECT_TRUE(trained("compute_time = \"30ms\"").learning->paced);
  EXPECT_EQ(trained("compute_time = \"30ms\"").compute.total(), std::chrono::milliseconds(30));
  const Training estimated = trained("local_steps = 4");
  EXPECT_FALSE(estimated.learning->paced);
  EXPECT_EQ(estimated.compute.source, "estimated: one processor core at 20 GFLOP/s");
  EXPECT_NEAR(seconds(estimated.compute.total()), 4 * seconds(trained("").compute.total()), 1e-6);
}

}  // namespace
}  // namespace tw::workload
