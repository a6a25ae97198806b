// SPDX-License-Identifier: Apache-2.0
#include "trainwire/forecast/known_error.h"

#include "trainwire/forecast/errors.h"
#include "trainwire/forecast/test_experiments.h"

#include <gtest/gtest.h>

#include <string>

namespace tw::forecast {
namespace {

const char* const kRing = R"(
[network]
hosts = 4
rate = "100Mbit"
[[job]]
parameters = "1MB"
)";

TEST(KnownError, IsNotToldOfJobsThatSimulationsMeet) {
  EXPECT_EQ(known_error(parsed(kRing), sim::Level::Packet), std::nullopt);
  EXPECT_EQ(known_error(parsed(kRing), sim::Level::Flow), std::nullopt);
}

TEST(KnownError, NamesWhatIsHardAndTheNearerLevel) {
  const spec::Experiment lossy = parsed(kRing, {"network.loss=1%"});
  const auto flow = known_error(lossy, sim::Level::Flow);
  ASSERT_TRUE(flow && flow->ok && flow->caution == true);
  EXPECT_TRUE(flow->text.starts_with("flow by flow, ")) << flow->text;
  EXPECT_NE(flow->text.find("links that lose packets"), std::string::npos) << flow->text;
  EXPECT_NE(flow->text.find("--level packet"), std::string::npos) << flow->text;
}

TEST(KnownError, IsThatOfTheTableForTheLevel) {
  const spec::Experiment shallow =
      parsed(kRing, {"network.queue=15KB", "network.allow_shallow_queue=true"});
  const auto flow = known_error(shallow, sim::Level::Flow);
  const auto packet = known_error(shallow, sim::Level::Packet);
  ASSERT_TRUE(flow && packet);
  const std::string runs = std::to_string(errors().runs_of(Method::Flow, Regime::Queue));
  EXPECT_TRUE(flow->found.ends_with("of " + runs + " jobs")) << flow->found;
  EXPECT_EQ(packet->text.find("--level"), std::string::npos) << packet->text;
}

}  // namespace
}  // namespace tw::forecast
