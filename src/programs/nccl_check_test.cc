// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/nccl_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tw::programs {
namespace {

using testing::HasSubstr;

// Lines as NCCL 2.28.9 writes them.
constexpr const char* kGood =
    "host0:7:7 [0] NCCL INFO NET/Socket : Using [0]eth0:10.77.0.1<0>\n"
    "host0:7:7 [0] NCCL INFO Using network Socket\n"
    "host0:7:9 [0] NCCL INFO ncclCommInitRankConfig comm 0x55 rank 0 nranks 4 - Init COMPLETE\n";

class NcclCheck : public testing::Test {
 protected:
  NcclCheck() {
    folder_ = testing::TempDir() + "ncclXXXXXX";
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    job_ = {.placement = {0, 1}, .gpu = lab::SharedGpu{.log_folder = folder_}};
  }
  ~NcclCheck() override { std::filesystem::remove_all(folder_); }
  void log(int rank, const std::string& text) const {
    std::ofstream(lab::nccl_file(job_, rank)) << text;
  }

  std::string folder_;
  lab::LaunchRequest job_;
};

TEST_F(NcclCheck, PassesWhereEveryRankHasACommunicatorOverSockets) {
  log(0, kGood);
  log(1, kGood);
  EXPECT_TRUE(nccl_check({job_}).ok);
}

TEST_F(NcclCheck, NamesTheRankThatNeverCalledNccl) {
  log(0, kGood);
  const record::Check check = nccl_check({job_});
  EXPECT_FALSE(check.ok);
  EXPECT_THAT(check.text, HasSubstr("rank 1 of job0 never called NCCL"));
  EXPECT_EQ(check.found, "1");
}

TEST_F(NcclCheck, TellsOfOneThatDidNotGetReady) {
  log(0, "host0:7:7 [0] NCCL INFO Bootstrap: Using eth0:10.77.0.1<0>\n");
  log(1, kGood);
  EXPECT_THAT(nccl_check({job_}).text, HasSubstr("never made a communicator"));
}

TEST_F(NcclCheck, TellsOfAnotherWayThanSockets) {
  log(0, "host0:7:9 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 0 - Init COMPLETE\n");
  log(1, kGood);
  EXPECT_THAT(nccl_check({job_}).text, HasSubstr("did not take its sockets"));
}

TEST_F(NcclCheck, JudgesNobodyWhoLogsElsewhere) {
  job_.environment = {"NCCL_DEBUG=WARN"};
  EXPECT_TRUE(nccl_check({job_}).ok);
  EXPECT_EQ(nccl_check({job_}).found, "not judged");
}

}  // namespace
}  // namespace tw::programs
