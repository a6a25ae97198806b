// SPDX-License-Identifier: Apache-2.0
#include "trainwire/checkpoint/store.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tw::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class Stored : public ::testing::Test {
 protected:
  Stored() {
    std::string pattern = fs::temp_directory_path() / "tw-checkpoint-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
    store_ = {.folder = (folder_ / "deep/er").string(), .name = "job0"};
  }
  ~Stored() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  static Checkpoint at(std::int64_t step) { return {.step = step, .state = {1, 2, 3}}; }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(store_.folder), fs::directory_iterator()));
  }

  fs::path folder_;
  Store store_;
  std::vector<std::string> problems_;
};

TEST_F(Stored, TheLastTwoAreKeptAndTheLastIsFound) {
  EXPECT_EQ(latest(store_, problems_), std::nullopt);
  for (const std::int64_t step : {8, 9, 10}) EXPECT_EQ(save(store_, at(step)), 52U);
  EXPECT_EQ(files(), 2U);
  const auto found = latest(store_, problems_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 10);
  EXPECT_EQ(load(found->path), at(10));
  EXPECT_THAT(problems_, IsEmpty());
}

TEST_F(Stored, ATornOneIsToldAndTheOneBeforeIsUsed) {
  save(store_, at(5));
  save(store_, at(10));
  fs::resize_file(store_.path(10), 45);
  const auto found = latest(store_, problems_);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->step, 5);
  EXPECT_THAT(problems_,
              ElementsAre(HasSubstr("step 10 is not used: it ends after 5 of 12 bytes of state")));
}

TEST_F(Stored, OtherNamesAndPartsAreNotOurs) {
  save(store_, at(5));
  Store other = store_;
  other.name = "job0-rank1";
  save(other, at(7));
  std::ofstream(store_.path(9) + ".123.part") << "half";
  std::ofstream(store_.folder + "/job0-x.checkpoint") << "no step";
  EXPECT_EQ(latest(store_, problems_)->step, 5);
  EXPECT_EQ(latest(other, problems_)->step, 7);
  remove_all(store_);
  EXPECT_EQ(latest(store_, problems_), std::nullopt);
  EXPECT_EQ(latest(other, problems_)->step, 7);
  EXPECT_FALSE(fs::exists(store_.path(9) + ".123.part"));
}

TEST_F(Stored, AFolderThatIsAFileIsAnError) {
  std::ofstream(folder_ / "deep") << "in the way";
  EXPECT_THROW(save(store_, at(1)), SystemError);
}

}  // namespace
}  // namespace tw::checkpoint
