// SPDX-License-Identifier: Apache-2.0
#include "trainwire/learn/state.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::learn {
namespace {

const State kState{.step = 41, .arrays = {{"parameters", {1, 2.5f}}, {"momentum", {}}}};

TEST(State, ComesBackFromItsBytes) { EXPECT_EQ(state_from(to_bytes(kState)), kState); }

TEST(State, CutAnywhereIsRefused) {
  const std::vector<std::byte> bytes = to_bytes(kState);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    EXPECT_THROW(state_from(std::span(bytes).first(i)), DataError) << i;
  }
  std::vector<std::byte> longer = bytes;
  longer.push_back({});
  EXPECT_THROW(state_from(longer), DataError);
}

TEST(State, OfAnotherModelIsRefused) {
  std::vector<float> two(2);
  restore(kState, "parameters", two);
  EXPECT_THAT(two, testing::ElementsAre(1, 2.5f));
  std::vector<float> three(3);
  EXPECT_THROW(restore(kState, "parameters", three), DataError);
  EXPECT_THROW(restore(kState, "kept", two), DataError);
}

}  // namespace
}  // namespace tw::learn
