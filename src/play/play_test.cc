// SPDX-License-Identifier: Apache-2.0
// Every strategy, played: the transfers that its schedules list, their bytes, in their order.
#include "trainwire/play/play.h"

#include "trainwire/collective/cursor.h"
#include "trainwire/workload/volume.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace tw::play {
namespace {

using workload::Training;
using namespace std::chrono_literals;

/// 1 ns a byte, and 1 us to get there.
Journey journey_of(const Message& message) {
  return {.leaving = Duration(message.bytes()), .travelling = 1us};
}

/// Ranks of uneven speed, so that they come to each other early and late.
Journey uneven(const Message& message) {
  const int odd = (message.transfer.from * 7 + message.transfer.to * 3) % 5;
  return {.leaving = Duration(message.bytes() * (1 + odd)), .travelling = Duration(100 * odd)};
}

Training training(std::string_view strategy, collective::Layout layout) {
  Training training;
  training.strategy = strategy;
  training.arrangement = {.layout = std::move(layout), .pieces = 3, .seed = 5};
  training.buckets = {{.elements = 37, .ready = 300us}};
  training.compute = {.forward = 200us, .backward = 300us, .jitter = 0.2};
  training.steps = 2;
  training.warmup = 1;
  return training;
}

struct Case {
  Training training;
  std::string text;
};

/// Every strategy with 1 to 17 ranks, 1 to 3 on a host, one bucket or three, overlapping or not,
/// servers that wait for all workers or for none.
std::vector<Case> cases(const collective::Strategy& strategy) {
  std::vector<Case> all;
  for (int ranks = 1; ranks <= 17; ++ranks) {
    // With many ranks every third, in turn.
    for (int variant = 0; variant < 12; ++variant) {
      if (ranks > 6 && (variant + ranks) % 3 != 0) continue;
      const int per_host = 1 + variant % 3;
      Training job =
          training(strategy.name, collective::evenly(ranks, (ranks + per_host - 1) / per_host));
      if (variant % 2 == 1) {
        job.buckets = {{.elements = 20, .ready = 100us},
                       {.elements = 1, .ready = 150us},
                       {.elements = 1000, .ready = 300us}};
      }
      job.overlap = variant % 4 >= 2;
      job.arrangement.asynchronous = strategy.has_servers && variant >= 6;
      job.arrangement.servers = strategy.has_servers && ranks > 3 ? 1 + variant % 3 : 1;
      job.connections = variant == 5 ? 2 : 1;
      job.side_connections = variant == 7 ? 1 : 0;
      if (!problem(strategy.name, job.arrangement).empty()) continue;
      all.push_back(
          {std::move(job), fmt::format("{}, {} ranks, variant {}", strategy.name, ranks, variant)});
    }
  }
  return all;
}

using Row = std::tuple<std::int64_t, int, collective::Transfer, int, std::int64_t, std::int64_t>;

Row row_of(const Message& m) {
  return {m.step, m.bucket, m.transfer, m.lane, m.range.first, m.range.elements};
}

/// By rank, peer, lane and direction: what moved, in order.
using ByLine = std::map<std::tuple<int, int, int, bool>, std::vector<Row>>;

ByLine by_line(const Played& played) {
  ByLine lines;
  for (const Moved& moved : played.moved) {
    const collective::Transfer& t = moved.message.transfer;
    const bool sends = t.from == moved.rank;
    lines[{moved.rank, sends ? t.to : t.from, moved.message.lane, sends}].push_back(
        row_of(moved.message));
  }
  return lines;
}

/// One exchange of a rank, straight from the schedule.
void list(const Training& job, const collective::Schedule& schedule, int rank, std::int64_t step,
          int bucket, ByLine& lines) {
  const workload::Range all = job.range(bucket);
  for (collective::Cursor cursor(schedule, rank); !cursor.done(); cursor.advance()) {
    const workload::Range range = range_of(schedule, cursor.transfer(), all.elements);
    for (int lane = 0; lane < job.connections; ++lane) {
      const std::int64_t first = collective::chunk_begin(range.elements, job.connections, lane);
      const std::int64_t end = collective::chunk_begin(range.elements, job.connections, lane + 1);
      if (first == end) continue;
      lines[{rank, cursor.peer(), lane, cursor.sends()}].push_back(
          {step, bucket, cursor.transfer(), lane, all.first + range.first + first, end - first});
    }
  }
}

/// What the schedules of all steps say, for ranks that exchange bucket by bucket.
ByLine listed(const Training& job) {
  ByLine lines;
  for (int rank = 0; rank < job.ranks(); ++rank) {
    for (const int bucket : start_buckets(job)) {
      list(job, start_schedule(job), rank, -job.warmup - 1, bucket, lines);
    }
    for (std::int64_t step = -job.warmup; step < job.steps; ++step) {
      for (int bucket = 0; bucket < static_cast<int>(job.buckets.size()); ++bucket) {
        list(job, step_schedule(job, step), rank, step, bucket, lines);
      }
    }
  }
  return lines;
}

/// The same where every rank pulls from whom it draws.
ByLine drawn(const Training& job) {
  ByLine lines;
  for (std::int64_t step = -job.warmup; job.ranks() > 1 && step < job.steps; ++step) {
    const collective::Schedule schedule = step_schedule(job, step);
    for (int rank = 0; rank < job.ranks(); ++rank) {
      for (const collective::Transfer& t : transfers_of(schedule, rank)) {
        const int lane = t.to < t.from ? 0 : 1;
        const int peer = t.from == rank ? t.to : t.from;
        lines[{rank, peer, lane, t.from == rank}].push_back(
            {step, workload::kWholePayload, t, lane, 0, job.elements()});
      }
    }
  }
  return lines;
}

std::vector<std::vector<std::int64_t>> bytes_of(const Played& played, int ranks) {
  std::vector<std::vector<std::int64_t>> bytes(
      static_cast<std::size_t>(ranks), std::vector<std::int64_t>(static_cast<std::size_t>(ranks)));
  for (const Moved& moved : played.moved) {
    const collective::Transfer& t = moved.message.transfer;
    if (t.from != moved.rank) continue;
    bytes[static_cast<std::size_t>(t.from)][static_cast<std::size_t>(t.to)] +=
        moved.message.bytes();
  }
  return bytes;
}

class EveryStrategy : public testing::TestWithParam<collective::Strategy> {};

TEST_P(EveryStrategy, MovesWhatItsSchedulesListInTheirOrder) {
  for (const Case& one : cases(GetParam())) {
    const ByLine expected = GetParam().draws_peers ? drawn(one.training) : listed(one.training);
    const Played played = play(one.training, one.training.overlap ? uneven : journey_of);
    ASSERT_EQ(by_line(played), expected) << one.text;
    ASSERT_EQ(bytes_of(played, one.training.ranks()), bytes_by_rank(one.training)) << one.text;
  }
}

/// No rank passes on what it does not have: everything that a transfer waits for has ended before
/// it ends.
TEST_P(EveryStrategy, EndsNoTransferBeforeThoseThatItWaitsFor) {
  if (GetParam().draws_peers) return;
  for (const Case& one : cases(GetParam())) {
    const Training& job = one.training;
    if (job.ranks() > 7 || job.asynchronous()) continue;
    std::map<std::tuple<int, std::int64_t, int>, std::vector<Message>> ended;
    for (const Moved& moved : play(job, uneven).moved) {
      const Message& m = moved.message;
      if (m.step < -job.warmup) continue;
      auto& before = ended[{moved.rank, m.step, m.bucket}];
      for (const Message& earlier : before) {
        const bool share = earlier.range.first < m.range.first + m.range.elements &&
                           m.range.first < earlier.range.first + earlier.range.elements;
        const bool both_read = earlier.transfer.from == moved.rank && m.transfer.from == moved.rank;
        ASSERT_FALSE(share && !both_read && earlier.transfer.round > m.transfer.round) << one.text;
      }
      before.push_back(m);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Of, EveryStrategy,
                         testing::ValuesIn(collective::catalogue().begin(),
                                           collective::catalogue().end()),
                         [](const auto& tested) { return std::string(tested.param.name); });

TEST(Play, OfARingTakesItsRoundsOneAfterAnother) {
  // 4 ranks, chunks of 1000 bytes: 6 rounds of 1000 ns and 1 us; nothing is computed.
  Training job = training("ring", collective::evenly(4, 4));
  job.buckets = {{.elements = 1000}};
  job.compute = {};
  job.broadcast = false;
  job.steps = 1;
  job.warmup = 0;
  EXPECT_EQ(play(job, journey_of).end, 12us);
}

TEST(Play, HidesTheExchangeBehindBackwardWhenItOverlaps) {
  // Two ranks, buckets of 1000 bytes ready at 100 and 200 us: an exchange is two rounds of 500 ns
  // and 1 us, 3 us in all. The first hides behind backward, the second does not.
  Training job = training("ring", collective::evenly(2, 2));
  job.buckets = {{.elements = 250, .ready = 100us}, {.elements = 250, .ready = 200us}};
  job.compute = {.forward = 50us, .backward = 200us};
  job.broadcast = false;
  job.steps = 1;
  job.warmup = 0;
  EXPECT_EQ(play(job, journey_of).end, 256us);
  job.overlap = true;
  EXPECT_EQ(play(job, journey_of).end, 253us);
}

TEST(Play, LetsAsynchronousWorkersPassAStraggler) {
  Training job = training("ps", collective::evenly(3, 3));
  job.arrangement.asynchronous = true;
  job.compute = {.forward = 100us, .backward = 200us};
  job.straggler = 1;
  job.straggler_factor = 10;
  std::map<int, Duration> ends;
  for (const Step& step : play(job, journey_of).steps) ends[step.rank] = step.end;
  EXPECT_EQ(ends.size(), 2u);  // of the workers
  EXPECT_LT(5 * ends[0], ends[1]);
}

TEST(Play, IsTheSameEveryTime) {
  const Training job = training("double_tree", collective::evenly(9, 3));
  const Played one = play(job, uneven);
  const Played other = play(job, uneven);
  ASSERT_EQ(one.moved.size(), other.moved.size());
  for (std::size_t i = 0; i < one.moved.size(); ++i) {
    EXPECT_EQ(one.moved[i].message, other.moved[i].message);
    EXPECT_EQ(one.moved[i].at, other.moved[i].at);
  }
}

}  // namespace
}  // namespace tw::play
