// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lessons/lessons.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

#include <cmath>

namespace tw::lessons {
namespace {

using testing::HasSubstr;
using trainer::Learnt;

Learnt told(std::vector<trainer::Look> looks, double sum = 1) {
  Learnt learnt{.data = "synthetic", .train_samples = 100, .test_samples = 10, .parameters = 8};
  learnt.digest.assign(trainer::kDigestSums, sum);
  learnt.digest.push_back(8);
  learnt.looks = std::move(looks);
  return learnt;
}

JobLessons job_of(const std::string& strategy, int ranks) {
  JobLessons job{.name = "j", .training = {}};
  job.training.strategy = strategy;
  job.training.arrangement.layout = collective::evenly(ranks, ranks);
  job.training.buckets = {{.elements = 8}};
  job.training.steps = 4;
  workload::Learning& learning = job.training.learning.emplace();
  learning.batch = 5;
  learning.local_steps = 2;
  learning.target_accuracy = 0.7;
  learning.parameters = {8};
  return job;
}

TEST(Lessons, TellAccuracyAgainstStepsSecondsSamplesAndBytes) {
  JobLessons job = job_of("ring", 2);
  job.ranks = {told({{.steps = 4, .time_ns = 4'000'000'000, .loss = 0.5, .accuracy = 0.8}}),
               told({{.steps = 2, .time_ns = 2'000'000'000, .loss = 1, .accuracy = 0.6}})};
  const std::optional<record::Learning> learning = learning_of(job);
  ASSERT_TRUE(learning);
  ASSERT_EQ(learning->points.size(), 2u);
  // 2 steps of 2 local batches of 5 on 2 workers; the first model is 32 bytes, once, and a ring of two
  // sends 2 x 32 in a step.
  const record::LearningPoint first{.rank = 1,
                                    .step = 2,
                                    .time_s = 2,
                                    .samples = 40,
                                    .sent_bytes = 32 + 2 * 64,
                                    .loss = 1,
                                    .accuracy = 0.6};
  EXPECT_EQ(learning->points[0], first);
  EXPECT_EQ(learning->accuracy, 0.8);
  EXPECT_EQ(learning->sent_bytes, 32 + 4 * 64);
  ASSERT_TRUE(learning->target);
  EXPECT_EQ(learning->target->step, 4);
  EXPECT_EQ(learning->target->time_s, 4);
}

TEST(Lessons, OfRanksWithModelsOfTheirOwnAreTheirMean) {
  JobLessons job = job_of("pair_averaging", 2);
  job.ranks = {told({{.steps = 4, .time_ns = 1, .loss = 1, .accuracy = 0.6}}),
               told({{.steps = 4, .time_ns = 2, .loss = 2, .accuracy = 0.7}}, 5)};
  const std::optional<record::Learning> learning = learning_of(job);
  EXPECT_DOUBLE_EQ(learning->accuracy, 0.65);
  EXPECT_EQ(learning->accuracy_low, 0.6);
  EXPECT_EQ(learning->accuracy_high, 0.7);
  EXPECT_EQ(learning->target->step, std::nullopt);
  EXPECT_FALSE(models_check(std::vector{job}));
}

TEST(Lessons, CheckThatWorkersHoldTheSameModel) {
  JobLessons job = job_of("ring", 2);
  job.ranks = {told({}), told({})};
  EXPECT_TRUE(models_check(std::vector{job})->ok);
  job.ranks[1] = told({}, 1.1);
  EXPECT_FALSE(models_check(std::vector{job})->ok);
  job.ranks[1] = told({}, NAN);
  EXPECT_THAT(models_check(std::vector{job})->text, HasSubstr("rank 1 of j holds another model"));
}

TEST(Lessons, MakeABusyMachineACaution) {
  std::vector<record::Check> checks{{.name = "machine", .ok = false, .text = "busy"},
                                    {.name = "sums", .ok = false}};
  const JobLessons idle{.name = "i", .training = {}};
  allow_computing(std::vector{idle}, checks);
  EXPECT_FALSE(checks[0].ok);
  allow_computing(std::vector{idle, job_of("ring", 2)}, checks);
  EXPECT_TRUE(checks[0].ok);
  EXPECT_EQ(checks[0].caution, true);
  EXPECT_FALSE(checks[1].ok);
}

TEST(Lessons, NeedSomethingToLearnFrom) {
  workload::Training training;
  training.learning.emplace().data = "/nowhere";
  try {
    require_data("j", training);
    ADD_FAILURE() << "nothing was missed";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("job j: nothing to learn from: there is no"));
  }
}

}  // namespace
}  // namespace tw::lessons
