// SPDX-License-Identifier: Apache-2.0
#include "trainwire/trainer/task.h"

#include "trainwire/base/error.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tw::trainer {
namespace {

Task some_task() {
  Task task;
  task.token = transport::tcp::make_token();
  task.address = "10.0.0.2";
  task.rank = 3;
  task.strategy = "ps";
  task.arrangement = {.layout = collective::evenly(5, 5), .servers = 2, .asynchronous = true};
  task.buckets = {{.elements = 10, .ready = Duration(5)}, {.elements = 0, .ready = Duration(9)}};
  task.compute = {.forward = Duration(3), .backward = Duration(9), .jitter = 0.1, .factor = 1.5};
  task.steps = 7;
  task.warmup = 2;
  task.bench = {{.elements = 4, .repeats = 3}};
  return task;
}

TEST(Task, ComesBackFromItsDocument) {
  const Task task = some_task();
  const Task back = task_from(to_json(task));
  EXPECT_EQ(to_json(back), to_json(task));
  EXPECT_EQ(back.buckets, task.buckets);
  EXPECT_EQ(back.compute, task.compute);
  EXPECT_EQ(back.bench, task.bench);
}

TEST(Task, KnowsWhoServes) {
  Task task = some_task();
  EXPECT_EQ(task.workers(), 3);
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
  document["steps"] = "many";
  EXPECT_THROW(task_from(document), DataError);
}

}  // namespace
}  // namespace tw::trainer
