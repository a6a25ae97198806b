// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/launch.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

#include <sstream>

namespace tw::fleet {
namespace {

using testing::Contains;
using testing::EndsWith;
using testing::HasSubstr;

const HostProgram kProgram{.words = {"/opt/train wire", "host", "--join", "10.0.0.1:4000"},
                           .hosts = 2};

TEST(Launch, IsReadAsItIsWritten) {
  EXPECT_EQ(parse_launch("srun").kind, LaunchKind::Srun);
  EXPECT_EQ(parse_launch("ssh:hosts.txt").host_file, "hosts.txt");
  EXPECT_THROW(parse_launch("ssh:"), SpecError);
  try {
    parse_launch("qsub");
    FAIL() << "nobody knows qsub";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("manifest:k8s"));
  }
}

TEST(Launch, StartsOneProcessOnEachHost) {
  const auto slurm = launch_words({.kind = LaunchKind::Srun}, kProgram, {}, {});
  ASSERT_EQ(slurm.size(), 1U);
  EXPECT_THAT(slurm[0].words, Contains("--nodes=2"));
  EXPECT_THAT(slurm[0].words, Contains("--ntasks-per-node=1"));
  const auto mpi = launch_words({.kind = LaunchKind::Mpirun}, kProgram, {}, {});
  EXPECT_THAT(mpi[0].words, Contains("TRAINWIRE_TOKEN"));  // the name only
}

TEST(Launch, QuotesForTheOtherMachinesShell) {
  const auto ssh = launch_words({.kind = LaunchKind::Ssh}, kProgram,
                                {{.name = "a"}, {.name = "b", .interface = "ib0"}}, {"ssh", "-4"});
  ASSERT_EQ(ssh.size(), 2U);
  EXPECT_EQ(ssh[0].words.front(), "ssh");
  EXPECT_THAT(ssh[0].words.back(), HasSubstr("exec '/opt/train wire' host"));
  EXPECT_THAT(ssh[1].words.back(), EndsWith("--number 1 --token-on-input --interface ib0"));
  EXPECT_TRUE(ssh[1].token_on_input);
  EXPECT_EQ(quoted("it's"), "'it'\\''s'");
}

TEST(Launch, GivesTheRunsOwnVariablesInPlaceOfInheritedOnes) {
  EXPECT_EQ(environment_with({"TRAINWIRE_TOKEN=new"},
                             {"A=1", "TRAINWIRE_TOKEN=old", "TRAINWIRE_TOKEN_FILE=f"}),
            (std::vector<std::string>{"TRAINWIRE_TOKEN=new", "A=1", "TRAINWIRE_TOKEN_FILE=f"}));
}

TEST(Launch, FindsWhatALauncherSaidLast) {
  std::istringstream mpi("-----\nno slots\r\n-----\n  \n");
  EXPECT_EQ(last_words(mpi), "no slots");
  std::istringstream frame("-----\n");
  EXPECT_EQ(last_words(frame), "");
}

TEST(Launch, FindsWhatSrunSaidFirstOfItsErrors) {
  std::istringstream srun(
      "srun: job 7 queued\nsrun: error: Task launch failed on node n3\nsrun: error: n0: task 0: "
      "Killed\n");
  EXPECT_EQ(telling_words(srun), "srun: error: Task launch failed on node n3");
  std::istringstream other("some\nlast\n");
  EXPECT_EQ(telling_words(other), "last");
}

TEST(Launch, ReadsAFileOfHosts) {
  EXPECT_EQ(
      parse_hosts("# racks\nnode1\n\nuser@node2 interface=eth1 # slow\n", "f"),
      (std::vector<NamedHost>{{.name = "node1"}, {.name = "user@node2", .interface = "eth1"}}));
  EXPECT_THROW(parse_hosts("# none\n", "f"), SpecError);
  EXPECT_THROW(parse_hosts("-oProxyCommand=x\n", "f"), SpecError);
  EXPECT_THROW(parse_hosts("node1 slots=4\n", "f"), SpecError);
}

}  // namespace
}  // namespace tw::fleet
