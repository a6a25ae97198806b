// SPDX-License-Identifier: Apache-2.0
// Whole jobs over loopback, a thread for each rank.
#include "trainwire/trainer/loop.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/strategies.h"
#include "trainwire/trainer/side_talk.h"
#include "trainwire/workload/volume.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <barrier>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <memory>

namespace tw::trainer {
namespace {

class Folder {
 public:
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "tw-trainer-XXXXXX";
    path_ = ::mkdtemp(pattern.data());
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

struct RankResult {
  LoopResult loop;
  std::vector<workload::Wire> wires;
  std::size_t side = 0;  ///< connections
};

/// Runs the job with a thread for each rank.
std::vector<RankResult> run_job(const Task& job, const Folder& folder) {
  const int ranks = job.training.arrangement.layout.ranks();
  std::vector<std::unique_ptr<transport::tcp::Listener>> listeners;
  transport::tcp::Peering all{.token = transport::tcp::make_token()};
  for (int rank = 0; rank < ranks; ++rank) {
    listeners.push_back(std::make_unique<transport::tcp::Listener>("127.0.0.1"));
    all.endpoints.push_back(listeners.back()->endpoint());
  }
  std::barrier done(ranks);
  std::vector<std::future<RankResult>> futures;
  for (int rank = 0; rank < ranks; ++rank) {
    futures.push_back(std::async(std::launch::async, [&, rank] {
      Task task = job;
      task.rank = rank;
      task.log = folder.file("steps-" + std::to_string(rank));
      task.sockets = folder.file("sockets-" + std::to_string(rank));
      transport::tcp::Peering peering = all;
      peering.rank = rank;
      peering.peers = peers_of(task.training, rank);
      peering.lanes = lanes_of(task);
      peering.more = side_connections(task.training, rank);
      const RankConnections connections =
          sorted_out(connect_all(*listeners[static_cast<std::size_t>(rank)], peering));
      RankResult result;
      Memory memory;
      result.loop = run_loop(task, connections, {.leave = [&] { done.arrive_and_wait(); }}, memory);
      for (const auto& c : connections.gradient) {
        result.wires.push_back({.peer = c.peer, .lane = c.lane});
      }
      result.side = connections.side.size();
      return result;
    }));
  }
  std::vector<RankResult> results;
  for (auto& future : futures) results.push_back(future.get());
  return results;
}

Task job_of(const std::string& strategy, collective::Layout layout) {
  Task job;
  job.training.strategy = strategy;
  job.training.arrangement.layout = std::move(layout);
  job.training.buckets = {
      {.elements = 1001}, {.elements = 20'000}, {.elements = 1}, {.elements = 0}};
  job.training.steps = 3;
  job.training.warmup = 1;
  job.verify = true;
  return job;
}

/// Bytes from rank to rank that the schedule moves in all steps.
std::map<std::pair<int, int>, std::int64_t> expected_bytes(const Task& job) {
  std::map<std::pair<int, int>, std::int64_t> bytes;
  const auto all = workload::bytes_by_rank(job.training);
  for (std::size_t from = 0; from < all.size(); ++from) {
    for (std::size_t to = 0; to < all.size(); ++to) {
      if (all[from][to] > 0) bytes[{static_cast<int>(from), static_cast<int>(to)}] = all[from][to];
    }
  }
  return bytes;
}

std::map<std::pair<int, int>, std::int64_t> sent_bytes(const std::vector<RankResult>& results) {
  std::map<std::pair<int, int>, std::int64_t> bytes;
  for (std::size_t rank = 0; rank < results.size(); ++rank) {
    for (std::size_t i = 0; i < results[rank].wires.size(); ++i) {
      const std::int64_t sent = results[rank].loop.counts[i].sent;
      if (sent > 0) bytes[{static_cast<int>(rank), results[rank].wires[i].peer}] += sent;
    }
  }
  return bytes;
}

void expect_right(const Task& job) {
  const Folder folder;
  const std::vector<RankResult> results = run_job(job, folder);
  std::int64_t checked = 0;
  for (const RankResult& result : results) {
    EXPECT_EQ(result.loop.wrong, 0);
    checked += result.loop.checked;
  }
  EXPECT_GT(checked, 0);
  EXPECT_EQ(sent_bytes(results), expected_bytes(job));
}

struct Case {
  std::string strategy;
  int ranks;
  int hosts;
};

class EveryStrategy : public testing::TestWithParam<Case> {};

TEST_P(EveryStrategy, SumsRightAndMovesWhatItsScheduleSays) {
  expect_right(job_of(GetParam().strategy, collective::evenly(GetParam().ranks, GetParam().hosts)));
}

TEST_P(EveryStrategy, DoesSoWhileComputingAndOverSeveralConnections) {
  Task job = job_of(GetParam().strategy, collective::evenly(GetParam().ranks, GetParam().hosts));
  job.training.overlap = true;
  job.training.connections = 3;
  job.training.arrangement.pieces = 4;
  job.training.compute = {.forward = std::chrono::microseconds(300),
                          .backward = std::chrono::microseconds(800),
                          .jitter = 0.3};
  for (std::size_t i = 0; i < job.training.buckets.size(); ++i) {
    job.training.buckets[i].ready = std::chrono::microseconds(200 * (i + 1));
  }
  expect_right(job);
}

std::vector<Case> cases() {
  std::vector<Case> result;
  for (const collective::Strategy& strategy : collective::catalogue()) {
    for (const int ranks : {2, 4, 7}) result.push_back({std::string(strategy.name), ranks, ranks});
    result.push_back({std::string(strategy.name), 7, 3});
  }
  return result;
}

INSTANTIATE_TEST_SUITE_P(Of, EveryStrategy, testing::ValuesIn(cases()), [](const auto& tested) {
  return tested.param.strategy + "_" + std::to_string(tested.param.ranks) + "_on_" +
         std::to_string(tested.param.hosts);
});

TEST(Loop, SendsWhatItHadWhereRanksExchangeMoreThanSocketsHold) {
  for (const char* strategy : {"recursive_doubling", "all_to_all"}) {
    Task job = job_of(strategy, collective::evenly(2, 2));
    job.training.buckets = {{.elements = 4'000'000}};
    job.training.steps = 1;
    job.training.warmup = 0;
    expect_right(job);
  }
}

TEST(Loop, OfOneRankComputesAlone) {
  const Folder folder;
  const auto results = run_job(job_of("ring", collective::evenly(1, 1)), folder);
  EXPECT_EQ(results[0].loop.wrong, 0);
  EXPECT_TRUE(results[0].wires.empty());
}

TEST(Loop, OfAParameterServerMayBeAsynchronousWithSeveralServers) {
  for (const int servers : {1, 3}) {
    Task job = job_of("ps", collective::evenly(4 + servers, 4 + servers));
    job.training.arrangement.servers = servers;
    job.training.arrangement.asynchronous = true;
    expect_right(job);
    job.training.arrangement.asynchronous = false;
    expect_right(job);
  }
}

TEST(Loop, KeepsSideConnectionsAsFrameworksDo) {
  const Folder folder;
  Task job = job_of("ring", collective::evenly(4, 4));
  job.training.side_connections = 2;
  const auto results = run_job(job, folder);
  // Two of each rank's own: ranks 1..3 with rank 0, rank 0 with rank 1.
  EXPECT_EQ(results[0].side, 8u);
  EXPECT_EQ(results[1].side, 4u);
  EXPECT_EQ(results[3].side, 2u);
  // 4 steps, warm-up included, 64 bytes each.
  EXPECT_EQ(results[3].loop.counts.back().framing, 4 * 64);
}

TEST(Loop, LogsItsPhases) {
  const Folder folder;
  Task job = job_of("ps", collective::evenly(3, 3));
  job.training.compute = {.forward = std::chrono::microseconds(300),
                          .backward = std::chrono::microseconds(800)};
  run_job(job, folder);
  std::map<std::string, int> lines;
  std::ifstream worker(folder.file("steps-0"));
  for (std::string line; std::getline(worker, line);) {
    const auto begin = line.find(',') + 1;
    ++lines[line.substr(begin, line.find(',', begin) - begin)];
  }
  // 1 of warm-up and 3 steps, 4 buckets each.
  const std::map<std::string, int> expected{
      {"broadcast", 1},     {"forward", 4},      {"backward", 4},
      {"exchange", 16},     {"aggregation", 16}, {"wait", 4},
      {"distribution", 16}, {"optimiser", 4},    {"step", 4}};
  EXPECT_EQ(lines, expected);
}

TEST(Loop, TimesExchangesOfGivenSizes) {
  const Folder folder;
  Task job = job_of("ring", collective::evenly(3, 3));
  job.training.buckets = {};
  job.bench = {{.elements = 100, .repeats = 3}, {.elements = 50'000, .repeats = 2}};
  for (const RankResult& result : run_job(job, folder)) {
    ASSERT_EQ(result.loop.bench.size(), 2u);
    for (const BenchResult& row : result.loop.bench) {
      EXPECT_EQ(row.wrong, 0);
      EXPECT_GT(row.time_ns, 0);
    }
  }
}

TEST(Loop, MeasuresEveryPairAlone) {
  const Folder folder;
  for (const int ranks : {2, 5}) {
    Task job = job_of("clique", collective::evenly(ranks, ranks));
    job.pairs = PairBench{.time_ns = 5'000'000, .pings = 3, .repeats = 2};
    const std::vector<RankResult> results = run_job(job, folder);
    for (std::size_t rank = 0; rank < results.size(); ++rank) {
      std::map<int, int> met;
      for (const PairResult& pair : results[rank].loop.pairs) {
        ++met[pair.peer];
        EXPECT_GT(pair.received_bytes, 0);
        EXPECT_GT(pair.time_ns, 0);
        EXPECT_EQ(pair.round_trip_ns > 0, static_cast<int>(rank) < pair.peer);
      }
      EXPECT_EQ(met.size(), results.size() - 1) << "rank " << rank;
      for (const auto& [peer, times] : met) EXPECT_EQ(times, 2) << rank << " with " << peer;
    }
  }
}

}  // namespace
}  // namespace tw::trainer
