// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/shape.h"

#include "trainwire/base/error.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/leftovers.h"
#include "trainwire/ledger/queue.h"
#include "trainwire/ledger/test_folder.h"
#include "trainwire/os/child.h"
#include "trainwire/os/namespace.h"
#include "trainwire/spec/parse.h"
#include "trainwire/testbed/links.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

namespace tw::fleet {
namespace {

using std::chrono::milliseconds;

const Shape kOneWay{.rate_bps = 1e8, .burst_bytes = 20'000, .limit_bytes = 200'000};
const DeviceShape kSlow{.out = kOneWay, .in = kOneWay};

/// In a network of its own with a device of that name; the child's exit code.
int in_own_network(const std::function<int()>& body) {
  os::Child child = os::Child::start([&] {
    if (::unshare(CLONE_NEWNET) != 0) return 77;
    testbed::Links links;
    links.make_pair({.name = "a0", .mac = {2, 0, 0, 0, 0, 1}},
                    {.name = "a1", .mac = {2, 0, 0, 0, 0, 2}}, 1500);
    links.set_up("a0");
    return body();
  });
  const auto ending = child.wait_for(std::chrono::seconds(20));
  return ending ? ending->exit_code + 1000 * ending->signal : -1;
}

bool comes_true(const std::function<bool()>& claim) {
  for (int i = 0; i < 500 && !claim(); ++i) std::this_thread::sleep_for(milliseconds(10));
  return claim();
}

network::NetPlan plan_of(const std::string& network) {
  return network::make_plan(spec::parse("[network]\n" + network, "x.toml", {}, {}));
}

TEST(Shape, AreEachHostsTwoDirections) {
  const auto shapes = shapes_of(plan_of(R"(
hosts = 3
rate = "1Gbit"
delay = "50us"
[[network.link]]
at = "host1"
direction = "to_host"
rate = "100Mbit"
delay = "2ms"
)"));
  ASSERT_EQ(shapes.size(), 3U);
  EXPECT_DOUBLE_EQ(shapes[0].out.rate_bps, 1e9);
  EXPECT_DOUBLE_EQ(shapes[1].out.rate_bps, 1e9);
  EXPECT_DOUBLE_EQ(shapes[1].in.rate_bps, 1e8);
  EXPECT_EQ(shapes[1].in.delay_ns, 2'000'000);
  EXPECT_EQ(shapes[2].in.delay_ns, 50'000);
  EXPECT_TRUE(shapes[2].in.needs_netem());
  EXPECT_GT(shapes[0].out.limit_bytes, shapes[0].out.burst_bytes);
}

TEST(Shape, OfLinksBetweenSwitchesAreRefused) {
  EXPECT_THROW(shapes_of(plan_of("topology = \"dumbbell\"\nhosts = 4\n")), SpecError);
}

TEST(Shape, TravelsAsADocument) {
  const DeviceShape shape{.out = {.rate_bps = 1, .delay_ns = 2, .loss = 0.25, .packets = 7},
                          .in = {.rate_bps = 3}};
  EXPECT_EQ(shape_from(to_json(shape)), shape);
  EXPECT_THROW(shape_from({{"rate_bps", "fast"}}), DataError);
}

TEST(Shaping, IsTakenBackAtTheEndAndRefusesWhatIsSomebodyElses) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const ledger::TestFolder folder;
  EXPECT_EQ(in_own_network([&] {
              ledger::Ledger ledger(folder.path(), "test");
              {
                const Shaping shaping("a0", kSlow, ledger);
                if (ledger::queues_of("a0") != ledger::Queues::Ours) return 1;
              }
              if (ledger::queues_of("a0") != ledger::Queues::Kernels) return 2;
              testbed::Links().shape(
                  "a0", {.rate = BitRate(1e6), .burst = Bytes(9000), .limit = Bytes(90000)});
              try {
                const Shaping shaping("a0", kSlow, ledger);
                return 3;
              } catch (const SystemError&) {
              }
              return ledger::queues_of("a0") == ledger::Queues::Others ? 0 : 4;
            }),
            0);
}

TEST(Shaping, SaysWhatItNeedsWhereItMayNot) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const ledger::TestFolder folder;
  EXPECT_EQ(in_own_network([&] {
              ledger::Ledger ledger(folder.path(), "test");
              if (::setuid(65534) != 0) return 77;
              try {
                const Shaping shaping("a0", kSlow, ledger);
                return 1;
              } catch (const SystemError& error) {
                return std::string(error.what()).find("needs root") != std::string::npos ? 0 : 2;
              }
            }),
            0);
}

TEST(Shaping, OfADeviceThatIsNotThereNamesIt) {
  const ledger::TestFolder folder;
  ledger::Ledger ledger(folder.path(), "test");
  EXPECT_THAT([&] { const Shaping shaping("nosuch0", kSlow, ledger); },
              testing::ThrowsMessage<SystemError>(testing::HasSubstr("nosuch0")));
}

TEST(Shaping, LosesSinglePacketsOrNone) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const ledger::TestFolder folder;
  EXPECT_EQ(in_own_network([&] {
              ledger::Ledger ledger(folder.path(), "test");
              DeviceShape lossy = kSlow;
              lossy.in.loss = 0.1;
              try {
                const Shaping shaping("a0", lossy, ledger);
                return 1;
              } catch (const SystemError& error) {
                return std::string(error.what()).find("ethtool -K a0") != std::string::npos ? 0 : 2;
              }
            }),
            0);
}

TEST(Shaping, IsTakenBackAfterAKill) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const ledger::TestFolder folder;
  EXPECT_EQ(in_own_network([&] {
              os::Child host = os::Child::start([&] {
                ledger::Ledger ledger(folder.path(), "test");
                const Shaping shaping("a0", kSlow, ledger);
                ::pause();
                return 0;
              });
              if (!comes_true([] { return ledger::queues_of("a0") == ledger::Queues::Ours; }))
                return 1;
              ::kill(host.identity().pid, SIGKILL);
              return comes_true([] { return ledger::queues_of("a0") == ledger::Queues::Kernels; })
                         ? 0
                         : 2;
            }),
            0);
}

TEST(Shaping, IsTakenBackByTheNextCommandWhenNobodyElseCould) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const ledger::TestFolder folder;
  EXPECT_EQ(in_own_network([&] {
              os::Child host = os::Child::start([&]() -> int {
                ledger::Ledger ledger(folder.path(), "test");
                ledger.add_queue("a0");
                testbed::Links().shape(
                    "a0", {.rate = BitRate(1e6), .burst = Bytes(9000), .limit = Bytes(90000)},
                    ledger::kOurQueue);
                ::_exit(0);
              });
              host.wait_for(std::chrono::seconds(5));
              const auto cleared = ledger::clear_leftovers(folder.path());
              if (cleared.runs.size() != 1 || cleared.runs.front().removed.size() != 1) return 1;
              return ledger::queues_of("a0") == ledger::Queues::Kernels ? 0 : 2;
            }),
            0);
}

}  // namespace
}  // namespace tw::fleet
