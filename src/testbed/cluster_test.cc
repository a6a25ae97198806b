// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/cluster.h"

#include "trainwire/base/error.h"
#include "trainwire/testbed/measure_path.h"
#include "trainwire/testbed/test_plans.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>

namespace tw::testbed {
namespace {

using spec::Engine;

PathEnd end_of(const Cluster& cluster, int host) {
  return {.network = cluster.host(host),
          .address = cluster.plan().hosts[static_cast<std::size_t>(host)].address};
}

class ClusterOf : public testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    if (GetParam() == Engine::Tap && ::access("/dev/net/tun", R_OK | W_OK) != 0) {
      GTEST_SKIP() << "no /dev/net/tun";
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, ClusterOf, testing::Values(Engine::Nfqueue, Engine::Tap),
                         [](const auto& param) {
                           return param.param == Engine::Tap ? "Tap" : "Nfqueue";
                         });

// Two links each way.
TEST_P(ClusterOf, GivesTheDelay) {
  Cluster cluster(plan_of("hosts = 2\nrate = \"100Mbit\"\ndelay = \"5ms\""), GetParam());
  const auto found = measure_round_trip(end_of(cluster, 0), end_of(cluster, 1), {});
  EXPECT_GE(found.median, std::chrono::milliseconds(20));
  EXPECT_LE(found.median, std::chrono::milliseconds(25));
  EXPECT_FALSE(cluster.engine_failure());
}

}  // namespace
}  // namespace tw::testbed
