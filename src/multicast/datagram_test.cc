// SPDX-License-Identifier: Apache-2.0
#include "trainwire/multicast/datagram.h"

#include <gtest/gtest.h>

#include <vector>

namespace tw::multicast {
namespace {

constexpr Tag kTag = 0x0123456789abcdef;

std::vector<std::byte> with_payload(const Data& data, std::size_t bytes) {
  const auto header = encode(data, kTag);
  std::vector<std::byte> all(header.begin(), header.end());
  all.resize(all.size() + bytes);
  return all;
}

TEST(Datagram, SaysWhatWasSaid) {
  const Data data{.number = 1LL << 40, .sending = 0xfffffffe, .asks = true};
  EXPECT_EQ(decode_data(with_payload(data, 1), kTag), data);
  const Answer answer{.member = 65535, .next = 3, .sending = 4, .first = 2, .end = 5};
  EXPECT_EQ(decode_answer(encode(answer, kTag), kTag), answer);
}

TEST(Datagram, OfAnotherGroupIsNothing) {
  EXPECT_FALSE(decode_data(with_payload({}, 1), kTag + 1));
  EXPECT_FALSE(decode_answer(encode(Answer{}, kTag), kTag + 1));
}

TEST(Datagram, DataWithoutBytesAndCutAnswersAreNothing) {
  EXPECT_FALSE(decode_data(with_payload({}, 0), kTag));
  const auto answer = encode(Answer{}, kTag);
  EXPECT_FALSE(decode_answer(std::span(answer).first(kAnswerBytes - 1), kTag));
  EXPECT_FALSE(decode_answer(with_payload({}, 8), kTag));
}

TEST(Datagram, AnAnswerDoesNotCountBackwards) {
  EXPECT_FALSE(decode_answer(encode(Answer{.first = 3, .end = 2}, kTag), kTag));
}

}  // namespace
}  // namespace tw::multicast
