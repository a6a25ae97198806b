// SPDX-License-Identifier: Apache-2.0
// The run's side of a job, with ranks that are played by the test.
#include "trainwire/recover/job_talk.h"

#include "trainwire/os/clock.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <thread>

namespace tw::recover {
namespace {

using nlohmann::json;
using spec::OnFailure;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// A job of `ranks` whose ranks say what the test has them say.
class Played : public ::testing::Test {
 protected:
  Played() {
    std::string pattern = std::filesystem::temp_directory_path() / "tw-recover-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~Played() override {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }

  void begin(int ranks, const Policy& policy, const std::string& strategy = "ring") {
    std::vector<trainer::Task> tasks;
    std::vector<std::string> labels;
    for (int rank = 0; rank < ranks; ++rank) {
      trainer::Task task;
      task.training.strategy = strategy;
      task.training.arrangement.layout = collective::evenly(ranks, ranks);
      task.training.buckets = {{.elements = 100}};
      task.training.steps = 50;
      task.rank = rank;
      task.address = "127.0.0.1";
      task.log = "log";
      task.survival.checkpoint_every = 5;
      task.survival.checkpoint_folder = folder_;
      task.survival.checkpoint_name = "job0";
      tasks.push_back(task);
      labels.push_back("rank " + std::to_string(rank));
    }
    talk_.emplace(tasks, labels, policy);
    for (int rank = 0; rank < ranks; ++rank) {
      ends_.emplace(rank, transport::Control(os::FileDescriptor(::dup(talk_->input_of(rank)))));
    }
    attend();
    for (int rank = 0; rank < ranks; ++rank) {
      EXPECT_EQ(heard(rank).at("survival").at("waits"), policy.survives());
    }
    connect();
    talk_->go();
    for (int rank = 0; rank < ranks; ++rank) EXPECT_TRUE(heard(rank).contains("go"));
  }

  void attend() {
    talk_->attend([](int, const json&) {});
  }
  /// What is done to processes: those killed, those started.
  void steer() {
    talk_->steer({.kill = [this](int rank) { killed_.push_back(rank); },
                  .start =
                      [this](int rank, const os::FileDescriptor& input) {
                        started_.push_back(rank);
                        ends_.erase(rank);
                        ends_.emplace(rank,
                                      transport::Control(os::FileDescriptor(::dup(input.get()))));
                      }});
  }
  void say(int rank, const json& message) { ends_.at(rank).send(message); }
  json heard(int rank) {
    const auto message = ends_.at(rank).poll();
    return message ? *message : json::object();
  }

  /// The present group listens, connects and is ready; what else it heard is forgotten.
  void connect() {
    const std::vector<int> members = talk_->group().members;
    for (const int rank : members) {
      say(rank, {{"port", 1000 + rank}, {"group", groups_}});
    }
    attend();
    for (const int rank : members) {
      EXPECT_EQ(heard(rank).at("endpoints").size(), members.size());
      say(rank, {{"ready", true}});
    }
    attend();
    ++groups_;
  }
  void halted(int rank, std::int64_t next, const std::vector<int>& cuts = {}) {
    EXPECT_TRUE(heard(rank).contains("halt")) << rank;
    say(rank, {{"halted", next}, {"has_model", true}, {"cuts", cuts}});
  }

  std::string folder_;
  std::optional<JobTalk> talk_;
  std::map<int, transport::Control> ends_;
  std::vector<int> killed_;
  std::vector<int> started_;
  int groups_ = 0;
};

TEST_F(Played, WithoutAPolicyALostRankEndsTheJob) {
  begin(3, {});
  EXPECT_FALSE(talk_->survives(1, "rank 1 is gone"));
}

TEST_F(Played, ShrunkItGoesOnWithTheModelThatIsFurthest) {
  begin(4, {.on_failure = OnFailure::Shrink});
  EXPECT_TRUE(talk_->survives(1, "rank 1 is gone"));
  halted(0, 7);
  halted(2, 8);
  halted(3, 7);
  attend();
  EXPECT_THAT(talk_->group().members, ElementsAre(2, 3, 0));
  for (const int rank : {0, 2, 3}) {
    const json task = heard(rank);
    EXPECT_EQ(task.at("survival").at("begin"), 8);
    EXPECT_EQ(task.at("survival").at("restore"), "");
    EXPECT_EQ(task.at("rank"), rank == 2 ? 0 : rank == 3 ? 1 : 2);
    EXPECT_EQ(task.at("survival").at("checkpoint_every"), rank == 2 ? 5 : 0);
    EXPECT_EQ(task.at("log"), "log.1");
  }
  connect();
  for (const int rank : {0, 2, 3}) EXPECT_TRUE(heard(rank).contains("go"));
  steer();
  EXPECT_THAT(started_, IsEmpty());
  ASSERT_EQ(talk_->recoveries().size(), 1U);
  const Recovery& recovery = talk_->recoveries().front();
  EXPECT_EQ(recovery.what, "rank 1 is gone");
  EXPECT_EQ(recovery.ranks, 3);
  EXPECT_EQ(recovery.lost_steps, 0);
  EXPECT_GT(recovery.again_ns, recovery.noticed_ns);
  for (const int rank : {0, 2, 3}) say(rank, {{"done", true}});
  attend();
  EXPECT_TRUE(talk_->left());
}

TEST_F(Played, RestartedAllGoBackToTheLastWholeCheckpoint) {
  checkpoint::save({.folder = folder_, .name = "job0"}, {.step = 5, .state = {1}});
  checkpoint::save({.folder = folder_, .name = "job0"}, {.step = 10, .state = {1}});
  std::filesystem::resize_file(folder_ + "/job0-10.checkpoint", 20);
  begin(3, {.on_failure = OnFailure::Restart});
  EXPECT_TRUE(talk_->survives(0, "rank 0 is gone"));
  halted(1, 12);
  halted(2, 12);
  attend();
  EXPECT_TRUE(talk_->awaits());
  steer();
  EXPECT_THAT(started_, ElementsAre(0));
  attend();
  EXPECT_THAT(talk_->group().members, ElementsAre(0, 1, 2));
  EXPECT_EQ(heard(0).at("survival").at("restore"), folder_ + "/job0-5.checkpoint");
  EXPECT_EQ(heard(1).at("survival").at("begin"), 5);
  EXPECT_EQ(talk_->recoveries().front().lost_steps, 7);
  EXPECT_TRUE(talk_->recoveries().front().from_checkpoint);
  EXPECT_THAT(talk_->kept().problem, HasSubstr("step 10 is not used"));
}

TEST_F(Played, GrownTheReturnedRankJoinsWhenItReachesTheOthers) {
  begin(3, {.on_failure = OnFailure::Grow});
  EXPECT_TRUE(talk_->survives(2, "rank 2 is gone"));
  halted(0, 3);
  halted(1, 3);
  attend();
  EXPECT_THAT(talk_->group().members, ElementsAre(0, 1));
  for (const int rank : {0, 1}) heard(rank);
  connect();
  for (const int rank : {0, 1}) EXPECT_TRUE(heard(rank).contains("go"));
  steer();
  EXPECT_THAT(started_, ElementsAre(2));
  EXPECT_EQ(heard(2).at("visit").at("port"), 1000);
  attend();
  EXPECT_THAT(talk_->group().members, ElementsAre(0, 1));
  say(2, {{"here", true}});
  attend();
  halted(0, 6);
  halted(1, 6);
  attend();
  EXPECT_THAT(talk_->group().members, ElementsAre(0, 1, 2));
  EXPECT_EQ(heard(2).at("survival").at("begin"), 6);
  EXPECT_EQ(talk_->recoveries().back().notice, "return");
}

TEST_F(Played, WhoseDataNobodyAcknowledgesIsCutOff) {
  begin(4, {.on_failure = OnFailure::Shrink});
  say(2, {{"lost", "nothing came from rank 1 for 2 s"}, {"silent", true}, {"time_ns", 5}});
  attend();
  halted(0, 3, {1});
  halted(1, 3, {2});
  halted(2, 3);
  halted(3, 3);
  attend();
  steer();
  EXPECT_THAT(killed_, ElementsAre(1));
  EXPECT_THAT(talk_->group().members, ElementsAre(0, 2, 3));
  EXPECT_EQ(talk_->recoveries().front().notice, "silence");
  EXPECT_EQ(talk_->recoveries().front().what, "rank 1 could not be reached");
  // Its end is no news.
  EXPECT_TRUE(talk_->survives(1, "rank 1 was killed"));
  EXPECT_EQ(talk_->recoveries().size(), 1U);
}

TEST_F(Played, WhoDoesNotAnswerIsKilled) {
  begin(3, {.on_failure = OnFailure::Shrink, .timeout = std::chrono::milliseconds(10)});
  say(0, {{"lost", "nothing came from rank 2"}, {"silent", true}, {"time_ns", 5}});
  attend();
  halted(0, 3);
  halted(1, 3);
  attend();
  EXPECT_THAT(talk_->group().members, ElementsAre(0, 1, 2));
  std::this_thread::sleep_for(std::chrono::milliseconds(1010));
  attend();
  steer();
  EXPECT_THAT(killed_, ElementsAre(2));
  EXPECT_THAT(talk_->group().members, ElementsAre(0, 1));
}

TEST_F(Played, WithoutAServerItCannotShrink) {
  begin(3, {.on_failure = OnFailure::Shrink}, "ps");
  EXPECT_TRUE(talk_->survives(2, "rank 2 is gone"));
  halted(0, 3);
  halted(1, 3);
  attend();
  EXPECT_EQ(talk_->failure(), "rank 2 is gone: no server is left");
}

TEST_F(Played, AJobThatNeverFinishesAStepEnds) {
  begin(2, {.on_failure = OnFailure::Restart});
  for (int attempt = 0; attempt < 10 && !talk_->failure(); ++attempt) {
    EXPECT_TRUE(talk_->survives(1, "rank 1 is gone"));
    heard(0);
    say(0, {{"halted", 0}, {"has_model", false}, {"cuts", json::array()}});
    attend();
    steer();
    attend();
    for (const int rank : {0, 1}) heard(rank);
    if (talk_->failure()) break;
    connect();
    for (const int rank : {0, 1}) heard(rank);
  }
  ASSERT_TRUE(talk_->failure());
  EXPECT_THAT(*talk_->failure(), HasSubstr("no step was finished in 5 attempts"));
}

}  // namespace
}  // namespace tw::recover
