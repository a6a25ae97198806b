// SPDX-License-Identifier: Apache-2.0
#include "trainwire/standing/stalls.h"

#include "trainwire/operations/missing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace tw::standing {
namespace {

using operations::hangs;
using operations::sentence_of;
using testing::ElementsAre;

operations::Told told_of(std::string_view text) {
  Stalls stalls;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    stalls.line(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {.path = "x.log", .kind = "nccl_log", .stall = stalls.told()};
}

TEST(Stalls, MissingRanksAreNamed) {
  const auto told = told_of(
      "[1,0]<stderr>:[2019-01-01 13:55:31.8: W horovod/common/operations.cc:588] a_0 [missing "
      "ranks: "
      "1]\n"
      "[1,0]<stderr>:Stalled ops:b_0 [missing ranks: 1, 3]\n"
      "[1,0]<stderr>:Stalled ops:b_0 [missing ranks: 1, 3]\n");
  const auto found = hangs({told});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(sentence_of(found[0]),
            "ranks 1, 3 did not come to what others wait for: Horovod names 2 tensors for rank 1, "
            "1 for rank 3; the first is a_0");
}

TEST(Stalls, RanksMayBeginTheLine) {
  const auto told = told_of(
      "[2020-01-01 16:35:15.1: W horovod/common/stall_inspector.cc:105] One or more tensors were "
      "submitted to be reduced, gathered or broadcasted by subset of ranks\n"
      "Missing ranks:\n1: [a/b_0, c/d_0 ...]\n");
  EXPECT_EQ(sentence_of(hangs({told})[0]),
            "rank 1 did not come to what others wait for: Horovod names 2 tensors; the first is "
            "a/b_0");
}

TEST(Stalls, TheListHasAnotherNameToo) {
  const auto told = told_of(
      "[1,0]<stderr>:[2019-10-09 05:33:38.2: W horovod/common/stall_inspector.cc:105] One or more "
      "tensors were submitted to be reduced, gathered or broadcasted by subset of ranks\n"
      "[1,0]<stderr>:Stalled ranks:\n[1,0]<stderr>:4: [x_0, x_1, x_\n");
  ASSERT_EQ(hangs({told}).size(), 1U);
  EXPECT_THAT(hangs({told})[0].missing, ElementsAre(4));
}

TEST(Stalls, OfReadyRanksTheGapsAreMissing) {
  const auto told = told_of("Stalled ops: a.w [ready ranks: 3, 1], a.b [ready ranks: 1, 3]\n");
  EXPECT_THAT(hangs({told})[0].missing, ElementsAre(0, 2));
}

}  // namespace
}  // namespace tw::standing
