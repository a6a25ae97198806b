// SPDX-License-Identifier: Apache-2.0
#include "trainwire/network/fault_course.h"

#include <gmock/gmock.h>

#include <map>

namespace tw::network {
namespace {

using namespace std::chrono_literals;
using spec::FaultKind;
using testing::ElementsAre;
using Turn = FaultCourse::Turn;

spec::Fault on_link(FaultKind kind, Duration at, std::optional<Duration> lasting = {}) {
  spec::Fault fault;
  fault.kind = {kind};
  fault.link = {std::string("host0")};
  fault.at = {at};
  fault.lasting = {lasting};
  return fault;
}

/// Ports 0 and 1 are those of the only link, of 1 Gbit/s.
struct Played {
  explicit Played(std::vector<spec::Fault> faults) {
    spec::Experiment experiment;
    experiment.faults = std::move(faults);
    course = FaultCourse(experiment, {.ports_of =
                                          [](const spec::Fault&) {
                                            return std::vector{0, 1};
                                          },
                                      .rate_of = [](int) { return 1_Gbit; }});
  }
  std::vector<Turn> to(Duration now) {
    return course.advance(start, now,
                          [this](int port, const PortChange& change) { ports[port] = change; });
  }
  Duration start = 100s;  ///< on the player's clock
  std::map<int, PortChange> ports;
  FaultCourse course;
};

TEST(FaultCourse, BeginsAndEndsByTheRunsClock) {
  Played played({on_link(FaultKind::LinkDown, 2s, 3s)});
  EXPECT_EQ(played.course.next(100s), 102s);
  EXPECT_TRUE(played.to(101s).empty());
  EXPECT_THAT(played.to(102s), ElementsAre(Turn{.fault = 0, .begins = true}));
  EXPECT_EQ(played.ports[0].loss, 1);
  EXPECT_TRUE(played.ports[1].is_down);
  EXPECT_EQ(played.course.next(100s), 105s);
  EXPECT_THAT(played.to(105s), ElementsAre(Turn{.fault = 0, .begins = false}));
  EXPECT_EQ(played.ports[0].loss, 0);
  EXPECT_FALSE(played.ports[0].is_down);
  EXPECT_EQ(played.course.next(100s), std::nullopt);
  EXPECT_EQ(played.course[0].end, 105s);
}

TEST(FaultCourse, FlapsUntilItEnds) {
  spec::Fault flap = on_link(FaultKind::LinkFlap, 0s, 250ms);
  flap.period = {100ms};
  flap.duty = {0.3};
  Played played({flap});
  std::vector<bool> down;
  for (Duration now = 100s; now < 100s + 300ms; now += 10ms) {
    played.to(now);
    down.push_back(played.ports[0].is_down);
  }
  // Down in [0, 30), [100, 130), [200, 230) ms; looked at every 10 ms.
  for (std::size_t i = 0; i < down.size(); ++i) {
    EXPECT_EQ(down[i], i < 25 && i % 10 < 3) << 10 * i << " ms";
  }
}

TEST(FaultCourse, TheLowestRateHoldsAndLossesAddUp) {
  spec::Fault slow = on_link(FaultKind::Slow, 0s);
  slow.factor = {0.5};
  spec::Fault slower = on_link(FaultKind::Slow, 1s, 1s);
  slower.rate = {100_Mbit};
  spec::Fault loss = on_link(FaultKind::Loss, 0s);
  loss.loss = {0.5};
  Played played({slow, slower, loss, loss});
  played.to(100s);
  EXPECT_EQ(played.ports[0].rate, 500_Mbit);
  EXPECT_NEAR(played.ports[0].loss, 0.75, 1e-12);
  played.to(101s);
  EXPECT_EQ(played.ports[0].rate, 100_Mbit);
  played.to(102s);
  EXPECT_EQ(played.ports[0].rate, 500_Mbit) << "what still goes on holds";
}

TEST(FaultCourse, WaitsForItsPlayer) {
  spec::Fault stop;
  stop.kind = {FaultKind::Stop};
  stop.rank = {1};
  stop.step = {5};
  stop.lasting = {1s};
  Played played({stop});
  EXPECT_TRUE(played.to(200s).empty()) << "a step is the player's to see";
  played.course.begin(0, 200s, {});
  EXPECT_TRUE(played.course.goes_on(0));
  EXPECT_THAT(played.to(201s), ElementsAre(Turn{.fault = 0, .begins = false}));
}

}  // namespace
}  // namespace tw::network
