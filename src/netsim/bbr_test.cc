// SPDX-License-Identifier: Apache-2.0
// BBR (Cardwell et al. 2016, 10.1145/3012426.3022184, figure 8): the line less what is lost, up to
// 15 %, and little above 20 %, where its probes by a quarter no longer find more.
#include "trainwire/netsim/test_wire.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>

namespace tw::netsim {
namespace {

using namespace std::chrono_literals;

constexpr double kPayload = 100e6 * 1448 / 1514;

/// Share of a line of 100 Mbit/s and 10 ms.
double share_under_loss(double loss) {
  Bed bed({{.name = "host", .rate = 1_Gbit},
           {.name = "there", .rate = 100_Mbit, .delay = 5ms, .loss = loss, .queue_bytes = 1e6},
           {.name = "back", .rate = 1_Gbit, .delay = 5ms}});
  TcpOptions options;
  options.congestion_control = "bbr";
  bed.stream({0, 1}, {2}, options);
  return bed.rates(1, 2000 * kMillisecond, 6000 * kMillisecond).front() / kPayload;
}

TEST(Bbr, FillsTheLine) { EXPECT_GT(share_under_loss(0), 0.98); }

TEST(Bbr, LosesWhatIsLost) {
  EXPECT_NEAR(share_under_loss(0.01), 0.99, 0.01);
  EXPECT_NEAR(share_under_loss(0.05), 0.95, 0.04);
  EXPECT_NEAR(share_under_loss(0.10), 0.90, 0.08);
  EXPECT_NEAR(share_under_loss(0.15), 0.85, 0.13);
}

TEST(Bbr, CollapsesWhereAQuarterMoreIsNotMore) { EXPECT_LT(share_under_loss(0.25), 0.2); }

TEST(Bbr, KeepsTheQueueShort) {
  Bed bed({{.name = "host", .rate = 1_Gbit},
           {.name = "there", .rate = 100_Mbit, .delay = 5ms, .queue_bytes = 1e7},
           {.name = "back", .rate = 1_Gbit, .delay = 5ms}});
  TcpOptions options;
  options.congestion_control = "bbr";
  bed.stream({0, 1}, {2}, options);
  bed.net.advance(2000 * kMillisecond);
  double most = 0;
  while (bed.net.next() < 4000 * kMillisecond) {
    const Time now = bed.net.next();
    bed.net.advance(now);
    most = std::max(most, bed.net.port(1).waiting_bytes(now));
  }
  // A quarter more for a round trip: a quarter of the 125,000 bytes on their way, and some.
  EXPECT_LT(most, 0.5 * 125'000);
}

}  // namespace
}  // namespace tw::netsim
