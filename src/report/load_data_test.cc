// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/load_data.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace tw::report {
namespace {

TEST(LoadData, PutsFlowsIntoTheBinInWhichTheyStart) {
  // 10 ms in bins of 1 ms; 125 bytes in one bin are 1 Mbit/s.
  const std::vector<LoadFlow> flows{{0.0, 125}, {0.0095, 250}};
  const auto document = load_data({.path = "load.csv", .span_s = 0.01, .flows = flows});
  EXPECT_EQ(document["bin_s"], 1e-3);
  EXPECT_EQ(document["rate"]["n"], 10);
  EXPECT_NEAR(document["rate"]["step"].get<double>() * 65534, 2e6, 1e-3);
  EXPECT_DOUBLE_EQ(document["mean_bps"].get<double>(), 375 * 8 / 0.01);
}

TEST(LoadData, WidensBinsOfALongLoad) {
  const std::vector<LoadFlow> flows{{0.0, 1}};
  // An hour is 3,600,000 ms; at most 20,000 bins: 200 ms.
  const auto document = load_data({.path = "", .span_s = 3600, .flows = flows});
  EXPECT_NEAR(document["bin_s"].get<double>(), 0.2, 1e-12);
  EXPECT_EQ(document["rate"]["n"], 18'000);
}

TEST(LoadData, CountsEveryFlowOnceBySize) {
  const std::vector<LoadFlow> flows{{0, 10}, {0, 1000}, {0, 1000}};
  const auto sizes = load_data({.path = "", .span_s = 1, .flows = flows})["sizes"];
  EXPECT_EQ(sizes["low"], 1);  // the decimal logarithm of 10
  EXPECT_EQ(sizes["counts"].front(), 1);
  EXPECT_EQ(sizes["counts"].back(), 2);
}

TEST(LoadData, WantsFlows) {
  EXPECT_THROW(load_data({.path = "", .span_s = 1, .flows = {}}), std::logic_error);
}

}  // namespace
}  // namespace tw::report
