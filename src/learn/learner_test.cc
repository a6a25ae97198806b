// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/learner.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::learn {
namespace {

using testing::HasSubstr;

Lesson lesson_of(const std::string& model, int batch) {
  return {.model = model, .batch = batch, .learning_rate = 0.02, .seed = 5};
}

void teach(Learner& learner, int batch, int steps) {
  for (int step = 0; step < steps; ++step) {
    learner.forward(std::int64_t{step} * batch);
    learner.backward(std::ssize(learner.parameters()));
    learner.descend(0, std::ssize(learner.parameters()));
  }
}

TEST(Learner, LearnsASyntheticSet) {
  const DataSet data = synthetic_data(1, 1000, 300);
  for (const char* model : {"mlp", "cnn"}) {
    Learner learner(lesson_of(model, 20), data);
    EXPECT_LT(learner.judge(learner.parameters()).accuracy(), 0.4);
    teach(learner, 20, 150);
    EXPECT_GT(learner.judge(learner.parameters()).accuracy(), 0.9) << model;
  }
}

TEST(Learner, DoesTheSameForTheSameSeed) {
  const DataSet data = synthetic_data(1, 200, 10);
  Learner one(lesson_of("cnn", 8), data);
  Learner two(lesson_of("cnn", 8), data);
  teach(one, 8, 30);  // more than an epoch
  teach(two, 8, 30);
  EXPECT_TRUE(std::ranges::equal(one.parameters(), two.parameters()));
}

TEST(Learner, TakesEverySampleOnceInAnEpoch) {
  const DataSet data = synthetic_data(1, 90, 10);
  Learner all({.model = "mlp", .batch = 90, .seed = 5}, data);
  const double whole = all.forward(0).loss;
  Learner parts({.model = "mlp", .batch = 15, .seed = 5}, data);
  double sum = 0;
  for (int i = 0; i < 6; ++i) sum += parts.forward(15 * i).loss;
  EXPECT_NEAR(sum, whole, 1e-4 * whole);
}

TEST(Learner, ProposesTheStepThatItWouldTake) {
  const DataSet data = synthetic_data(1, 90, 10);
  Learner one(lesson_of("mlp", 10), data);
  Learner two(lesson_of("mlp", 10), data);
  const std::int64_t all = std::ssize(one.parameters());
  for (Learner* learner : {&one, &two}) {
    learner->forward(0);
    learner->backward(all);
  }
  const std::vector<float> before(one.parameters().begin(), one.parameters().end());
  one.descend(0, all);
  two.propose(0, all, 0.5);
  for (std::size_t i = 0; i < before.size(); i += 1000) {
    EXPECT_NEAR(one.parameters()[i] - before[i], 2 * two.gradients()[i], 1e-7);
    EXPECT_EQ(two.parameters()[i], before[i]);
  }
}

TEST(Learner, RefusesAModelThatDoesNotFitThePictures) {
  const DataSet data = synthetic_data(1, 20, 20);
  try {
    Learner learner({.model = "mlp", .widths = {100, 10}, .batch = 1}, data);
    ADD_FAILURE() << "100 inputs for 784 values were taken";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("begin widths with 784"));
  }
}

}  // namespace
}  // namespace tw::learn
