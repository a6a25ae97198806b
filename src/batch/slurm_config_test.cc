// SPDX-License-Identifier: Apache-2.0
#include "trainwire/batch/slurm_config.h"

#include <gmock/gmock.h>

namespace tw::batch {
namespace {

using testing::HasSubstr;
using testing::Not;

network::NetPlan two_hosts() {
  network::NetPlan plan;
  plan.hosts.push_back({.name = "host0", .address = "10.87.0.1"});
  plan.hosts.push_back({.name = "host1", .address = "10.87.0.2"});
  return plan;
}

TEST(SlurmConfig, NamesEveryHostWithItsAddress) {
  const std::string text = slurm_config(
      two_hosts(), {.folder = "/tmp/x", .munge_socket = "/tmp/x/munge", .user = "root"});
  EXPECT_THAT(text, HasSubstr("NodeName=host0 NodeAddr=10.87.0.1 "));
  EXPECT_THAT(text, HasSubstr("NodeName=host1 NodeAddr=10.87.0.2 "));
  EXPECT_THAT(text, HasSubstr("SlurmctldHost=host0(10.87.0.1)\n"));
}

TEST(SlurmConfig, KeepsEverythingInItsFolder) {
  const std::string text = slurm_config(
      two_hosts(), {.folder = "/tmp/x", .munge_socket = "/tmp/x/munge", .user = "root"});
  EXPECT_THAT(text, HasSubstr("SlurmdSpoolDir=/tmp/x/spool.%n\n"));
  EXPECT_THAT(text, HasSubstr("AuthInfo=socket=/tmp/x/munge,"));
  EXPECT_THAT(text, Not(HasSubstr("/var/")));
}

}  // namespace
}  // namespace tw::batch
