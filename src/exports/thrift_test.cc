// SPDX-License-Identifier: Apache-2.0
#include "trainwire/exports/thrift.h"

#include <gmock/gmock.h>

#include <string>

namespace tw::exports {
namespace {

using namespace std::string_literals;

TEST(Thrift, WritesAFieldAsItsDistanceAndTypeAndAnIntegerAsZigzag) {
  // Field 1, type 5: 0x15; 3 is 6 in zigzag. Field 4 is 3 further, type 6: 0x36; -1 is 1.
  EXPECT_EQ(ThriftWriter().i32(1, 3).i64(4, -1).finished(), "\x15\x06\x36\x01\0"s);
}

TEST(Thrift, WritesLargeIntegersSevenBitsAByteTheLowestFirst) {
  // 150 in zigzag is 300 = 0b10'0101100: 0xac 0x02.
  EXPECT_EQ(ThriftWriter().i32(1, 150).finished(), "\x15\xac\x02\0"s);
}

TEST(Thrift, WritesListsOfFifteenAndMoreWithTheirCountBehind) {
  ThriftWriter small;
  small.begin_list(2, ThriftType::Integer32, 2).i32(0).i32(1);
  EXPECT_EQ(small.finished(), "\x29\x25\x00\x02\0"s);
  ThriftWriter large;
  large.begin_list(2, ThriftType::Binary, 15);
  for (int i = 0; i < 15; ++i) large.binary("x");
  EXPECT_THAT(large.finished(), testing::StartsWith("\x29\xf8\x0f\x01x\x01x"));
}

TEST(Thrift, CountsFieldsOfAnInnerStructFromTheStartAgain) {
  ThriftWriter thrift;
  thrift.i32(3, 0).begin_struct(5).i32(1, 0).end_struct().i32(6, 0);
  EXPECT_EQ(thrift.finished(), "\x35\x00\x2c\x15\x00\x00\x15\x00\x00"s);
}

}  // namespace
}  // namespace tw::exports
