// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gpu/mps.h"

#include "trainwire/base/error.h"
#include "trainwire/network/test_plans.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tw::gpu {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

/// A daemon that stands in for NVIDIA's: goes to the background once it listens.
constexpr const char* kDaemon = R"(#!/bin/sh
cd "$CUDA_MPS_PIPE_DIRECTORY" || exit 1
case "$1" in
-d) setsid "$0" --serve < /dev/null > /dev/null 2>&1 &
    until [ -e control ]; do sleep 0.01; done ;;
--serve) touch control; while [ ! -e quit ]; do sleep 0.02; done ;;
*) read word; [ "$word" != quit ] || touch quit ;;
esac
)";

class MpsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    folder_ = testing::TempDir() + "mpsXXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }
  void TearDown() override {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  std::string daemon(const std::string& script) const {
    const std::string path = folder_ + "/nvidia-cuda-mps-control";
    std::ofstream(path) << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
    return path;
  }

  std::string folder_;
};

TEST_F(MpsTest, LivesAmongTheProgramsUntilItIsStopped) {
  const testbed::Cluster cluster(network::plan_of("hosts = 1"), spec::Engine::Nfqueue);
  const testbed::Programs programs(cluster);
  ledger::Ledger ledger(folder_ + "/state", "test");
  Mps mps(daemon(kDaemon), folder_ + "/logs");
  EXPECT_THAT(mps.processes(programs), IsEmpty());
  mps.start(programs, ledger);
  // Two, while the script has forked and not yet become sleep.
  EXPECT_THAT(mps.processes(programs), Not(IsEmpty()));
  mps.stop(programs);
  EXPECT_THAT(mps.processes(programs), IsEmpty());
  mps.stop(programs);
}

TEST_F(MpsTest, OneThatDoesNotListenToQuitIsKilled) {
  const testbed::Cluster cluster(network::plan_of("hosts = 1"), spec::Engine::Nfqueue);
  const testbed::Programs programs(cluster);
  ledger::Ledger ledger(folder_ + "/state", "test");
  Mps mps(daemon("#!/bin/sh\n"
                 "[ \"$1\" != -d ] || setsid \"$0\" --sleep &\n"
                 "[ \"$1\" != --sleep ] || while :; do sleep 1; done\n"
                 "sleep 0.2\n"),
          folder_ + "/logs");
  mps.start(programs, ledger);
  EXPECT_THAT(mps.processes(programs), Not(IsEmpty()));
  mps.stop(programs);
  EXPECT_THAT(mps.processes(programs), IsEmpty());
}

TEST_F(MpsTest, TellsWhyItDoesNotStart) {
  const testbed::Cluster cluster(network::plan_of("hosts = 1"), spec::Engine::Nfqueue);
  const testbed::Programs programs(cluster);
  ledger::Ledger ledger(folder_ + "/state", "test");
  Mps mps(daemon("#!/bin/sh\necho 'An instance of this daemon is already running' >&2\nexit 1\n"),
          folder_ + "/logs");
  try {
    mps.start(programs, ledger);
    FAIL();
  } catch (const SystemError& error) {
    EXPECT_THAT(error.what(), HasSubstr("exited with code 1: An instance of this daemon"));
  }
}

TEST_F(MpsTest, ItsPipesGoWithIt) {
  std::string pipes;
  {
    const Mps mps("x", folder_ + "/logs");
    pipes = mps.environment().front().substr(std::string("CUDA_MPS_PIPE_DIRECTORY=").size());
    EXPECT_TRUE(std::filesystem::exists(pipes));
  }
  EXPECT_FALSE(std::filesystem::exists(pipes));
}

}  // namespace
}  // namespace tw::gpu
