// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/data_set.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

namespace tw::learn {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

TEST(DataSet, IsMadeFromASeedAlikeEveryTime) {
  const DataSet one = synthetic_data(4, 50, 20);
  EXPECT_EQ(one.train.pictures, synthetic_data(4, 50, 20).train.pictures);
  EXPECT_NE(one.train.pictures, synthetic_data(5, 50, 20).train.pictures);
  EXPECT_EQ(one.train.count(), 50);
  EXPECT_EQ(one.test.count(), 20);
  EXPECT_LE(one.kinds(), 10);
}

TEST(DataSet, ThatIsNotThereIsToldWithTheRemedy) {
  EXPECT_EQ(data_problem("synthetic"), "");
  EXPECT_THAT(data_problem("/nowhere"),
              HasSubstr("there is no train-images-idx3-ubyte in /nowhere"));
  EXPECT_THROW(load_data("/nowhere", 1), SystemError);
}

TEST(DataSet, OfAFolderMustFitTogether) {
  const fs::path folder = fs::temp_directory_path() / "tw-learn-data-set-test";
  fs::create_directories(folder);
  const auto write = [&](const char* name, const std::string& bytes) {
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  const std::string picture("\0\0\x8\3\0\0\0\1\0\0\0\1\0\0\0\2ab", 18);
  const std::string kinds("\0\0\x8\1\0\0\0\1\3", 9);
  write("train-images-idx3-ubyte", picture);
  write("t10k-images-idx3-ubyte", picture);
  write("train-labels-idx1-ubyte", kinds);
  write("t10k-labels-idx1-ubyte", kinds);
  const DataSet set = load_data(folder.string(), 1);
  EXPECT_EQ(set.train.pictures.pixels, (std::vector<std::uint8_t>{'a', 'b'}));
  EXPECT_EQ(set.kinds(), 4);
  write("train-labels-idx1-ubyte", std::string("\0\0\x8\1\0\0\0\2\3\3", 10));
  try {
    load_data(folder.string(), 1);
    ADD_FAILURE() << "two labels for one picture were taken";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("2 labels for 1 pictures"));
  }
  fs::remove_all(folder);
}

}  // namespace
}  // namespace tw::learn
