// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/test_ladders.h"

#include <cstdint>
#include <vector>

namespace tw::flow {
namespace {

TEST(TcpStream, CountsEveryByteOfAConnectionOnce) {
  // 1,000 + 500 bytes one way, 200 back; SYN and FIN take numbers and are no bytes.
  at_every_isn(R"(
      0.000  a > b  S
      0.001  b > a  S  ack 1
      0.002  a > b  .
      0.003  a > b  1:1001
      0.004  b > a  ack 1001
      0.005  a > b  1001:1501
      0.006  b > a  1:201  ack 1501
      0.007  a > b  F  ack 201
      0.008  b > a  F  ack 1502
      0.009  a > b  ack 202)",
               [](const Followed& followed) {
                 const Flow there = followed.flow('a', 'b');
                 EXPECT_EQ(there.stream_bytes(), 1500u);
                 EXPECT_EQ(there.stream.missing_bytes(), 0u);
                 EXPECT_EQ(there.retransmitted_bytes, 0u);
                 EXPECT_EQ(there.packets, 6u);
                 EXPECT_EQ(there.acknowledgement_packets, 2u);
                 EXPECT_TRUE(there.saw_syn && there.saw_fin && !there.saw_reset);
                 EXPECT_EQ(followed.flow('b', 'a').stream_bytes(), 200u);
                 EXPECT_EQ(followed.flow('b', 'a').stream.missing_bytes(), 0u);
               });
}

TEST(TcpStream, CallsARepeatedSegmentARetransmission) {
  at_every_isn(R"(
      0.000  a > b  1:1001
      0.001  a > b  1001:2001
      0.200  a > b  1:1001
      0.210  b > a  ack 2001)",
               [](const Followed& followed) {
                 const Flow flow = followed.flow('a', 'b');
                 EXPECT_EQ(flow.stream_bytes(), 2000u);
                 EXPECT_EQ(flow.retransmitted_bytes, 1000u);
                 EXPECT_EQ(flow.retransmitted_packets, 1u);
               });
}

TEST(TcpStream, SplitsASegmentThatRepeatsAndContinues) {
  // 500 known bytes and 500 new ones.
  at_every_isn("0.000 a > b 1:1001\n0.100 a > b 501:1501", [](const Followed& followed) {
    EXPECT_EQ(followed.flow('a', 'b').stream_bytes(), 1500u);
    EXPECT_EQ(followed.flow('a', 'b').retransmitted_bytes, 500u);
  });
}

TEST(TcpStream, CallsAHoleThatIsFilledSoonReordered) {
  at_every_isn(R"(
      0.0000  a > b  1:1001
      0.0001  a > b  2001:3001
      0.0002  a > b  1001:2001)",
               [](const Followed& followed) {
                 const Flow flow = followed.flow('a', 'b');
                 EXPECT_EQ(flow.reordered_bytes, 1000u);
                 EXPECT_EQ(flow.retransmitted_packets, 0u);
                 EXPECT_EQ(flow.stream_bytes(), 3000u);
                 EXPECT_EQ(flow.stream.missing_bytes(), 0u);
               });
}

TEST(TcpStream, CallsAHoleThatIsFilledLateRecovered) {
  // 50 ms is more than the 3 ms of reordering: lost before the capture, and sent again.
  at_every_isn(R"(
      0.000  a > b  1:1001
      0.001  a > b  2001:3001
      0.050  a > b  1001:2001)",
               [](const Followed& followed) {
                 const Flow flow = followed.flow('a', 'b');
                 EXPECT_EQ(flow.recovered_bytes, 1000u);
                 EXPECT_EQ(flow.retransmitted_packets, 1u);
                 EXPECT_EQ(flow.retransmitted_bytes, 0u);
                 EXPECT_EQ(flow.stream_bytes(), 3000u);
               });
}

TEST(TcpStream, CallsAHoleThatStaysOpenMissing) {
  at_every_isn("0.000 a > b 1:1001\n0.001 a > b 4001:5001", [](const Followed& followed) {
    EXPECT_EQ(followed.flow('a', 'b').stream_bytes(), 2000u);
    EXPECT_EQ(followed.flow('a', 'b').stream.missing_bytes(), 3000u);
  });
}

TEST(TcpStream, FillsAHoleInItsMiddle) {
  // The hole of 1001..4001 keeps its ends, 1,000 bytes each.
  at_every_isn("0 a > b 1:1001\n0.0001 a > b 4001:5001\n0.0002 a > b 2001:3001",
               [](const Followed& followed) {
                 EXPECT_EQ(followed.flow('a', 'b').reordered_bytes, 1000u);
                 EXPECT_EQ(followed.flow('a', 'b').stream.missing_bytes(), 2000u);
               });
}

TEST(TcpStream, KnowsWhatIsMissingBeforeTheFin) {
  at_every_isn("0 a > b S\n0.1 a > b 1:1001\n0.2 a > b 1501:1501 F", [](const Followed& followed) {
    EXPECT_EQ(followed.flow('a', 'b').stream.missing_bytes(), 500u);
  });
}

TEST(TcpStream, LetsAnAcknowledgementOvertakeData) {
  // The acknowledgement at 2001 came before 1001..2001: that is no reordering of data.
  at_every_isn("0 a > b 1:1001\n0.1 a > b 2001:2001 ack 5\n0.2 a > b 1001:2001",
               [](const Followed& followed) {
                 EXPECT_EQ(followed.flow('a', 'b').reordered_bytes, 0u);
                 EXPECT_EQ(followed.flow('a', 'b').stream.missing_bytes(), 0u);
               });
}

TEST(TcpStream, MissesDataThatOnlyAnAcknowledgementProves) {
  at_every_isn("0 a > b 1:1001\n0.1 a > b 2001:2001 ack 5", [](const Followed& followed) {
    EXPECT_EQ(followed.flow('a', 'b').stream.missing_bytes(), 1000u);
  });
}

TEST(TcpStream, BeginsInTheMiddleOfAConnection) {
  // The first packet of b is an acknowledgement: its number, 5,001, is where b's stream begins.
  at_every_isn(R"(
      0.000  a > b  70001:71001  ack 5001
      0.001  b > a  5001:5001  ack 71001
      0.002  b > a  5001:5101  ack 71001)",
               [](const Followed& followed) {
                 EXPECT_EQ(followed.flow('a', 'b').stream_bytes(), 1000u);
                 EXPECT_EQ(followed.flow('b', 'a').stream_bytes(), 100u);
                 EXPECT_EQ(followed.flow('b', 'a').stream.missing_bytes(), 0u);
               });
}

TEST(TcpStream, TakesDataFromBeforeALateBeginningForNew) {
  // Begun at 5001; 3001..4001 came late and leaves a hole of 1,000 bytes.
  at_every_isn("0 a > b 5001:6001\n0.001 a > b 3001:4001", [](const Followed& followed) {
    EXPECT_EQ(followed.flow('a', 'b').stream_bytes(), 2000u);
    EXPECT_EQ(followed.flow('a', 'b').reordered_bytes, 1000u);
    EXPECT_EQ(followed.flow('a', 'b').stream.missing_bytes(), 1000u);
  });
}

TEST(TcpStream, CountsNoByteOfAKeepAlive) {
  // Probes of one byte and of none, one below the next number.
  at_every_isn("0 a > b 1:1001\n60 a > b 1000:1001\n120 a > b 1000:1000",
               [](const Followed& followed) {
                 const Flow flow = followed.flow('a', 'b');
                 EXPECT_EQ(flow.stream_bytes(), 1000u);
                 EXPECT_EQ(flow.retransmitted_bytes, 0u);
                 EXPECT_EQ(flow.aside_bytes, 1u);
                 EXPECT_EQ(flow.acknowledgement_packets, 2u);
                 EXPECT_EQ(flow.bursts.size(), 1u);
               });
}

TEST(TcpStream, MissesNothingAfterAKeepAliveAtTheBeginning) {
  at_every_isn("0 a > b 1000:1000\n1 a > b 1001:2001", [](const Followed& followed) {
    EXPECT_EQ(followed.flow('a', 'b').stream_bytes(), 1000u);
    EXPECT_EQ(followed.flow('a', 'b').stream.missing_bytes(), 0u);
  });
}

TEST(TcpStream, TakesDataInTheSyn) {
  at_every_isn("0 a > b S 0:300\n0.1 b > a S ack 301\n0.2 a > b 301:401",
               [](const Followed& followed) {
                 // The ladder counts the SYN's range from 0: 300 bytes behind it, up to number 301.
                 EXPECT_EQ(followed.flow('a', 'b').stream_bytes(), 400u);
                 EXPECT_EQ(followed.flow('a', 'b').stream.missing_bytes(), 0u);
               });
}

TEST(TcpStream, IgnoresTheNumberOfAReset) {
  at_every_isn("0 a > b 1:1001\n0.1 a > b R 900000:900000\n0.2 a > b 1001:2001",
               [](const Followed& followed) {
                 EXPECT_TRUE(followed.flow('a', 'b').saw_reset);
                 EXPECT_EQ(followed.flow('a', 'b').stream.missing_bytes(), 0u);
                 EXPECT_EQ(followed.flow('a', 'b').stream_bytes(), 2000u);
               });
}

TEST(TcpStream, GoesOnBeyondFourGibibytes) {
  // 2^33 bytes in segments of 2^20, of which one is repeated after a wrap-around.
  for (const std::uint32_t isn : capture::kTryingIsns) {
    TcpStream stream;
    stream.take(0, isn, 0, true, false);
    std::uint64_t fresh = 0;
    std::uint32_t sequence = isn + 1;
    for (int i = 0; i < 8192; ++i, sequence += 1 << 20) {
      if (stream.take_next(sequence, 1 << 20)) fresh += 1 << 20;
    }
    EXPECT_EQ(fresh, std::uint64_t{1} << 33);
    EXPECT_EQ(stream.take(1, sequence - (1 << 20), 1 << 20, false, false).retransmitted, 1u << 20);
    EXPECT_EQ(stream.missing_bytes(), 0u);
  }
}

TEST(TcpStream, MissesAsMuchAsThreeGibibytesAtOnce) {
  TcpStream stream;
  stream.take(0, 0, 1000, false, false);
  EXPECT_EQ(stream.take(1, 1000 + (5u << 29), 1000, false, false).in_order, 1000u);
  EXPECT_EQ(stream.missing_bytes(), std::uint64_t{5} << 29);
}

TEST(TcpStream, GivesUpTheOldestOfManyHoles) {
  TcpStream stream;
  // A segment of 10 bytes every 20: 40 holes of 10.
  for (std::uint32_t i = 0; i <= 40; ++i) stream.take(i, 20 * i, 10, false, false);
  EXPECT_EQ(stream.missing_bytes(), 400u);
  // The first hole is long forgotten: what fills it looks like a repeat, and stays missing.
  EXPECT_EQ(stream.take(50, 10, 10, false, false).retransmitted, 10u);
  EXPECT_EQ(stream.take(50, 790, 10, false, false).reordered, 10u);
  EXPECT_EQ(stream.missing_bytes(), 390u);
}

}  // namespace
}  // namespace tw::flow
