// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/frame.h"

#include <gmock/gmock.h>

namespace tw::traffic {
namespace {

const transport::tcp::Token kToken = {std::byte{1}, std::byte{2}};

TEST(Frame, SaysAgainWhatItSaid) {
  for (const FrameKind kind : {FrameKind::Flow, FrameKind::LastFlow, FrameKind::Datagram,
                               FrameKind::Query, FrameKind::Greeting}) {
    const Frame frame{.kind = kind, .number = 0x0102030405060708, .size = kEndless};
    EXPECT_EQ(decode(encode(frame, kToken), kToken), frame);
  }
}

TEST(Frame, IsNoneWithAnotherTokenMagicOrKind) {
  const FrameBytes good = encode({.size = 5}, kToken);
  EXPECT_FALSE(decode(good, {}));
  for (const std::size_t at : {std::size_t{0}, std::size_t{4}, std::size_t{39}}) {
    FrameBytes bad = good;
    bad[at] ^= std::byte{0x80};
    EXPECT_FALSE(decode(bad, kToken)) << "byte " << at;
  }
}

TEST(Answer, IsItsNumber) { EXPECT_EQ(decode_answer(encode_answer(1ull << 63)), 1ull << 63); }

}  // namespace
}  // namespace tw::traffic
