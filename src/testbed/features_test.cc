// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/features.h"

#include "trainwire/base/error.h"
#include "trainwire/network/test_plans.h"
#include "trainwire/os/namespace.h"
#include "trainwire/testbed/choose.h"
#include "trainwire/testbed/features_attempt.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>

namespace tw::testbed {
namespace {

using spec::Engine;
using testing::Contains;
using testing::HasSubstr;

TEST(Attempt, SaysWhatWasFoundOrWhyNot) {
  EXPECT_EQ(attempt(Privilege::Root, [] { return std::string("two"); }),
            (Feature{.works = true, .reason = "two"}));
  EXPECT_EQ(attempt(Privilege::Root, []() -> std::string { throw SystemError("no"); }),
            (Feature{.works = false, .reason = "no"}));
}

TEST(Attempt, SurvivesTheDeathOfTheAttempt) {
  const Feature found = attempt(Privilege::Root, []() -> std::string {
    ::raise(SIGKILL);
    return "not reached";
  });
  EXPECT_FALSE(found.works);
  EXPECT_THAT(found.reason, HasSubstr("killed by signal 9"));
}

TEST(Attempt, TriesNothingWithoutPrivilege) {
  EXPECT_FALSE(attempt(Privilege::None, [] { return std::string(); }).works);
}

// What this machine must have for the tests of clusters to run, doctor must find.
TEST(Features, FindWhatRootHas) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto before = os::namespace_number(os::current_network_namespace());
  const Features found = find_features();
  EXPECT_EQ(found.privilege, Privilege::Root);
  for (const Feature* feature :
       {&found.root_networks, &found.links, &found.shaping, &found.segment_limit, &found.nfqueue,
        &found.pid_namespaces, &found.capture, &found.run_queue}) {
    EXPECT_TRUE(feature->works) << feature->reason;
  }
  EXPECT_EQ(found.tap.works, ::access("/dev/net/tun", R_OK | W_OK) == 0) << found.tap.reason;
  EXPECT_THAT(found.congestion_controls, Contains("reno"));
  EXPECT_EQ(found.processors, static_cast<int>(::sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_GT(found.timer.median, Duration(0));
  EXPECT_GE(found.timer.p99, found.timer.median);
  EXPECT_EQ(os::namespace_number(os::current_network_namespace()), before);
}

// A packet there and back is all it takes; the limit leaves room for a busy machine.
TEST(Features, LetAnEngineBeChosenQuickly) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const auto start = std::chrono::steady_clock::now();
  const Engine engine =
      choose_engine(Engine::Nfqueue, network::plan_of("hosts = 2\ndelay = \"1ms\""));
  const auto taken = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(engine, Engine::Nfqueue);
  RecordProperty("milliseconds", static_cast<int>(taken / std::chrono::milliseconds(1)));
  EXPECT_LT(taken, std::chrono::seconds(5));
}

}  // namespace
}  // namespace tw::testbed
