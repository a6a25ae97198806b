// SPDX-License-Identifier: Apache-2.0
// Whole trainings over loopback, a thread for each rank: all strategies end with the model that one
// rank alone finds with the same samples.
#include "trainwire/trainer/pupil.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/trainer/loop.h"
#include "trainwire/trainer/side_talk.h"

#include <gmock/gmock.h>

#include <barrier>
#include <cmath>
#include <future>
#include <map>
#include <memory>

namespace tw::trainer {
namespace {

using workload::Precision;

constexpr int kSteps = 6;
/// Samples that all workers together take in a step: what 1 to 8 of them can share.
constexpr int kTogether = 840;

const learn::DataSet& data() {
  static const learn::DataSet set = learn::synthetic_data(2, 2000, 200);
  return set;
}

Task lesson_job(const std::string& strategy, int workers, int servers = 0) {
  Task job;
  job.log = job.sockets = "/dev/null";
  workload::Training& training = job.training;
  training.strategy = strategy;
  training.arrangement.layout = collective::evenly(workers + servers, (workers + servers + 1) / 2);
  training.arrangement.servers = std::max(servers, 1);
  training.arrangement.seed = 3;
  training.steps = kSteps;
  training.learning =
      workload::Learning{.model = "mlp",
                         .widths = {784, 12, 10},
                         .data = "synthetic",
                         .batch = kTogether / workers,
                         .learning_rate = 0.1,
                         .momentum = 0.9,
                         .evaluate_every = 2,
                         // 12 x 10 + 10 of the last layer, 784 x 12 + 12 of the first.
                         .parameters = {130, 9420}};
  return job;
}

/// The payload that the job's learning needs.
Task ready(Task job) {
  job.training.buckets.clear();
  for (const std::int64_t parameters : job.training.learning->parameters) {
    job.training.buckets.push_back(
        {.elements = workload::payload_words(*job.training.learning, parameters)});
  }
  return job;
}

std::vector<Learnt> learn_job(const Task& wanted) {
  const Task job = ready(wanted);
  const int ranks = job.training.ranks();
  std::vector<std::unique_ptr<transport::tcp::Listener>> listeners;
  transport::tcp::Peering all{.token = transport::tcp::make_token()};
  for (int rank = 0; rank < ranks; ++rank) {
    listeners.push_back(std::make_unique<transport::tcp::Listener>("127.0.0.1"));
    all.endpoints.push_back(listeners.back()->endpoint());
  }
  data();
  std::barrier done(ranks);
  std::vector<std::future<Learnt>> futures;
  for (int rank = 0; rank < ranks; ++rank) {
    futures.push_back(std::async(std::launch::async, [&, rank] {
      Task task = job;
      task.rank = rank;
      transport::tcp::Peering peering = all;
      peering.rank = rank;
      peering.peers = peers_of(task.training, rank);
      peering.lanes = lanes_of(task);
      const RankConnections connections =
          sorted_out(connect_all(*listeners[static_cast<std::size_t>(rank)], peering));
      Memory memory;
      const LoopResult result =
          run_loop(task, connections, {.leave = [&] { done.arrive_and_wait(); }}, memory, &data());
      return *result.learnt;
    }));
  }
  std::vector<Learnt> learnt;
  for (auto& future : futures) learnt.push_back(future.get());
  return learnt;
}

/// How far two models are apart, as a share of their size: random sums of a difference are as large
/// as the difference.
double distance(const Learnt& one, const Learnt& other) {
  double squares = 0;
  for (std::size_t i = 0; i < kDigestSums; ++i) {
    squares += std::pow(one.digest[i] - other.digest[i], 2);
  }
  return std::sqrt(squares / kDigestSums / one.digest.back());
}

const Learnt& alone() {
  static const Learnt learnt = learn_job(lesson_job("ring", 1)).front();
  return learnt;
}

/// Sums of floats in another order differ in their last bits, some 1e-7 each; steps add up.
constexpr double kRounding = 1e-5;

/// A model and a training that are small enough for every strategy and number of workers: three
/// steps, so that the second has a momentum and the third one that came through an exchange.
Task short_lesson(const std::string& strategy, int workers, int servers = 0) {
  Task job = lesson_job(strategy, workers, servers);
  job.training.steps = 3;
  job.training.learning->widths = {784, 3, 10};
  job.training.learning->parameters = {40, 2355};
  job.training.learning->evaluate_every = 3;
  return job;
}

class SummingStrategy : public testing::TestWithParam<std::string> {};

TEST_P(SummingStrategy, EndsWithTheModelOfOneRankThatTakesAllSamples) {
  static const Learnt one = learn_job(short_lesson("ring", 1)).front();
  const collective::Strategy& row = collective::strategy(GetParam());
  for (int workers = 1; workers <= 8; ++workers) {
    const int servers = row.has_servers ? 1 + workers / 4 : 0;
    Task job = short_lesson(GetParam(), workers, servers);
    job.training.overlap = workers % 2 == 0;
    const std::vector<Learnt> learnt = learn_job(job);
    for (int rank = 0; rank < workers; ++rank) {
      EXPECT_LT(distance(learnt[static_cast<std::size_t>(rank)], one), kRounding)
          << workers << " workers, rank " << rank;
    }
  }
}

std::vector<std::string> summing_strategies() {
  std::vector<std::string> names;
  for (const collective::Strategy& row : collective::catalogue()) {
    const bool sums = row.operation == collective::Operation::AllReduce ||
                      row.operation == collective::Operation::ParameterServer;
    if (sums) names.emplace_back(row.name);
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Of, SummingStrategy, testing::ValuesIn(summing_strategies()),
                         [](const auto& tested) { return tested.param; });

TEST(Pupil, OfAnotherSeedFindsAnotherModel) {
  Task job = lesson_job("ring", 1);
  job.training.arrangement.seed = 4;
  job.training.learning->learning_rate = 0.1;
  // Signs of sums differ too, so squares are compared.
  EXPECT_GT(std::fabs(learn_job(job).front().digest.back() / alone().digest.back() - 1), 1e-3);
}

TEST(Pupil, WithHalvesEndsNearTheSameModel) {
  Task job = lesson_job("ring", 4);
  job.training.learning->precision = Precision::Fp16;
  const std::vector<Learnt> learnt = learn_job(job);
  // Eleven bits of each gradient, and of the first model.
  EXPECT_LT(distance(learnt[0], alone()), 2e-3);
  EXPECT_GT(distance(learnt[0], alone()), kRounding);
  EXPECT_EQ(learnt[0].digest, learnt[3].digest);
}

TEST(Pupil, WithTheLargestGradientsAloneLearnsToo) {
  Task job = lesson_job("halving_doubling", 4);
  job.training.learning->precision = Precision::TopK;
  job.training.learning->top_k = 0.05;
  job.training.learning->batch = 105;
  job.training.broadcast = false;
  job.training.steps = 40;
  const std::vector<Learnt> learnt = learn_job(job);
  EXPECT_EQ(learnt[0].digest, learnt[3].digest);
  EXPECT_GT(learnt[0].looks.back().accuracy, 0.8);
}

TEST(Pupil, WithLocalStepsOfOneWorkerTakesThemAll) {
  // One worker's local steps are its steps: 6 steps of one batch, or 2 of three. Only rates differ: they
  // fall with steps.
  Task job = lesson_job("ring", 1);
  job.training.learning->local_steps = 3;
  job.training.steps = 2;
  EXPECT_LT(distance(learn_job(job).front(), alone()), 0.1);
}

TEST(Pupil, WithLocalStepsEndsWithTheSameModelEverywhere) {
  Task job = lesson_job("ring", 3);
  job.training.learning->local_steps = 4;
  const std::vector<Learnt> learnt = learn_job(job);
  EXPECT_EQ(learnt[0].digest, learnt[2].digest);
  EXPECT_GT(learnt[0].looks.back().accuracy, 0.8);
}

TEST(Pupil, OfAnAsynchronousServerLearnsAndIsToldHowOldModelsWere) {
  Task job = lesson_job("ps", 3, 2);
  job.training.arrangement.asynchronous = true;
  job.training.learning->batch = 40;
  job.training.steps = 40;
  const std::vector<Learnt> learnt = learn_job(job);
  for (int rank = 0; rank < 3; ++rank) {
    EXPECT_GT(learnt[static_cast<std::size_t>(rank)].looks.back().accuracy, 0.8);
  }
  EXPECT_EQ(learnt[3].staleness.pushes, 3 * 40);
  // Between two pushes of a worker each other one has pushed once, on average.
  EXPECT_LE(learnt[3].staleness.sum, 3 * 40 * 2);
  EXPECT_GE(learnt[3].staleness.most, 1);
}

TEST(Pupil, OfPairAveragingLearns) {
  Task job = lesson_job("pair_averaging", 4);
  job.training.steps = 20;
  for (const Learnt& learnt : learn_job(job)) EXPECT_GT(learnt.looks.back().accuracy, 0.8);
}

TEST(Pupil, JudgesEveryLookOnce) {
  // After 2, 4 and 6 steps; the last one is rank 0's.
  std::map<std::int64_t, int> looks;
  const std::vector<Learnt> all = learn_job(lesson_job("ring", 2));
  for (const Learnt& learnt : all) {
    for (const Look& look : learnt.looks) ++looks[look.steps];
  }
  EXPECT_THAT(looks, testing::ElementsAre(std::pair{2, 1}, std::pair{4, 1}, std::pair{6, 1}));
  EXPECT_EQ(all[0].looks.back().steps, 6);
}

/// A worker alone whose step is three calls.
void take_steps(Pupil& pupil, std::int64_t first, std::int64_t end) {
  for (std::int64_t step = first; step < end; ++step) {
    pupil.forward(step);
    for (int bucket = 0; bucket < 2; ++bucket) pupil.backward(step, bucket);
    pupil.update(step);
  }
}

TEST(Pupil, GoesOnFromItsStateAsIfNothingHadBeen) {
  for (const Precision precision : {Precision::Fp32, Precision::Fp16, Precision::TopK}) {
    Task job = lesson_job("ring", 1);
    job.training.learning->precision = precision;
    job.training.learning->top_k = 0.02;
    job.training.learning->batch = 40;
    job = ready(job);
    std::vector<float> payload(static_cast<std::size_t>(job.training.elements()));
    Pupil whole(job, data(), payload);
    take_steps(whole, 0, 3);
    const std::vector<std::byte> bytes = learn::to_bytes(whole.state(3));
    take_steps(whole, 3, 6);
    Pupil other(job, data(), payload);
    const learn::State state = learn::state_from(bytes);
    EXPECT_EQ(state.step, 3);
    other.restore(state);
    take_steps(other, state.step, 6);
    EXPECT_EQ(other.learnt().digest, whole.learnt().digest);
  }
}

TEST(Pupil, RefusesTheStateOfAnotherModel) {
  const Task job = ready(lesson_job("ring", 1));
  std::vector<float> payload(static_cast<std::size_t>(job.training.elements()));
  Pupil pupil(job, data(), payload);
  EXPECT_THROW(pupil.restore({.step = 1, .arrays = {{"parameters", {1, 2}}}}), DataError);
}

}  // namespace
}  // namespace tw::trainer
