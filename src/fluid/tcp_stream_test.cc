// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fluid/tcp_stream.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tw::fluid {
namespace {

constexpr double kSegment = 1448;

/// A stream alone on its path.
struct Alone {
  explicit Alone(const TcpPath& path, std::uint64_t seed = 1)
      : stream(path, {.seed = seed, .number = 0}) {}

  /// How long a message takes to leave and for all that was lost of it to leave again.
  double send(double bytes) {
    const double begin = now_s;
    double again_s = now_s;
    stream.begin(now_s);
    for (double left = bytes; left > 1e-6;) {
      const double rate = std::min(stream.cap(now_s, left), stream.path().line);
      const double end = rate > 0 ? now_s + left / rate : 1e300;
      const double next = std::min(end, stream.next(now_s, rate, left));
      stream.sent({.bytes = rate * (next - now_s),
                   .seconds = next - now_s,
                   .was_held = rate < stream.path().line},
                  next);
      left = next == end ? 0 : left - rate * (next - now_s);
      now_s = next;
      if (left <= 1e-6) break;
      if (const auto lost = stream.change(now_s, left)) {
        again_s = std::max(again_s, now_s + lost->again_after_s);
      }
    }
    return std::max(now_s, again_s) - begin;
  }

  TcpStream stream;
  double now_s = 0;
};

// Windows of 10, 20, ... 320 segments are 912,240 bytes in six round trips; the rest leaves at once.
TEST(TcpStream, TheWindowDoublesEveryRoundTrip) {
  Alone alone({.rtt_s = 0.1, .line = 125e6});
  EXPECT_NEAR(alone.send(1e6), 0.6 + (1e6 - 63 * 10 * kSegment) / 125e6, 1e-6);
}

// The window is no limit any more: the line is.
TEST(TcpStream, AWarmStreamHasTheLine) {
  Alone alone({.rtt_s = 0.01, .line = 25e6});
  alone.send(25e6);
  EXPECT_NEAR(alone.send(2.5e6), 0.1, 1e-9);
  EXPECT_TRUE(std::isinf(alone.stream.cap(alone.now_s, 1e9)));
}

TEST(TcpStream, WhatFitsTheFirstWindowLeavesAtOnce) {
  Alone alone({.rtt_s = 0.1, .line = 125e6});
  EXPECT_NEAR(alone.send(10 * kSegment), 10 * kSegment / 125e6, 1e-9);
}

// Ten windows: nine round trips, and the last leaves at the line's rate.
TEST(TcpStream, SocketsLimitTheWindow) {
  Alone alone({.rtt_s = 0.02, .line = 125e6, .largest_window = 1e5});
  for (int i = 0; i < 20; ++i) alone.send(1e6);
  alone.now_s += 0.1;  // another round
  EXPECT_NEAR(alone.send(1e6), 9 * 0.02 + 1e5 / 125e6, 1e-6);
}

// A timeout is 200 ms and a round trip. The window of twice the path is halved once: no matter;
// after ten timeouts it is 10 segments again, and a megabyte takes round trips.
TEST(TcpStream, AnIdleStreamStartsSlowlyAgain) {
  Alone alone({.rtt_s = 0.04, .line = 25e6});
  alone.send(25e6);
  const double warm = alone.send(1e6);
  alone.now_s += 0.4;  // half of the window is left
  const double halved = alone.send(1e6);
  EXPECT_GT(halved, 1.1 * warm);
  EXPECT_LT(halved, 2.1 * warm);
  alone.now_s += 3;
  EXPECT_NEAR(alone.send(1e6), 6 * 0.04 + (1e6 - 63 * 10 * kSegment) / 25e6, 1e-6);
}

// A stream that has not yet found its rate goes on looking.
// 100 kB are 10, 20 and 39.06 segments: the window is 40 and as many more, half of which is no whole number.
TEST(TcpStream, AnIdleWindowIsOfWholeSegments) {
  Alone alone({.rtt_s = 0.1, .line = 125e6});
  alone.send(100e3);
  alone.stream.begin(alone.now_s + 0.5);
  EXPECT_DOUBLE_EQ(alone.stream.window_bytes(), 39 * kSegment);
}

TEST(TcpStream, AnIdleStreamThatHasSentLittleStartsAsAtFirst) {
  Alone alone({.rtt_s = 0.1, .line = 125e6});
  alone.now_s = 5;
  alone.send(100);
  alone.now_s += 5;
  EXPECT_NEAR(alone.send(1e6), 0.6 + (1e6 - 63 * 10 * kSegment) / 125e6, 1e-6);
}

// 120 segments leave in windows of 10, 20 and 40 and 50 of 80: what those bring back counts as well. At
// its end 40 + 50 / 2 were on their way at once, so the window comes to 130, and a long pause leaves 10.
TEST(TcpStream, TheEndOfAMessageIsAcknowledgedToo) {
  Alone alone({.stack = Stack::Reno, .rtt_s = 0.1, .line = 125e6});
  alone.send(120 * kSegment);
  EXPECT_NEAR(alone.stream.window_bytes() / kSegment, 130, 0.1);
}

TEST(TcpStream, BbrDoesNotForgetWhatItFound) {
  Alone alone({.stack = Stack::Bbr, .rtt_s = 0.04, .line = 25e6});
  alone.send(25e6);
  alone.now_s += 10;
  EXPECT_NEAR(alone.send(1e6), 0.04, 1e-9);
}

// What is sent before its first answer looks like S / (t + R); at 2.885 times that t is R / 1.885.
TEST(TcpStream, BbrTakesHalfARoundTripForWhatIsShorter) {
  Alone alone({.stack = Stack::Bbr, .rtt_s = 0.1, .line = 125e6});
  for (int i = 0; i < 20; ++i) {
    alone.send(1e5);
    alone.now_s += 0.3;
  }
  EXPECT_NEAR(alone.send(1e5), 0.1 / 1.885, 0.015);
}

// What leaves until the loss is told has the window that it had; the next round has less.
TEST(TcpStream, ALossIsToldARoundTripLater) {
  Alone alone({.stack = Stack::Reno, .rtt_s = 0.1, .line = 1e9, .loss = 1e-4}, 3);
  double window = 0;
  for (double left = 1e9; left > 0;) {
    const double rate = std::min(alone.stream.cap(alone.now_s, left), 1e9);
    const double next = alone.stream.next(alone.now_s, rate, left);
    const double bytes = rate * (next - alone.now_s);
    alone.stream.sent({.bytes = bytes, .seconds = next - alone.now_s, .was_held = true}, next);
    left -= bytes;
    alone.now_s = next;
    window = alone.stream.window_bytes();
    if (alone.stream.change(alone.now_s, left)) break;
  }
  EXPECT_EQ(alone.stream.window_bytes(), window);
  alone.now_s += 0.11;
  alone.stream.begin(alone.now_s);
  EXPECT_NEAR(alone.stream.window_bytes(), window / 2, kSegment);
}

// HyStart: between once and one and a half times what the path holds.
TEST(TcpStream, CubicLeavesSlowStartWhenAnswersComeForHalfARoundTrip) {
  Alone cubic({.rtt_s = 0.04, .line = 25e6});
  cubic.send(25e6);
  EXPECT_GT(cubic.stream.window_bytes(), 1e6);
  EXPECT_LT(cubic.stream.window_bytes(), 1.6e6);
  Alone reno({.stack = Stack::Reno, .rtt_s = 0.04, .line = 25e6});
  reno.send(25e6);
  EXPECT_GT(reno.stream.window_bytes(), 1.9e6);
}

// 58 KB at twice the line's rate leave 29 KB in the queue: too many for 15 KB, not for 60.
TEST(TcpStream, WhatComesTooFastFindsTheQueueFull) {
  const auto window_after = [](double room) {
    Alone alone({.stack = Stack::Reno, .rtt_s = 0.01, .line = 6.25e6});
    alone.stream.meets(
        {.fits = 2 * room, .more = 2 * room, .part = 0.5, .room = room, .rate = 6.25e6}, 0);
    alone.send(200e3);
    return alone.stream.window_bytes();
  };
  EXPECT_LT(window_after(15e3), 60e3);
  EXPECT_GT(window_after(60e3), 100e3);
}

// Where another stream has half of the line, what is beyond path and queue waits in the host until the queue is full: 12.5 MB/s that come
// and 6.25 that go take 16 ms for 100 kB.
TEST(TcpStream, AQueueTakesTimeToFill) {
  const auto window_after = [](double bytes) {
    Alone alone({.stack = Stack::Reno, .rtt_s = 0.02, .line = 12.5e6});
    alone.send(10e6);
    const TcpStream::Queue shared{.room = 100e3, .rate = 6.25e6, .fills_s = 0.016};
    alone.stream.meets(shared, alone.now_s);
    const double before = alone.stream.window_bytes();
    EXPECT_GT(before, 0.02 * 6.25e6 + 100e3);
    alone.send(bytes);
    return alone.stream.window_bytes() / before;
  };
  EXPECT_GE(window_after(90e3), 1);  // is gone before
  EXPECT_LT(window_after(2e6), 0.7);
}

/// Bytes a second of a long transfer.
double goodput(const TcpPath& path, double bytes, std::uint64_t seed = 1) {
  Alone alone(path, seed);
  alone.send(bytes / 10);
  return bytes / alone.send(bytes);
}

// A window of sqrt(3 / 2p) segments a round trip; Reno's sawtooth makes some 10 % of difference
// with random losses (the mean of windows, not of windows at losses).
TEST(TcpStream, RenoHasMathissWindowUnderRandomLoss) {
  for (const double loss : {1e-4, 1e-3, 1e-2}) {
    const TcpPath path{.stack = Stack::Reno, .rtt_s = 0.02, .line = 1e12, .loss = loss};
    const double window = goodput(path, 3000 * kSegment / loss) * path.rtt_s / kSegment;
    EXPECT_NEAR(window / reno_window(loss), 1, 0.25) << loss;
  }
}

TEST(TcpStream, CubicHasRfc9438sWindowUnderRandomLoss) {
  for (const double loss : {1e-5, 1e-4, 1e-2}) {
    const TcpPath path{.stack = Stack::Cubic, .rtt_s = 0.1, .line = 1e12, .loss = loss};
    const double window = goodput(path, 2000 * kSegment / loss) * path.rtt_s / kSegment;
    EXPECT_NEAR(window / cubic_window(loss, path.rtt_s), 1, 0.3) << loss;
  }
}

TEST(TcpStream, BbrLosesNothingButTime) {
  const TcpPath path{.stack = Stack::Bbr, .rtt_s = 0.02, .line = 25e6, .loss = 0.01};
  EXPECT_GT(goodput(path, 250e6), 0.98 * path.line);
}

// Bursts of four count once.
TEST(TcpStream, LossInBurstsCostsLess) {
  TcpPath path{.stack = Stack::Reno, .rtt_s = 0.02, .line = 1e12, .loss = 0.01};
  const double single = goodput(path, 3e8);
  path.loss_burst = 4;
  EXPECT_NEAR(goodput(path, 3e8) / single, 2, 0.4);
}

TEST(TcpStream, ChanceIsTheSeeds) {
  const TcpPath path{.rtt_s = 0.02, .line = 25e6, .loss = 0.01};
  EXPECT_EQ(goodput(path, 1e7, 1), goodput(path, 1e7, 1));
  EXPECT_NE(goodput(path, 1e7, 1), goodput(path, 1e7, 2));
}

// Of single segments one in a hundred is lost, and nothing follows: the sender waits for a timeout.
TEST(TcpStream, ALoneSegmentThatIsLostCostsATimeout) {
  Alone alone({.rtt_s = 0.002, .line = 25e6, .loss = 0.01});
  int late = 0;
  for (int i = 0; i < 20000; ++i) {
    const double took = alone.send(kSegment);
    if (took > 0.1) {
      ++late;
      EXPECT_GE(took, 0.2);
    }
  }
  EXPECT_NEAR(late, 200, 45);
}

// Six of 300 segments are lost and repaired; of the repairs one in fifty is lost again, and told by a
// later one unless it was the last. Late are 2 % whose last segment is lost, and some 2 % of those;
// it would be 14 % if every second loss cost a timeout.
TEST(TcpStream, ARepairThatIsLostIsToldByALaterOne) {
  Alone alone({.stack = Stack::Bbr, .rtt_s = 0.02, .line = 25e6, .loss = 0.02});
  alone.send(25e6);
  constexpr int kMessages = 2000;
  int late = 0;
  for (int i = 0; i < kMessages; ++i) late += alone.send(300 * kSegment) > 0.2;
  EXPECT_GT(late, kMessages * 0.02);
  EXPECT_LT(late, kMessages * 0.08);
}

/// The window's growth over messages that it holds back, a second of them, 20 round trips.
double growth_in_a_second(Stack stack) {
  Alone alone({.stack = stack, .rtt_s = 0.05, .line = 125e6});
  for (int i = 0; i < 8; ++i) alone.send(4e6);
  const double before = alone.stream.window_bytes();
  const double end_s = alone.now_s + 1;
  while (alone.now_s < end_s) alone.send(before);
  return alone.stream.window_bytes() / before;
}

// As long as nothing is lost Linux has every twenty segments add one.
TEST(TcpStream, CubicGrowsByATwentiethARoundTripUntilALoss) {
  EXPECT_GT(growth_in_a_second(Stack::Cubic), 1.02);
}

// Ten segments are sent in trains of two, half a millisecond each on the line: the first is answered
// that much later than its first segment.
TEST(TcpStream, ATrainIsAnsweredAsAWhole) {
  Alone alone({.train_bytes = 4 * kSegment, .rtt_s = 0.1, .line = 2 * kSegment / 1e-3});
  EXPECT_NEAR(alone.send(11 * kSegment), 0.1 + 0.5e-3 + 0.5e-3, 1e-9);
}

TEST(TcpStream, AnswersThatWaitMakeARoundLonger) {
  Alone alone({.rtt_s = 0.1, .line = 125e6});
  alone.stream.answers_wait(0.02);
  EXPECT_NEAR(alone.send(11 * kSegment), 0.12 + kSegment / 125e6, 1e-9);
}

// BBR keeps no more on its way than twice what the path holds, so answers that wait hold it back; a
// window that grows makes up for them.
TEST(TcpStream, BbrHasNoMoreOnItsWayThanItsPathHolds) {
  const auto take_s = [](Stack stack, double wait_s) {
    Alone alone({.stack = stack, .rtt_s = 1e-3, .line = 12.5e6});
    alone.stream.answers_wait(wait_s);
    alone.send(2.5e6);
    return alone.send(2.5e6);
  };
  EXPECT_NEAR(take_s(Stack::Bbr, 0), 0.2, 0.01);
  EXPECT_GT(take_s(Stack::Bbr, 9e-3), 1.4 * take_s(Stack::Bbr, 0));
  EXPECT_NEAR(take_s(Stack::Cubic, 9e-3), 0.2, 0.02);
}

// A segment at once and one a round trip for a millisecond, then nothing until it looks again, 31 ms
// after: then what Reno would have.
TEST(TcpStream, CubicGrowsByStepsAfterALoss) {
  TcpPath path{.rtt_s = 0.4e-3, .line = 1.25e9, .loss = 0.01};
  Alone alone(path);
  const auto window = [&alone] { return alone.stream.window_bytes() / kSegment; };
  for (double before = 0; window() >= before;) {  // until it is cut
    before = window();
    alone.send(20 * kSegment);
  }
  path.loss = 0;
  alone.stream.set_path(path);
  const double cut_s = alone.now_s;
  const double base = window();
  const auto send_until = [&](double end_s) {
    while (alone.now_s < cut_s + end_s) alone.send(4 * alone.stream.window_bytes());
  };
  send_until(4e-3);
  EXPECT_NEAR(window(), base + 3, 0.5);
  send_until(25e-3);
  EXPECT_NEAR(window(), base + 3, 0.5);
  send_until(40e-3);
  EXPECT_GT(window(), base + 20);
}

// Two senders of one line each come to a window of half of it; alone, it doubles to the whole.
TEST(TcpStream, RenoStaysInSlowStartUntilALoss) {
  Alone alone({.stack = Stack::Reno, .rtt_s = 0.02, .line = 2.5e6});
  alone.send(2.5e6);
  const double shared = alone.stream.window_bytes();
  alone.stream.set_path({.stack = Stack::Reno, .rtt_s = 0.02, .line = 25e6});
  alone.send(5e6);
  EXPECT_GT(alone.stream.window_bytes(), 4 * shared);
}

}  // namespace
}  // namespace tw::fluid
