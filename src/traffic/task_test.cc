// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/task.h"

#include "trainwire/base/error.h"
#include "trainwire/traffic/outcome.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tw::traffic {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

TEST(SourceTask, ArrivesAsItWasSent) {
  const SourceTask task{.address = "10.0.0.1",
                        .token = {std::byte{9}},
                        .kind = spec::TrafficKind::File,
                        .rate = 5_Mbit,
                        .flows = 3,
                        .distribution = "0 0\n9 1\n",
                        .size_scale = 0.04,
                        .burst_width = 2ms,
                        .burst_height = 4,
                        .period = 20ms,
                        .reuse = false,
                        .seed = 1ull << 63,
                        .stream = "traffic.1",
                        .start = 500ms,
                        .duration = 3s,
                        .list = {{.start = 1ns, .destination = "host1", .size = 7_B}},
                        .only_to = "host1",
                        .congestion_control = "reno",
                        .log = "flows.csv"};
  const auto back = std::get<SourceTask>(task_from(to_json(task)));
  EXPECT_EQ(to_json(back), to_json(task));
  EXPECT_EQ(back.list, task.list);
  EXPECT_EQ(back.duration, task.duration);
  EXPECT_EQ(back.seed, task.seed);
}

TEST(SinkTask, ArrivesAsItWasSent) {
  const SinkTask task{
      .address = "::1", .token = {std::byte{9}}, .port = 5, .stranger_patience = 3s};
  EXPECT_EQ(to_json(std::get<SinkTask>(task_from(to_json(task)))), to_json(task));
}

TEST(TaskFrom, RefusesWhatIsNone) {
  const json good = to_json(SourceTask{.address = "10.0.0.1"});
  EXPECT_NO_THROW(task_from(good));
  const auto with = [&](const char* key, const json& value) {
    json document = good;
    document[key] = value;
    return document;
  };
  EXPECT_THROW(task_from(json::object()), DataError);
  EXPECT_THROW(task_from(with("role", "judge")), DataError);
  EXPECT_THROW(task_from(with("token", "x")), DataError);
  EXPECT_THROW(task_from(with("kind", "short")), DataError);
  EXPECT_THROW(task_from(with("list", {{5, "a", 1}, {4, "a", 1}})), DataError);
}

TEST(Outcome, ArrivesAsItWasSent) {
  const Outcome outcome{
      .requested = 1_Gbit,
      .achieved = 900_Mbit,
      .sent = 5_MB,
      .started = 3,
      .finished = 2,
      .unfinished = 1,
      .completion = {{.from = 0_B, .to = 5_B, .n = 2}, {.from = 5_B, .censored = 1}},
      .datagrams_sent = 5,
      .datagrams_received = 4};
  EXPECT_EQ(outcome_from(to_json(outcome)), outcome);
  EXPECT_EQ(outcome_from(to_json(Outcome{})), Outcome{});
  EXPECT_EQ(to_json(outcome).at("datagrams").at("lost"), 1);
  EXPECT_THROW(outcome_from(json::object()), DataError);
}

TEST(SinkCounts, ArriveAsTheyWereSent) {
  const SinkCounts counts{.received = 5_B, .flows = 1, .connections = 2, .refused = 3};
  EXPECT_EQ(counts_from(to_json(counts)), counts);
  EXPECT_THROW(counts_from(json::object()), DataError);
}

}  // namespace
}  // namespace tw::traffic
