// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/task.h"

#include "trainwire/base/error.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tw::trainer {
namespace {

Task some_task() {
  Task task;
  workload::Training& training = task.training;
  training.name = "job0";
  training.model.name = "resnet50";
  training.strategy = "ps";
  training.arrangement = {
      .layout = collective::evenly(5, 5), .servers = 2, .asynchronous = true, .seed = 9};
  training.buckets = {{.elements = 10, .ready = Duration(5)},
                      {.elements = 0, .ready = Duration(9)}};
  training.compute = {.forward = Duration(3), .backward = Duration(9), .jitter = 0.1};
  training.straggler = 3;
  training.straggler_factor = 1.5;
  training.steps = 7;
  training.warmup = 2;
  training.overlap = true;
  task.rank = 3;
  task.token = transport::tcp::make_token();
  task.address = "10.0.0.2";
  task.verify = true;
  task.idle_connections = 2;
  task.refused_by = {1, 2};
  task.bench = {{.elements = 4, .repeats = 3}};
  task.pairs = PairBench{.time_ns = 5, .pings = 6, .repeats = 7};
  return task;
}

TEST(Task, ComesBackFromItsDocument) {
  const Task task = some_task();
  EXPECT_EQ(task_from(to_json(task)), task);
}

TEST(Task, KnowsWhoServes) {
  Task task = some_task();
  EXPECT_TRUE(task.is_server());
  task.rank = 2;
  EXPECT_FALSE(task.is_server());
}

TEST(Task, ThatIsNoneIsRefused) {
  EXPECT_THROW(task_from(nlohmann::json::object()), DataError);
  nlohmann::json document = to_json(some_task());
  document["token"] = "abc";
  EXPECT_THROW(task_from(document), DataError);
  document = to_json(some_task());
  document["training"]["steps"] = "many";
  EXPECT_THROW(task_from(document), DataError);
  document = to_json(some_task());
  document["training"]["strategy"] = "rnig";
  EXPECT_THROW(task_from(document), DataError);
}

}  // namespace
}  // namespace tw::trainer
