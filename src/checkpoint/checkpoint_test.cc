// SPDX-License-Identifier: Apache-2.0
#include "trainwire/checkpoint/checkpoint.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::checkpoint {
namespace {

using ::testing::HasSubstr;

Checkpoint small() { return {.step = 12, .seed = 7, .state = {1.5f, -0.0f, 3e-40f, 4.0f, 5.0f}}; }

TEST(Checkpoint, SaysAgainWhatItSaid) {
  EXPECT_EQ(decode(encode(small())), small());
  const Checkpoint empty{.step = -3};
  EXPECT_EQ(decode(encode(empty)), empty);
  EXPECT_EQ(encode(small()).size(), 40U + 5 * 4);
}

TEST(Checkpoint, IsTornWhereverItIsCut) {
  const std::string whole = encode(small());
  for (std::size_t cut = 0; cut < whole.size(); ++cut) {
    EXPECT_FALSE(problem(whole.substr(0, cut)).empty()) << cut;
  }
  EXPECT_THAT(problem(whole.substr(0, 44)), HasSubstr("it ends after 4 of 20 bytes of state"));
  EXPECT_THAT(problem(whole + "x"), HasSubstr("1 bytes follow its end"));
  EXPECT_THROW(decode(whole.substr(0, 41)), DataError);
}

TEST(Checkpoint, IsWrongWhateverBitIsTurned) {
  const std::string whole = encode(small());
  for (std::size_t bit = 0; bit < 8 * whole.size(); ++bit) {
    std::string turned = whole;
    turned[bit / 8] = static_cast<char>(turned[bit / 8] ^ (1 << (bit % 8)));
    EXPECT_FALSE(problem(turned).empty()) << bit;
  }
}

}  // namespace
}  // namespace tw::checkpoint
