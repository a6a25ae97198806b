// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tw::programs {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

// As PyTorch 2.11 on CUDA 12 writes them.
TEST(MeaningOf, FullMemoryOfTheGpu) {
  EXPECT_THAT(meaning_of("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 GiB. "
                         "GPU 0 has a total capacity of 139.80 GiB"),
              HasSubstr("the GPU's memory is full"));
}

TEST(MeaningOf, MpsThatLetsNobodyIn) {
  EXPECT_THAT(meaning_of("RuntimeError: CUDA error: MPS client failed to connect to the MPS "
                         "control daemon or the MPS server"),
              HasSubstr("mps/server.log"));
}

TEST(MeaningOf, TwoRanksOnOneGpu) {
  EXPECT_THAT(meaning_of("ncclInvalidUsage: Duplicate GPU detected : rank 1 and rank 0 both on "
                         "CUDA device 1000"),
              HasSubstr("NCCL_HOSTID"));
}

TEST(MeaningOf, ACauseStandsBeforeItsEffect) {
  EXPECT_THAT(meaning_of("invalid device ordinal ... CUDA out of memory"),
              HasSubstr("memory is full"));
}

TEST(MeaningOf, OtherWordsMeanNothing) { EXPECT_THAT(meaning_of("no luck today"), IsEmpty()); }

TEST(MeaningOf, OfAFileItsEnd) {
  const std::string path = testing::TempDir() + "explain_test.txt";
  std::ofstream(path) << "CUDA out of memory\n" << std::string(100'000, 'x') << "\nno luck\n";
  EXPECT_THAT(meaning_of_file(path), IsEmpty());
  std::ofstream(path) << "Connection closed by peer [10.77.0.1]:41263\n";
  EXPECT_TRUE(lost_a_peer(path));
  std::filesystem::remove(path);
  EXPECT_THAT(meaning_of_file(path), IsEmpty());
  EXPECT_FALSE(lost_a_peer(path));
}

}  // namespace
}  // namespace tw::programs
