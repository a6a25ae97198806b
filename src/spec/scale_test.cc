// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/scale.h"

#include "trainwire/spec/test_experiments.h"

#include <gtest/gtest.h>

namespace tw::spec {
namespace {

constexpr const char* kFast = R"(
[network]
topology = "dumbbell"
rate = "25Gbit"
delay = "1ms"
queue = "50MB"
ecn = "1MB"
core_rate = "50Gbit"
[[network.link]]
at = "host0"
rate = "10Gbit"
queue = "25MB"
[[job]]
model = "resnet50"
bucket = "25MB"
compute_time = "80ms"
[[traffic]]
from = "host0"
to = "host1"
load = "5Gbit"
[[traffic]]
from = "host1"
to = "host0"
load = 0.5
[run]
scale = 25
)";

TEST(Scaled, DividesRatesQueuesMarksAndLoadsAndKeepsTimes) {
  const Experiment small = scaled(parsed(kFast));
  EXPECT_EQ(*small.network.link.rate, 1_Gbit);
  EXPECT_EQ(*small.network.core_rate, 2_Gbit);
  EXPECT_EQ(small.network.link.queue->bytes, 2_MB);
  EXPECT_EQ(*small.network.link.ecn, 40'000_B);
  EXPECT_EQ(*small.network.link.delay, std::chrono::milliseconds(1));
  EXPECT_EQ(**small.network.overrides[0].rate, 400_Mbit);
  EXPECT_EQ((*small.network.overrides[0].queue)->bytes, 1_MB);
  EXPECT_EQ(small.traffic[0].load->rate, 200_Mbit);
  EXPECT_EQ(small.traffic[1].load->share, 0.5);
  EXPECT_EQ(*small.jobs[0].compute_time, std::chrono::milliseconds(80));
}

// A bucket groups layers of the named model: it is cut from the full size, then made small.
TEST(Scaled, LeavesNamesAndSaysByHowMuchTheirPayloadShrinks) {
  const Experiment small = scaled(parsed(kFast));
  EXPECT_EQ(*small.jobs[0].model, "resnet50");
  EXPECT_EQ(*small.jobs[0].bucket, 25_MB);
  EXPECT_EQ(small.jobs[0].payload_divisor, 25);
  EXPECT_EQ(small.traffic[0].payload_divisor, 25);
}

TEST(Scaled, ChangesNothingTheSecondTime) {
  const Experiment small = scaled(parsed(kFast));
  EXPECT_EQ(*small.run.scale, 1);
  EXPECT_EQ(scaled(small), small);
  const Experiment plain = parsed("[network]\nrate = \"1Gbit\"\n[job]\nmodel = \"vgg16\"");
  EXPECT_EQ(scaled(plain), plain);
}

TEST(Scaled, SlowMotionDividesRatesAndMultipliesTimes) {
  const Experiment slow = scaled(parsed(R"(
[network]
rate = "10Gbit"
delay = "20us"
queue = "256KiB"
loss = 0.001
[job]
model = "resnet50"
start = "1s"
[[traffic]]
kind = "burst"
from = "host0"
to = "host1"
load = "1Gbit"
period = "10ms"
[run]
slow_motion = 50
)"));
  EXPECT_EQ(*slow.network.link.rate, 200_Mbit);
  EXPECT_EQ(*slow.network.link.delay, std::chrono::milliseconds(1));
  EXPECT_EQ(slow.network.link.queue->bytes, 256_KiB);
  EXPECT_EQ(*slow.network.link.loss, 0.001);
  EXPECT_EQ(*slow.jobs[0].start, std::chrono::seconds(50));
  EXPECT_EQ(slow.jobs[0].time_factor, 50);
  EXPECT_EQ(slow.jobs[0].payload_divisor, 1);
  EXPECT_EQ(slow.traffic[0].load->rate, 20_Mbit);
  EXPECT_EQ(*slow.traffic[0].period, std::chrono::milliseconds(500));
  EXPECT_EQ(scaled(slow), slow);
}

}  // namespace
}  // namespace tw::spec
