// SPDX-License-Identifier: Apache-2.0
#include "trainwire/diagnose/classify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::diagnose {
namespace {

flow::Flow flow(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  flow::Flow result;
  result.key = {from, to, static_cast<std::uint16_t>(from), static_cast<std::uint16_t>(to), 6};
  result.payload_bytes = bytes;
  return result;
}

TEST(Classify, TellsDataItsWayBackAndTheRest) {
  gather::Captured traffic{};
  traffic.flows.push_back(flow(1, 2, 10'000'000));  // gradients
  traffic.flows.push_back(flow(2, 1, 4'000));       // notifications on the way back
  traffic.flows.push_back(flow(1, 3, 50'000));      // a store
  traffic.flows.push_back(flow(3, 1, 40'000));
  traffic.flows.push_back(flow(2, 3, 100));  // a greeting
  EXPECT_THAT(classify(traffic, {0}),
              ::testing::ElementsAre(FlowClass::Gradient, FlowClass::Acknowledgement,
                                     FlowClass::Control, FlowClass::Control, FlowClass::Tiny));
}

TEST(Classify, CallsBothWaysGradientWhenBothCarryThem) {
  gather::Captured traffic{};
  traffic.flows.push_back(flow(1, 2, 10'000'000));
  traffic.flows.push_back(flow(2, 1, 10'000'000));
  EXPECT_THAT(classify(traffic, {0, 1}), ::testing::Each(FlowClass::Gradient));
}

}  // namespace
}  // namespace tw::diagnose
