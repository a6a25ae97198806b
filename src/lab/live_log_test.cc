// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/live_log.h"

#include "trainwire/lab/unshaped.h"
#include "trainwire/os/clock.h"
#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <optional>

namespace tw::lab {
namespace {

using nlohmann::json;

const record::LiveHeader kHeader{.name = "x", .hosts = {"host0", "host1"}};

/// Two ranks on two hosts that this test plays itself.
class LiveLogTest : public testing::Test {
 protected:
  LiveLogTest() {
    const auto commands = talk_.commands({.words = {"/bin/x"}});
    for (const RankCommand& command : commands) {
      ranks_.emplace_back(os::FileDescriptor(::dup(command.input)));
    }
    for (const transport::Control& rank : ranks_)
      rank.send({{"port", 1}, {"group", 0}, {"ready", true}});
    talk_.attend();
  }
  ~LiveLogTest() override { std::filesystem::remove(path_); }

  static std::vector<TrainingJob> jobs() {
    const spec::Experiment e =
        spec::parse("[network]\nhosts = 2\n[[job]]\nparameters = \"1MB\"\nsteps = 9\nwarmup = 2\n",
                    "test", {.models = {}, .strategies = {"ring"}, .devices = {"a100"}});
    return training_jobs(e, loopback_hosts(2), "/folder");
  }

  std::vector<json> lines() const {
    std::ifstream file(path_);
    std::vector<json> result;
    for (std::string line; std::getline(file, line);) result.push_back(json::parse(line));
    return result;
  }

  const std::vector<TrainingJob> jobs_ = jobs();
  RankTalk talk_{jobs_};
  std::vector<transport::Control> ranks_;
  const std::string path_ = testing::TempDir() + "live_log_test.jsonl";
};

TEST_F(LiveLogTest, TellsStepsBytesOfPairsAndRates) {
  {
    LiveLog live(path_, kHeader, jobs_);
    ranks_[0].send({{"step", 1}, {"acknowledged", {0, 500}}});
    ranks_[1].send({{"step", 0}, {"acknowledged", {300, 0}}});
    talk_.attend();
    // Both hosts' links in both directions, then the core.
    network::NetPlan plan;
    plan.hosts.resize(2);
    for (const char* link : {"host0", "host0", "host1", "host1", "core", "core"}) {
      plan.ports.push_back({.link = link, .rate = 4_Mbit});
    }
    live.set_rates(std::vector<double>{1e6, 2e6, 2e6, 1e6, 2e6, 3e6}, plan);
    live.look(talk_);
    live.look(talk_);  // not due yet
    live.end("done");
    live.end("again");
  }
  const std::vector<json> all = lines();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].at("name"), "x");
  // The slower rank is in step 0, after two of warm-up.
  EXPECT_EQ(all[1].at("steps"), json({2}));
  EXPECT_EQ(all[1].at("pairs"), json({{0, 1, 500}, {1, 0, 300}}));
  EXPECT_EQ(all[1].at("sent_bps"), json({1e6, 2e6}));
  EXPECT_EQ(all[1].at("core_bps"), json({{"core", {2e6, 3e6}}}));
  EXPECT_EQ(all[1].at("busiest"),
            json({{"link", "core"}, {"direction", "to_host"}, {"share", 0.75}}));
  EXPECT_EQ(all[2], json({{"ended", "done"}}));
}

TEST_F(LiveLogTest, RatesComeFromBytesWhereNobodyCounts) {
  LiveLog live(path_, kHeader, jobs_);
  live.look(talk_);
  const std::int64_t begin = os::monotonic_ns();
  os::sleep_until(begin + 550'000'000);
  ranks_[0].send({{"acknowledged", {0, 1'000'000}}});
  talk_.attend();
  live.look(talk_);
  const double rate = lines().at(2).at("sent_bps").at(0).get<double>();
  // A megabyte in at least 0.55 s.
  EXPECT_GT(rate, 0);
  EXPECT_LE(rate, 8e6 / 0.55);
}

TEST_F(LiveLogTest, BeginsBeforeTheWarmUp) {
  LiveLog live(path_, kHeader, jobs_);
  live.look(talk_);
  EXPECT_EQ(lines().at(1).at("steps"), json::array({0}));
}

TEST_F(LiveLogTest, WhoHasToldItsCountsHasDoneEverything) {
  LiveLog live(path_, kHeader, jobs_);
  for (std::size_t i = 0; i < 2; ++i) {
    const json wire{{"peer", 1 - i}, {"sent", 700 + i}, {"framing", 24}};
    ranks_[i].send({{"counts", {wire}},
                    {"checked", 0},
                    {"wrong", 0},
                    {"sent_before", 0},
                    {"bench", json::array()}});
  }
  talk_.attend();
  live.sample(talk_);
  EXPECT_EQ(lines().at(1).at("steps"), json({11}));  // two of warm-up, nine measured
  EXPECT_EQ(lines().at(1).at("pairs"), json({{0, 1, 724}, {1, 0, 725}}));  // and framing
}

TEST_F(LiveLogTest, TheFileIsLockedWhileTheRunGoesOn) {
  std::optional<LiveLog> live;
  live.emplace(path_, kHeader, jobs_);
  const os::FileDescriptor other = os::open_to_read(path_);
  EXPECT_NE(::flock(other.get(), LOCK_SH | LOCK_NB), 0);
  live.reset();
  EXPECT_EQ(::flock(other.get(), LOCK_SH | LOCK_NB), 0);
}

TEST_F(LiveLogTest, IsEndedByItsOwnEnd) {
  { const LiveLog live(path_, kHeader, jobs_); }
  EXPECT_EQ(lines().back(), json({{"ended", "cut off"}}));
}

TEST_F(LiveLogTest, BytesForOtherRanksThanThereAreAreNotTaken) {
  ranks_[0].send({{"acknowledged", {1, 2, 3}}});
  talk_.attend();
  EXPECT_TRUE(talk_.ranks()[0].acknowledged.empty());
}

}  // namespace
}  // namespace tw::lab
