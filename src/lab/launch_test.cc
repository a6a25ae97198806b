// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/launch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::lab {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::Not;

network::NetPlan two_hosts() {
  network::NetPlan plan;
  plan.hosts = {{.name = "host0", .address = "10.77.0.1"},
                {.name = "host1", .address = "10.77.0.2"}};
  return plan;
}

TEST(MakeCommands, GivesEachRankItsPlace) {
  const auto commands = make_commands(
      two_hosts(), {.words = {"train", "--rank={rank}", "{host}:{address}", "{other}", "{master}"},
                    .placement = {1, 1, 0},
                    .environment = {"HOME=/x", "RANK=77", "OMP_NUM_THREADS=3"},
                    .marks_folder = "/run"});
  ASSERT_EQ(commands.size(), 3);
  EXPECT_EQ(commands[1].label, "rank 1 on host1");
  EXPECT_THAT(commands[1].words,
              ElementsAre("train", "--rank=1", "host1:10.77.0.2", "{other}", "10.77.0.2"));
  EXPECT_EQ(commands[2].host, 0);
  EXPECT_THAT(commands[1].environment, Contains("HOME=/x"));
  EXPECT_THAT(commands[1].environment, Contains("RANK=1"));
  EXPECT_THAT(commands[1].environment, Not(Contains("RANK=77")));
  EXPECT_THAT(commands[1].environment, Contains("LOCAL_RANK=1"));
  EXPECT_THAT(commands[2].environment, Contains("LOCAL_RANK=0"));
  EXPECT_THAT(commands[2].environment, Contains("NODE_RANK=1"));
  EXPECT_THAT(commands[2].environment, Contains("WORLD_SIZE=3"));
  EXPECT_THAT(commands[2].environment, Contains("MASTER_ADDR=10.77.0.2"));
  EXPECT_THAT(commands[2].environment, Contains("GLOO_SOCKET_IFNAME=eth0"));
  // What the user chose stays.
  EXPECT_THAT(commands[2].environment, Contains("OMP_NUM_THREADS=3"));
  EXPECT_THAT(commands[2].environment, Contains("TRAINWIRE_MARKS=/run/marks-2.csv"));
  EXPECT_THAT(commands[2].environment, Not(Contains("TORCHELASTIC_RUN_ID=trainwire")));
}

TEST(MakeCommands, TorchrunAddsItsOwn) {
  const auto commands = make_commands(
      two_hosts(), {.words = {"train"}, .placement = {0, 1}, .launcher = Launcher::Torchrun});
  EXPECT_THAT(commands[1].environment, Contains("TORCHELASTIC_RUN_ID=trainwire"));
  EXPECT_THAT(commands[1].environment, Contains("GROUP_RANK=1"));
}

TEST(MakeCommands, MpirunStartsAllRanksItself) {
  const auto commands = make_commands(two_hosts(), {.words = {"loop", "a b"},
                                                    .placement = {1, 0, 1},
                                                    .launcher = Launcher::Mpi,
                                                    .namespace_numbers = {11, 12}});
  ASSERT_EQ(commands.size(), 1);
  EXPECT_EQ(commands[0].host, 1);
  EXPECT_THAT(commands[0].words, Contains("3"));
  EXPECT_THAT(commands[0].words, Contains("12,11,12"));
  EXPECT_EQ(commands[0].words.back(), "a b");
  EXPECT_THAT(commands[0].environment, Contains("OMPI_MCA_btl=tcp,self"));
}

}  // namespace
}  // namespace tw::lab
