// SPDX-License-Identifier: Apache-2.0
#include "trainwire/transport/tcp/patience.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdint>

namespace tw::transport::tcp {
namespace {

using namespace std::chrono_literals;

/// A pipe, whose reading end is waited for.
class PatienceTest : public testing::Test {
 protected:
  PatienceTest() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~PatienceTest() override {
    for (const int end : ends_) ::close(end);
  }

  void write() const { EXPECT_EQ(::write(ends_[1], "x", 1), 1); }
  pollfd reading() const { return {.fd = ends_[0], .events = POLLIN, .revents = 0}; }

 private:
  std::array<int, 2> ends_ = {};
};

TEST_F(PatienceTest, EndsWhenNothingHasBeenReadyForLonger) {
  Patience patience(0s);
  pollfd silent = reading();
  // More than once only where this process was kept from running.
  while (patience.wait(std::span(&silent, 1))) EXPECT_EQ(silent.revents, 0);
}

TEST_F(PatienceTest, LastsAsLongAsSomethingIsReady) {
  Patience patience(0s);
  write();
  pollfd ready = reading();
  EXPECT_TRUE(patience.wait(std::span(&ready, 1)));
  EXPECT_NE(ready.revents, 0);
}

TEST_F(PatienceTest, ReturnsBeforeItEndsSoThatOtherThingsAreLookedAfter) {
  Patience patience(1h);
  pollfd silent = reading();
  EXPECT_TRUE(patience.wait(std::span(&silent, 1)));
  EXPECT_EQ(silent.revents, 0);
}

}  // namespace
}  // namespace tw::transport::tcp
