// SPDX-License-Identifier: Apache-2.0
// Generator and sink over real sockets of this machine.
#include "trainwire/traffic/generator.h"

#include "trainwire/base/error.h"
#include "trainwire/traffic/frame.h"
#include "trainwire/traffic/sink.h"
#include "trainwire/traffic/sockets.h"

#include <gmock/gmock.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace tw::traffic {
namespace {

using namespace std::chrono_literals;
using spec::TrafficKind;
using testing::HasSubstr;

const transport::tcp::Token kToken = {std::byte{1}, std::byte{2}, std::byte{3}};

/// Waits, seconds at most, for what other threads are about to do.
template <typename Condition>
bool soon(Condition condition) {
  for (int i = 0; i < 500 && !condition(); ++i) std::this_thread::sleep_for(10ms);
  return condition();
}

class TrafficOverSockets : public testing::Test {
 protected:
  static SourceTask task(TrafficKind kind) {
    return {.address = "127.0.0.1", .token = kToken, .kind = kind, .threads = 2};
  }
  /// `count` flows of `bytes` each, a millisecond apart.
  static std::vector<load::Flow> list(int count, Bytes bytes) {
    std::vector<load::Flow> flows;
    for (int i = 0; i < count; ++i) flows.push_back({.start = i * 1ms, .size = bytes});
    return flows;
  }
  std::vector<Destination> to_sink() const {
    return {{.endpoint = {.address = "127.0.0.1", .port = sink_.port()}}};
  }
  Outcome played(const SourceTask& task, bool drain = true) const {
    Generator generator(task, to_sink());
    generator.connect();
    generator.start(drain);
    return generator.finish();
  }

  Sink sink_{{.address = "127.0.0.1", .token = kToken, .threads = 2}};
};

TEST_F(TrafficOverSockets, EveryByteOfEveryFlowArrives) {
  // 50 flows of 0, 100,000, 200,000, ... bytes: 100,000 * 49 * 50 / 2.
  SourceTask file = task(TrafficKind::File);
  for (int i = 0; i < 50; ++i) file.list.push_back({.start = i * 1ms, .size = i * 100'000_B});
  const Outcome outcome = played(file);
  EXPECT_EQ(outcome.finished, 50);
  EXPECT_EQ(outcome.unfinished, 0);
  EXPECT_EQ(outcome.acknowledged, 122'500'000_B);
  EXPECT_EQ(outcome.sent, 122'500'000_B);
  // 0 and 100,000 bytes; to 10 MB; none above.
  EXPECT_EQ(outcome.completion[0].n, 2);
  EXPECT_EQ(outcome.completion[1].n, 48);
  EXPECT_EQ(outcome.completion[2].n, 0);
  const SinkCounts counts = sink_.counts();
  EXPECT_EQ(counts.received, 122'500'000_B);
  EXPECT_EQ(counts.flows, 50);
}

TEST_F(TrafficOverSockets, WithoutReuseEachFlowHasItsConnection) {
  SourceTask file = task(TrafficKind::File);
  file.reuse = false;
  file.list = list(30, 50'000_B);
  const Outcome outcome = played(file);
  EXPECT_EQ(outcome.finished, 30);
  EXPECT_EQ(outcome.connections, 30);
  EXPECT_EQ(sink_.counts().received, 1'500'000_B);
}

TEST_F(TrafficOverSockets, FlowsNeverStartEarlyAndEachHasALineInTheLog) {
  SourceTask file = task(TrafficKind::File);
  file.list = list(20, 1000_B);
  std::string pattern = std::filesystem::temp_directory_path() / "tw-traffic-XXXXXX";
  const std::filesystem::path folder = ::mkdtemp(pattern.data());
  file.log = folder / "flows.csv";
  played(file);
  std::ifstream log(file.log);
  std::string line;
  std::getline(log, line);
  EXPECT_EQ(line, "flow,start_ns,lateness_ns,bytes,end_ns,acknowledged_bytes");
  int lines = 0;
  while (std::getline(log, line)) {
    ++lines;
    std::int64_t number = 0;
    std::int64_t start = 0;
    std::int64_t late = 0;
    std::int64_t bytes = 0;
    std::int64_t end = 0;
    std::int64_t acknowledged = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "%ld,%ld,%ld,%ld,%ld,%ld", &number, &start, &late, &bytes,
                          &end, &acknowledged),
              6);
    EXPECT_GE(late, 0);
    EXPECT_GT(end, start);
    EXPECT_EQ(acknowledged, 1000);
  }
  EXPECT_EQ(lines, 20);
  std::filesystem::remove_all(folder);
}

TEST_F(TrafficOverSockets, ALogThatCannotBeWrittenIsAnError) {
  SourceTask file = task(TrafficKind::File);
  file.list = list(5, 1000_B);
  file.log = "/dev/full";
  Generator generator(file, to_sink());
  generator.connect();
  generator.start(true);
  EXPECT_THROW(generator.finish(), SystemError);
}

TEST_F(TrafficOverSockets, StoppedMidFlowCountsWhatHadNotFinished) {
  // 1 TB does not pass in a moment.
  SourceTask file = task(TrafficKind::File);
  file.list = {{.start = 0ms, .size = Bytes(1'000'000'000'000)}, {.start = 0ms, .size = 10_B}};
  Generator generator(file, to_sink());
  generator.connect();
  generator.start();
  ASSERT_TRUE(soon([&] { return generator.glance().finished == 1; }));
  ASSERT_TRUE(soon([&] { return generator.glance().sent > 10_MB; }));
  const auto before = std::chrono::steady_clock::now();
  generator.stop();
  const Outcome outcome = generator.finish();
  EXPECT_LT(std::chrono::steady_clock::now() - before, 2s);
  EXPECT_EQ(outcome.started, 2);
  EXPECT_EQ(outcome.finished, 1);
  EXPECT_EQ(outcome.unfinished, 1);
  EXPECT_EQ(outcome.completion[2].censored, 1);
  EXPECT_GT(outcome.acknowledged, 0_B);
  EXPECT_LE(outcome.acknowledged, outcome.sent);
}

TEST_F(TrafficOverSockets, ADurationEndsIt) {
  SourceTask endless = task(TrafficKind::WebSearch);
  endless.rate = 100_Mbit;
  endless.duration = 300ms;
  const Outcome outcome = played(endless);
  EXPECT_NEAR(outcome.elapsed_s, 0.3, 1e-6);
  EXPECT_EQ(outcome.requested, 100_Mbit);
  // 100 Mbit/s for 0.3 s: 3.75 MB, in whole bytes. On a busy machine the last ones may be too late
  // to be started, and are counted as such.
  EXPECT_NEAR(outcome.offered.bits_per_second() / 8 * outcome.elapsed_s, 3.75e6, 10);
  EXPECT_EQ(outcome.unfinished, 0);
  if (outcome.unstarted == 0) {
    EXPECT_NEAR(static_cast<double>(outcome.acknowledged.count()), 3.75e6, 10);
  }
}

TEST_F(TrafficOverSockets, BurstsArePlayedToo) {
  SourceTask burst = task(TrafficKind::Burst);
  burst.rate = 80_Mbit;
  burst.duration = 200ms;
  const Outcome outcome = played(burst);
  // 20 periods with two flows and eight each; 10 MB/s for 0.2 s. As above.
  EXPECT_EQ(outcome.finished + outcome.unstarted, 200);
  EXPECT_GT(outcome.finished, 100);
  EXPECT_NEAR(outcome.offered.bits_per_second() / 8 * outcome.elapsed_s, 2e6, 200);
}

TEST_F(TrafficOverSockets, LongFlowsKeepTheirRate) {
  SourceTask paced = task(TrafficKind::Long);
  paced.rate = 200_Mbit;
  paced.flows = 3;
  paced.duration = 500ms;
  const Outcome outcome = played(paced, false);
  EXPECT_EQ(outcome.started, 3);
  EXPECT_EQ(outcome.connections, 3);
  EXPECT_LE(outcome.achieved.bits_per_second(), 200e6 * 1.001);
  EXPECT_GE(outcome.achieved.bits_per_second(), 200e6 * 0.9);
}

TEST_F(TrafficOverSockets, LongFlowsWithoutARateGoAsFastAsTheyCan) {
  SourceTask fast = task(TrafficKind::Long);
  fast.duration = 200ms;
  const Outcome outcome = played(fast, false);
  EXPECT_FALSE(outcome.requested);
  EXPECT_GT(outcome.achieved.bits_per_second(), 100e6);
  EXPECT_LE(outcome.acknowledged, outcome.sent);
}

TEST_F(TrafficOverSockets, ConstantTrafficIsCountedByTheSink) {
  // 1472 bytes a datagram: 20 Mbit/s are 1698.4 a second.
  SourceTask constant = task(TrafficKind::Constant);
  constant.rate = 20_Mbit;
  constant.duration = 300ms;
  const Outcome outcome = played(constant);
  EXPECT_NEAR(static_cast<double>(*outcome.datagrams_sent), 509.5, 15);
  EXPECT_EQ(outcome.datagrams_received, outcome.datagrams_sent);
  EXPECT_EQ(sink_.counts().datagrams, *outcome.datagrams_sent);
  EXPECT_EQ(sink_.counts().datagram_bytes, *outcome.datagrams_sent * 1472_B);
}

TEST(Generator, ConstantTrafficIsCountedAfterLongerThanStrangersAreBorneWith) {
  const Sink sink({.address = "127.0.0.1", .token = kToken, .stranger_patience = 50ms});
  Generator generator({.address = "127.0.0.1",
                       .token = kToken,
                       .kind = TrafficKind::Constant,
                       .rate = 5_Mbit,
                       .duration = 400ms},
                      {{.endpoint = {.address = "127.0.0.1", .port = sink.port()}}});
  generator.connect();
  generator.start();
  const Outcome outcome = generator.finish();
  EXPECT_GT(*outcome.datagrams_sent, 0);
  EXPECT_EQ(outcome.datagrams_received, outcome.datagrams_sent);
  EXPECT_EQ(sink.counts().refused, 0);
}

TEST_F(TrafficOverSockets, AWrongTokenIsRefused) {
  SourceTask wrong = task(TrafficKind::Long);
  wrong.token = {std::byte{9}};
  Generator generator(wrong, to_sink());
  try {
    generator.connect();
    FAIL() << "the token is wrong";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not take the token"));
  }
  EXPECT_TRUE(soon([&] { return sink_.counts().refused == 1; }));
  EXPECT_EQ(sink_.counts().received, 0_B);
}

TEST_F(TrafficOverSockets, DatagramsOfStrangersAreNotCounted) {
  const os::FileDescriptor socket =
      open_datagrams({.address = "127.0.0.1", .port = sink_.port()}, "");
  const FrameBytes wrong = encode({.kind = FrameKind::Datagram}, {std::byte{9}});
  const FrameBytes right = encode({.kind = FrameKind::Datagram}, kToken);
  for (const FrameBytes& bytes : {wrong, right}) {
    ASSERT_EQ(::send(socket.get(), bytes.data(), bytes.size(), 0), 40);
  }
  ASSERT_EQ(::send(socket.get(), right.data(), 10, 0), 10);
  EXPECT_TRUE(soon([&] { return sink_.counts().datagrams > 0; }));
  EXPECT_EQ(sink_.counts().datagrams, 1);
}

TEST_F(TrafficOverSockets, ASinkThatDiesEndsItWithAnError) {
  SourceTask fast = task(TrafficKind::Long);
  Generator generator(fast, to_sink());
  generator.connect();
  generator.start();
  ASSERT_TRUE(soon([&] { return generator.glance().sent > 10_MB; }));
  sink_.stop();
  ASSERT_TRUE(soon([&] { return generator.is_over(); }));
  try {
    generator.finish();
    FAIL() << "the sink is gone";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is gone"));
  }
  // What was counted until then is not lost.
  EXPECT_GT(generator.outcome().sent, 10_MB);
}

TEST(Generator, SaysWhenNobodyListens) {
  // A port that was free a moment ago.
  const std::uint16_t port = Sink({.address = "127.0.0.1", .token = kToken}).port();
  Generator generator({.address = "127.0.0.1", .token = kToken, .kind = TrafficKind::Long},
                      {{.endpoint = {.address = "127.0.0.1", .port = port}}});
  try {
    generator.connect();
    FAIL() << "nobody listens";
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("does the sink run there?"));
  }
}

TEST(Generator, GoesOverIpVersion6) {
  const Sink sink({.address = "::1", .token = kToken});
  Generator generator({.address = "::1",
                       .token = kToken,
                       .kind = TrafficKind::File,
                       .list = {{.start = 0ms, .size = 1_MB}}},
                      {{.endpoint = {.address = "::1", .port = sink.port()}}});
  generator.connect();
  generator.start(true);
  EXPECT_EQ(generator.finish().acknowledged, 1_MB);
}

TEST(Generator, SendsFlowsToTheirDestinations) {
  const Sink one({.address = "127.0.0.1", .token = kToken});
  const Sink two({.address = "127.0.0.2", .token = kToken});
  Generator generator({.address = "",
                       .token = kToken,
                       .kind = TrafficKind::File,
                       .list = {{.start = 0ms, .destination = "a", .size = 1_MB},
                                {.start = 0ms, .destination = "b", .size = 2_MB}}},
                      {{.name = "a", .endpoint = {.address = "127.0.0.1", .port = one.port()}},
                       {.name = "b", .endpoint = {.address = "127.0.0.2", .port = two.port()}}});
  generator.connect();
  generator.start(true);
  generator.finish();
  EXPECT_EQ(one.counts().received, 1_MB);
  EXPECT_EQ(two.counts().received, 2_MB);
}

TEST(Generator, RefusesTasksThatCannotBe) {
  const std::vector<Destination> to{{.name = "a", .endpoint = {.address = "127.0.0.1", .port = 1}}};
  const auto problem = [&](const SourceTask& task) -> std::string {
    try {
      const Generator generator(task, to);
    } catch (const SpecError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(problem({.address = "", .kind = TrafficKind::Long, .flows = 0}),
              HasSubstr("at least one"));
  EXPECT_THAT(problem({.address = "", .kind = TrafficKind::Constant}), HasSubstr("a rate above 0"));
  EXPECT_THAT(problem({.address = "", .kind = TrafficKind::WebSearch}),
              HasSubstr("a rate above 0"));
  EXPECT_THAT(problem({.address = "", .kind = TrafficKind::Long, .mtu = 10}), HasSubstr("MTU"));
  EXPECT_THAT(problem({.address = "", .kind = TrafficKind::Long, .duration = 0s}),
              HasSubstr("longer than 0"));
  EXPECT_THAT(problem({.address = "", .rate = 1_Gbit, .size_scale = 0}), HasSubstr("scaled"));
  EXPECT_THROW(Generator({.address = "", .kind = TrafficKind::Long}, {to.front(), to.front()}),
               SpecError);
  EXPECT_THAT(problem({.address = "",
                       .kind = TrafficKind::File,
                       .list = {{.start = 0ms, .destination = "z", .size = 1_B}}}),
              HasSubstr("flows to \"z\""));
}

TEST(Sink, SaysWhenItsPortIsTaken) {
  const Sink sink({.address = "127.0.0.1", .token = kToken});
  EXPECT_THROW(Sink({.address = "127.0.0.1", .token = kToken, .port = sink.port()}), SystemError);
  EXPECT_THROW(Sink({.address = "192.0.2.1", .token = kToken}), SystemError);
  EXPECT_THROW(Sink({.address = "nowhere", .token = kToken}), SpecError);
}

TEST(Sink, CutsOffWhoeverSendsSomethingElse) {
  const Sink sink({.address = "127.0.0.1", .token = kToken});
  const transport::tcp::Endpoint to{.address = "127.0.0.1", .port = sink.port()};
  const os::FileDescriptor line = open_line(to, "", "");
  wait_connected(line, to);
  const std::string text = "GET / HTTP/1.1\r\nHost: somewhere.example\r\n\r\n";
  ASSERT_EQ(::send(line.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
  pollfd wait{.fd = line.get(), .events = POLLIN, .revents = 0};
  ASSERT_EQ(::poll(&wait, 1, 5000), 1);
  char answer = 0;
  EXPECT_LE(::recv(line.get(), &answer, 1, 0), 0);
  EXPECT_EQ(sink.counts().refused, 1);
}

}  // namespace
}  // namespace tw::traffic
