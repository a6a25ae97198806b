// SPDX-License-Identifier: Apache-2.0
#include "trainwire/gpu/facts.h"

#include "trainwire/gpu/ask.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace tw::gpu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const Card kCard{.name = "NVIDIA H200",
                 .driver = "570.86.15",
                 .memory_bytes = 143771LL << 20,
                 .compute_mode = "Default"};

/// A folder of programs that are the only ones in PATH, besides the shell.
class OwnPath : public testing::Test {
 protected:
  OwnPath() {
    folder_ = testing::TempDir() + "pathXXXXXX";
    EXPECT_NE(::mkdtemp(folder_.data()), nullptr);
    kept_ = ::getenv("PATH");
    ::setenv("PATH", folder_.c_str(), 1);
  }
  ~OwnPath() override {
    ::setenv("PATH", kept_.c_str(), 1);
    std::filesystem::remove_all(folder_);
  }
  void program(const std::string& name, const std::string& script) const {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path) << "#!/bin/sh\n" << script;
    std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  }

  std::string folder_;
  std::string kept_;
};

TEST(ParseCards, ReadsNvidiaSmi) {
  EXPECT_THAT(parse_cards("NVIDIA H200, 570.86.15, 143771, Default\n\nnonsense\na, b\n"),
              ElementsAre(kCard));
}

TEST_F(OwnPath, WithoutAnythingSaysThatThereIsNoGpu) {
  if (std::filesystem::exists("/dev/nvidia0")) GTEST_SKIP() << "there is a GPU";
  const Facts facts = find();
  EXPECT_THAT(facts.cards, IsEmpty());
  EXPECT_THAT(why_not_shared(facts).value_or(""), HasSubstr("there is no NVIDIA GPU"));
}

TEST_F(OwnPath, QuotesNvidiaSmiWhereItFails) {
  program("nvidia-smi", "echo 'NVIDIA-SMI has failed because it could not talk'; exit 9\n");
  EXPECT_THAT(why_not_shared(find()).value_or(""),
              HasSubstr("NVIDIA-SMI has failed because it could not talk"));
}

TEST_F(OwnPath, AGpuWithoutMpsCannotBeShared) {
  program("nvidia-smi", "echo 'NVIDIA H200, 570.86.15, 143771, Default'\n");
  EXPECT_THAT(why_not_shared(find()).value_or(""), HasSubstr("no nvidia-cuda-mps-control in PATH"));
  program("nvidia-cuda-mps-control", "");
  EXPECT_EQ(why_not_shared(find()), std::nullopt);
  EXPECT_EQ(card_words(find()), "NVIDIA H200, 150.8 GB, driver 570.86.15");
}

TEST(WhyNotShared, AGpuThatLetsNobodyCompute) {
  Facts facts{.cards = {kCard}, .mps_control = "/x"};
  facts.cards[0].compute_mode = "Prohibited";
  EXPECT_THAT(why_not_shared(facts).value_or(""), HasSubstr("nvidia-smi -c DEFAULT"));
}

TEST(Ask, EndsWhatTakesTooLong) {
  const Answer answer = ask({"sleep", "60"}, std::chrono::milliseconds(50));
  EXPECT_FALSE(answer.ending);
  EXPECT_EQ(answer.reason(), "no answer in time");
}

TEST(Ask, HearsBothStreams) {
  EXPECT_EQ(ask({"sh", "-c", "echo; echo no >&2; exit 3"}, std::chrono::seconds(10)).reason(),
            "no");
}

}  // namespace
}  // namespace tw::gpu
