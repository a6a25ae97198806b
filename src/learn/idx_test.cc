// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/idx.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::learn {
namespace {

using testing::HasSubstr;

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

template <typename Act>
std::string refusal(Act act) {
  try {
    act();
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

TEST(Idx, HoldsPicturesRowByRow) {
  const Pictures pictures = read_pictures(
      bytes({0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255}), "x");
  EXPECT_EQ(pictures.count(), 2);
  EXPECT_EQ(pictures.height, 1);
  EXPECT_EQ(pictures.width, 3);
  EXPECT_EQ(pictures.pixels, (std::vector<std::uint8_t>{1, 2, 3, 4, 5, 255}));
}

TEST(Idx, HoldsKinds) {
  EXPECT_EQ(read_kinds(bytes({0, 0, 8, 1, 0, 0, 0, 2, 7, 9}), "x"),
            (std::vector<std::uint8_t>{7, 9}));
}

TEST(Idx, SaysWhatIsWrong) {
  EXPECT_THAT(refusal([] { read_kinds(bytes({0, 0, 8}), "cut"); }), HasSubstr("cut: 3 bytes"));
  EXPECT_THAT(refusal([] {
                read_kinds(bytes({31, 139, 8, 1, 0, 0, 0, 0}), "packed");
              }),
              HasSubstr("packed: begins with 1f8b0801, not with 00000801"));
  EXPECT_THAT(refusal([] {
                read_kinds(bytes({0, 0, 8, 1, 0, 0, 0, 9, 1}), "short");
              }),
              HasSubstr("short: says that it has 9 bytes of samples and has 1"));
  // 2^32-1 pictures of 4096 x 4096 are counted without running over.
  EXPECT_THAT(
      refusal([] {
        read_pictures(bytes({0, 0, 8, 3, 255, 255, 255, 255, 0, 0, 16, 0, 0, 0, 16, 0}), "x");
      }),
      HasSubstr("72057594021150720 bytes"));
  EXPECT_THAT(refusal([] {
                read_pictures(bytes({0, 0, 8, 3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}), "x");
              }),
              HasSubstr("pictures of 0 x 1"));
}

}  // namespace
}  // namespace tw::learn
