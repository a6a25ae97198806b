// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/conduct.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace tw::lab {
namespace {

class ConductProgram : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    std::string name = testing::TempDir() + "conductXXXXXX";
    folder_ = ::mkdtemp(name.data());
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }

  ConductRequest request(const std::string& network, const std::string& script) const {
    ConductRequest request;
    const spec::Vocabulary words{};
    request.plan = network::make_plan(spec::parse("[network]\n" + network, "x.toml", words, {}));
    request.launches = {{.words = {"sh", "-c", script},
                         .placement = {0, 1},
                         .environment = {"PATH=/usr/sbin:/usr/bin:/bin"}}};
    request.folder = folder_;
    request.checks_network = false;
    return request;
  }

  std::string folder_;
};

// Each rank pings the other once: python is there wherever tests run.
constexpr const char* kExchange = R"(exec /usr/bin/python3 -c '
import os, socket
rank = int(os.environ["RANK"])
if rank == 0:
    s = socket.create_server((os.environ["MASTER_ADDR"], 29500))
    c = s.accept()[0]
    n = 0
    while n < 1000000: n += len(c.recv(65536))
    c.sendall(b"x")
else:
    import time
    for i in range(100):
        try: c = socket.create_connection((os.environ["MASTER_ADDR"], 29500)); break
        except OSError: time.sleep(0.05)
    c.sendall(bytes(1000000))
    c.recv(1)
print("done", rank)
')";

TEST_F(ConductProgram, CapturesWhatTheCountersCount) {
  const ConductOutcome outcome =
      conduct(request("hosts = 2\nrate = \"100Mbit\"\ndelay = \"1ms\"", kExchange));
  EXPECT_FALSE(outcome.failure) << *outcome.failure;
  ASSERT_EQ(outcome.captures.size(), 2);
  for (std::size_t host = 0; host < 2; ++host) {
    const auto& counted = outcome.counters[host];
    EXPECT_EQ(outcome.captures[host].bytes, counted.sent_bytes + counted.received_bytes);
    EXPECT_EQ(outcome.captures[host].packets, counted.sent_packets + counted.received_packets);
    EXPECT_EQ(outcome.captures[host].dropped, 0);
  }
  EXPECT_GT(outcome.counters[1].sent_bytes, 1'000'000);
  EXPECT_EQ(last_lines(outcome.ranks[1].output, 5), std::vector<std::string>{"done 1"});
  // 1 MB at 100 Mbit/s takes 80 ms.
  EXPECT_GT(outcome.ended.monotonic_ns - outcome.started.monotonic_ns, 80'000'000);
}

TEST_F(ConductProgram, ARankThatFailsEndsTheRun) {
  const ConductOutcome outcome = conduct(request(
      "hosts = 2\ndelay = 0", "if [ $RANK = 1 ]; then echo no luck; exit 7; fi; sleep 1000"));
  ASSERT_TRUE(outcome.failure);
  EXPECT_EQ(*outcome.failure, "rank 1 on host1 exited with code 7");
  EXPECT_TRUE(outcome.ranks[0].stopped);
  EXPECT_EQ(last_lines(outcome.ranks[1].output, 5), std::vector<std::string>{"no luck"});
}

TEST_F(ConductProgram, StopsWhenAsked) {
  ConductRequest asked = request("hosts = 2\ndelay = 0", "sleep 1000");
  int looks = 0;
  asked.stop = [&] { return ++looks > 3; };
  const ConductOutcome outcome = conduct(asked);
  EXPECT_TRUE(outcome.interrupted);
  EXPECT_FALSE(outcome.failure);
}

TEST_F(ConductProgram, EndsAfterTheTimeout) {
  ConductRequest asked = request("hosts = 2\ndelay = 0", "sleep 1000");
  asked.timeout = std::chrono::milliseconds(200);
  EXPECT_EQ(conduct(asked).failure, "no end after 200 ms");
}

TEST_F(ConductProgram, SaysAtOnceThatACommandIsMissing) {
  ConductRequest asked = request("hosts = 2", "");
  asked.launches.front().words = {"no-such-program"};
  EXPECT_THROW(conduct(asked), SpecError);
}

}  // namespace
}  // namespace tw::lab
