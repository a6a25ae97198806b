// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/experiment.h"

#include "trainwire/spec/test_experiments.h"

#include <gtest/gtest.h>

namespace tw::spec {
namespace {

using namespace std::chrono_literals;

Network network(const std::string& text) { return parsed("[network]\n" + text).network; }

TEST(HostNumber, IsTheInverseOfTheName) {
  const Network four = network("hosts = 4");
  for (int host = 0; host < 4; ++host) EXPECT_EQ(host_number(four, host_name(host)), host);
  for (const char* none :
       {"host4", "host", "host-1", "host01", "host+1", "Host1", "host1 ", "", "core"}) {
    EXPECT_EQ(host_number(four, none), std::nullopt) << none;
  }
}

TEST(Placement, FillsHostsInOrderEvenly) {
  const auto places = [](const std::string& job) {
    const Experiment e = parsed("[network]\nhosts = 4\n[job]\nmodel = \"vgg16\"\n" + job);
    return placement(e.network, e.jobs[0]);
  };
  EXPECT_EQ(places(""), (std::vector{0, 1, 2, 3}));
  EXPECT_EQ(places("ranks = 8"), (std::vector{0, 0, 1, 1, 2, 2, 3, 3}));
  EXPECT_EQ(places("ranks = 2"), (std::vector{0, 1}));
  // floor(rank * 4 / 6).
  EXPECT_EQ(places("ranks = 6"), (std::vector{0, 0, 1, 2, 2, 3}));
  EXPECT_EQ(places("hosts = [\"host3\", \"host1\"]\nranks = 4"), (std::vector{3, 3, 1, 1}));
  EXPECT_EQ(places("placement = [\"host2\", \"host2\", \"host0\"]"), (std::vector{2, 2, 0}));
}

}  // namespace
}  // namespace tw::spec
