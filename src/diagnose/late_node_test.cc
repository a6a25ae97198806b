// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/late_node.h"

#include "trainwire/diagnose/analysis.h"
#include "trainwire/rhythm/test_jobs.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

namespace tw::diagnose {
namespace {

/// Seven hosts, rank r on host r: 0 is the root, 1 and 2 have two children each.
rhythm::PlayedJob tree() {
  return {.strategy = "binary_tree_star",
          .placement = {0, 1, 2, 3, 4, 5, 6},
          .payload = 300'000,
          .compute_s = 0.12,
          .jitter = 0.01,
          .rate_bps = 400e6};
}

// It computes 100 ms longer than the leaves. But it begins earlier: what comes down reaches the
// inner nodes 6 and 12 ms after the root sent it, and the leaves up to 12 ms later. And it has
// their data only 6 ms after they sent it, the root 12. So all wait 64 ms for the root, 82 to 88 ms
// for an inner node.
TEST(LateNode, HoldsWhatItsChildrenSend) {
  const std::vector<double> delays_s{0.064, 0.085, 0.085};
  for (const int late : {0, 1, 2}) {
    rhythm::PlayedJob job = tree();
    job.straggler = late;
    const Analysis found = analyse(play(job));
    ASSERT_TRUE(found.straggler) << late;
    EXPECT_EQ(found.straggler->host, rhythm::host_name(late));
    EXPECT_NEAR(found.straggler->delay_s, delays_s[static_cast<std::size_t>(late)], 0.005);
  }
}

TEST(LateNode, IsNoneWhereALeafIsLate) {
  rhythm::PlayedJob job = tree();
  job.straggler = 5;
  const Analysis found = analyse(play(job));
  ASSERT_TRUE(found.straggler);
  EXPECT_EQ(found.straggler->host, rhythm::host_name(5));
}

TEST(LateNode, IsNoneWhereAllComputeAlike) {
  EXPECT_FALSE(analyse(rhythm::play(tree())).straggler);
}

}  // namespace
}  // namespace tw::diagnose
