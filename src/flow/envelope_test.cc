// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/envelope.h"

#include <gtest/gtest.h>

namespace tw::flow {
namespace {

constexpr std::uint64_t kPacket = 1448;

/// Packets that a link of `bytes_per_us` spaces, `count` of them from `start_ns` on.
class Sender {
 public:
  void send(std::int64_t start_ns, int count, double bytes_per_us) {
    for (int i = 1; i <= count; ++i) {
      const auto at = static_cast<std::int64_t>(1000.0 * i * kPacket / bytes_per_us);
      envelope.pass(start_ns + at, bytes_, bytes_ + kPacket);
      bytes_ += kPacket;
    }
  }
  Envelope envelope = {};

 private:
  std::uint64_t bytes_ = 0;
};

TEST(Envelope, IsTheLinksRateWhateverThePauses) {
  Sender sender;
  for (int step = 0; step < 10; ++step) sender.send(step * 100'000'000LL, 700, 12.5);
  const std::vector<double> rates = sender.envelope.rates_bps();
  ASSERT_GE(rates.size(), 7u);
  for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(rates[i], 100e6, 1e6) << i;
}

TEST(Envelope, OfShortBurstsFallsWithTheAmount) {
  Sender sender;
  for (int burst = 0; burst < 200; ++burst) sender.send(burst * 10'000'000LL, 40, 125);
  const std::vector<double> rates = sender.envelope.rates_bps();
  EXPECT_NEAR(rates[0], 1e9, 1e7);                                                  // 8 of 58 kB
  EXPECT_NEAR(rates[rates.size() - 2], 8.0 * 40 * kPacket / 10e-3, 0.05 * 46.3e6);  // many bursts
}

TEST(Envelope, OfTimesThatGoBackIsFinite) {
  Envelope envelope;
  for (std::uint64_t i = 0; i < 100; ++i) {
    envelope.pass(static_cast<std::int64_t>(i % 7), 8192 * i, 8192 * (i + 1));
  }
  for (const double rate : envelope.rates_bps()) EXPECT_LT(rate, 1e15);
}

TEST(Envelope, OfLittleIsNothing) {
  Envelope envelope;
  envelope.pass(5, 0, 100);
  EXPECT_TRUE(envelope.rates_bps().empty());
}

}  // namespace
}  // namespace tw::flow
