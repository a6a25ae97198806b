// SPDX-License-Identifier: Apache-2.0
#include "trainwire/recognise/signature.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
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
  for (const std::string strategy : {"ring", "halving_doubling", "double_tree", "clique"}) {
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

TEST(RecursiveDoubling, ExchangesEverythingWithEachPartner) {
  const Signature signature = recursive_doubling(8);
  EXPECT_DOUBLE_EQ(signature.at(5, 4), 1);
  EXPECT_DOUBLE_EQ(signature.at(5, 7), 1);
  EXPECT_DOUBLE_EQ(signature.at(5, 1), 1);
  EXPECT_DOUBLE_EQ(signature.at(5, 2), 0);
  EXPECT_THROW(recursive_doubling(1), std::logic_error);
}

// Of 6 ranks, 0 and 2 stand for 1 and 3 too; they, 4 and 5 are the places 0 to 3.
TEST(RecursiveDoubling, FoldsWhatIsMoreThanAPowerOfTwo) {
  const Signature signature = recursive_doubling(6);
  EXPECT_DOUBLE_EQ(signature.at(1, 0), 1);
  EXPECT_DOUBLE_EQ(signature.at(0, 1), 1);
  EXPECT_DOUBLE_EQ(signature.at(0, 2), 1);
  EXPECT_DOUBLE_EQ(signature.at(2, 5), 1);
  EXPECT_DOUBLE_EQ(signature.at(1, 2), 0);
}

// Rank 1 gives its neighbour 0 a half to add and, added, the other half; it gets a half to add and
// at the end everything. Places 0..3 are ranks 0, 2, 3, 4: halves with the next, quarters beyond,
// there and back.
TEST(FoldedHalvingDoubling, SendsHalvesToTheNeighbourFirst) {
  const Signature signature = folded_halving_doubling(5);
  EXPECT_DOUBLE_EQ(signature.at(1, 0), 1);
  EXPECT_DOUBLE_EQ(signature.at(0, 1), 1.5);
  EXPECT_DOUBLE_EQ(signature.at(0, 2), 1);
  EXPECT_DOUBLE_EQ(signature.at(4, 3), 1);
  EXPECT_DOUBLE_EQ(signature.at(0, 3), 0.5);
  EXPECT_DOUBLE_EQ(signature.at(1, 4), 0);
}

// Of four ranks, each passes 3/4 of the payload round the ring, 3 -> 2 -> 1 -> 0 -> 3, and its sum
// of a quarter to rank 0; rank 3 gets the result from rank 1.
TEST(ReduceAndBroadcast, GoesRoundTheRingToTheRootAndDownATree) {
  const Signature signature = reduce_and_broadcast(4);
  EXPECT_DOUBLE_EQ(signature.at(0, 3), 0.75);
  EXPECT_DOUBLE_EQ(signature.at(1, 0), 1);
  EXPECT_DOUBLE_EQ(signature.at(3, 0), 0.25);
  EXPECT_DOUBLE_EQ(signature.at(3, 2), 0.75);
  EXPECT_DOUBLE_EQ(signature.at(0, 2), 1);
  EXPECT_DOUBLE_EQ(signature.at(1, 3), 1);
  EXPECT_THROW(reduce_and_broadcast(1), std::logic_error);
}

TEST(FoldedHalvingDoubling, IsHalvingDoublingForAPowerOfTwo) {
  const Signature plain = signature_of("halving_doubling", 8);
  const Signature folded = folded_halving_doubling(8);
  const std::vector<int> places{0, 1, 2, 3, 4, 5, 6, 7};
  EXPECT_TRUE(match(placed(plain, places, 4e6), folded, 0.02));
}

}  // namespace
}  // namespace tw::recognise
