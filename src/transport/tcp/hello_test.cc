// SPDX-License-Identifier: Apache-2.0
#include "trainwire/transport/tcp/hello.h"

#include <gmock/gmock.h>

namespace tw::transport::tcp {
namespace {

constexpr Hello kHello{.rank = 70'000, .lane = 3};

TEST(Hello, ComesBackAsItWasSent) {
  const Token token = make_token();
  EXPECT_EQ(decode(encode(kHello, token), token), kHello);
}

TEST(Hello, WithAnotherRunsTokenIsNone) {
  EXPECT_EQ(decode(encode(kHello, make_token()), make_token()), std::nullopt);
}

TEST(Hello, OfAnotherProtocolIsNone) {
  const Token token = make_token();
  HelloBytes bytes = encode(kHello, token);
  bytes[0] = std::byte{'G'};
  EXPECT_EQ(decode(bytes, token), std::nullopt);
}

TEST(Token, IsWrittenAndReadAsText) {
  const Token token = make_token();
  EXPECT_EQ(text_of(token).size(), 32u);
  EXPECT_EQ(parse_token(text_of(token)), token);
  EXPECT_EQ(parse_token("no token"), std::nullopt);
  EXPECT_EQ(parse_token(std::string(31, '0') + "g"), std::nullopt);
}

TEST(Token, IsNewForEveryRun) { EXPECT_NE(make_token(), make_token()); }

}  // namespace
}  // namespace tw::transport::tcp
