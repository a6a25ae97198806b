// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tw::recognise {
namespace {

/// The pattern of a signature whose rank r lives at place `places[r]`.
Pattern placed(const Signature& signature, const std::vector<int>& places, double payload) {
  const auto n = static_cast<std::size_t>(signature.ranks);
  std::vector<double> bytes(n * n, 0);
  std::vector<int> hosts;
  for (int i = 0; i < signature.ranks; ++i) hosts.push_back(i);
  for (std::size_t from = 0; from < n; ++from) {
    for (std::size_t to = 0; to < n; ++to) {
      const auto row = static_cast<std::size_t>(places[from]);
      const auto column = static_cast<std::size_t>(places[to]);
      bytes[row * n + column] =
          payload * signature.at(static_cast<int>(from), static_cast<int>(to));
    }
  }
  return Pattern(hosts, bytes);
}

TEST(Signature, OfARingIsTheClosedForm) {
  // 2 * 3/4 of the payload to the successor, nothing elsewhere.
  const Signature ring = signature_of("ring", 4);
  EXPECT_NEAR(ring.at(0, 1), 1.5, 1e-6);
  EXPECT_DOUBLE_EQ(ring.at(1, 0), 0);
}

TEST(Match, FindsRanksBehindHostsWhateverTheirOrder) {
  for (const std::string strategy : {"ring", "halving_doubling", "double_tree", "clique",
                                     "recursive_doubling", "reduce_broadcast"}) {
    for (const std::vector<int>& places :
         {std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}, std::vector<int>{3, 7, 1, 0, 6, 2, 5, 4}}) {
      const Signature signature = signature_of(strategy, 8);
      const auto found = match(placed(signature, places, 4e6), signature, 0.02);
      ASSERT_TRUE(found) << strategy;
      EXPECT_NEAR(found->payload, 4e6, 1) << strategy;
      EXPECT_NEAR(found->residual, 0, 1e-9) << strategy;
    }
  }
}

TEST(Match, RefusesAnotherStrategy) {
  const std::vector<int> places{0, 1, 2, 3, 4, 5, 6, 7};
  const Pattern ring = placed(signature_of("ring", 8), places, 4e6);
  EXPECT_FALSE(match(ring, signature_of("halving_doubling", 8), 0.02));
  EXPECT_FALSE(match(ring, signature_of("ring", 4), 0.02));
}

TEST(Match, RefusesARingWithAnUnevenEdge) {
  std::vector<double> bytes(9, 0);
  bytes[0 * 3 + 1] = 100;
  bytes[1 * 3 + 2] = 100;
  bytes[2 * 3 + 0] = 90;
  EXPECT_FALSE(match(Pattern({0, 1, 2}, bytes), signature_of("ring", 3), 0.04));
}

TEST(Match, TakesFoldedHalvingDoublingForPlainOfAPowerOfTwo) {
  const std::vector<int> places{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_TRUE(match(placed(signature_of("halving_doubling", 8), places, 4e6),
                    signature_of("folded_halving_doubling", 8), 0.02));
}

TEST(Match, TellsFoldedHalvingDoublingFromPlainOtherwise) {
  const std::vector<int> places{0, 1, 2, 3, 4};
  EXPECT_FALSE(match(placed(signature_of("halving_doubling", 5), places, 4e6),
                     signature_of("folded_halving_doubling", 5), 0.02));
}

}  // namespace
}  // namespace tw::recognise
