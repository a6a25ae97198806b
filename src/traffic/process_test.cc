// SPDX-License-Identifier: Apache-2.0
// Traffic processes as a run conducts them, as threads of this test.
#include "trainwire/traffic/process.h"

#include "trainwire/traffic/outcome.h"
#include "trainwire/traffic/task.h"
#include "trainwire/transport/control.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <future>

namespace tw::traffic {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

const transport::tcp::Token kToken = {std::byte{7}};

/// A process and our end of its channel, whose closing ends it.
struct Conducted {
  Conducted() : Conducted(transport::make_control_sockets()) {}
  explicit Conducted(std::pair<os::FileDescriptor, os::FileDescriptor> ends)
      : code(std::async(std::launch::async, run_traffic, std::move(ends.second))),
        control(std::move(ends.first)) {}

  std::future<int> code;
  transport::Control control;
};

json endpoint(const json& port) {
  return {{"to", {{"address", "127.0.0.1"}, {"port", port.at("port")}}}};
}

TEST(TrafficProcess, PlaysFromTheFirstMessageToTheLast) {
  Conducted sink;
  sink.control.send(to_json(SinkTask{.address = "127.0.0.1", .token = kToken}));
  Conducted source;
  SourceTask task{.address = "127.0.0.1", .token = kToken, .kind = spec::TrafficKind::File};
  task.list = {{.start = 0ms, .size = 3_MB}, {.start = 5ms, .size = 1_MB}};
  source.control.send(to_json(task));
  source.control.send(endpoint(sink.control.receive()));
  EXPECT_EQ(source.control.receive(), json({{"ready", true}}));
  source.control.send({{"start", true}});
  const json done = source.control.receive();
  EXPECT_EQ(done.at("done"), true);
  EXPECT_EQ(outcome_from(done.at("outcome")).acknowledged, 4_MB);
  source.control.send({{"leave", true}});
  EXPECT_EQ(source.code.get(), 0);
  sink.control.send({{"stop", true}});
  EXPECT_EQ(counts_from(sink.control.receive()).received, 4_MB);
  EXPECT_EQ(sink.code.get(), 0);
}

TEST(TrafficProcess, EndsWhenItIsToldTo) {
  Conducted sink;
  sink.control.send(to_json(SinkTask{.address = "127.0.0.1", .token = kToken}));
  Conducted source;
  source.control.send(to_json(SourceTask{
      .address = "127.0.0.1", .token = kToken, .kind = spec::TrafficKind::Long, .rate = 10_Mbit}));
  source.control.send(endpoint(sink.control.receive()));
  source.control.receive();
  source.control.send({{"start", true}});
  source.control.send({{"stop", true}});
  EXPECT_EQ(outcome_from(source.control.receive().at("outcome")).requested, 10_Mbit);
  // The end of the channel is leave.
  source.control = transport::Control(os::FileDescriptor());
  EXPECT_EQ(source.code.get(), 0);
}

TEST(TrafficProcess, TellsWhyItFailed) {
  Conducted source;
  source.control.send(to_json(SourceTask{.address = "127.0.0.1", .kind = spec::TrafficKind::Long}));
  // Port 1 of this machine serves nobody.
  source.control.send(endpoint({{"port", 1}}));
  EXPECT_THAT(source.control.receive().at("failed").get<std::string>(),
              testing::HasSubstr("connecting to 127.0.0.1 port 1"));
  EXPECT_EQ(source.code.get(), 1);
  Conducted lost;
  lost.control.send({{"role", "judge"}});
  EXPECT_TRUE(lost.control.receive().contains("failed"));
  EXPECT_EQ(lost.code.get(), 1);
}

}  // namespace
}  // namespace tw::traffic
