// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sweep/sweep.h"

#include "trainwire/base/error.h"
#include "trainwire/record/run_file.h"
#include "trainwire/result/test_folder.h"
#include "trainwire/spec/parse.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>

namespace tw::sweep {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A sweep over job.steps = 1..n whose "steps" take as many seconds, or what a test says.
class Sweeps : public testing::Test {
 protected:
  void plan(int points, const std::string& more = "") {
    experiment_ = spec::parse(
        fmt::format("[network]\nhosts = 2\n[[job]]\nparameters = \"1KB\"\n[sweep]\n\"job.steps\" = "
                    "\"1..{}\"\n{}",
                    points, more),
        "test", {.models = {}, .strategies = {"ring"}, .devices = {"a100"}});
    points_ = points_of(experiment_);
    experiments_.assign(points_.size(), experiment_);
  }

  static Attempt taking(double step_s) {
    Attempt made;
    made.run.jobs = {{.name = "a", .step = record::Times{.median_s = step_s, .count = 1}}};
    made.run.checks = {{.name = "links", .ok = true}};
    return made;
  }

  Engine engine(std::function<Attempt(std::size_t)> attempt) {
    return {.command = "sim",
            .attempt =
                [this, attempt](std::size_t i, const std::string&) {
                  ++attempts_;
                  return attempt(i);
                },
            .keeps_folders = false,
            .on_all_processors = true};
  }

  Swept swept(const Engine& engine, bool again = false) {
    record::RunFolder folder(folder_ / "s.run", maker_, result::IfThere::Replace);
    return conduct({.experiment = experiment_,
                    .points = points_,
                    .experiments = experiments_,
                    .again = again,
                    .provenance = maker_},
                   engine, folder, {.failed = [this](std::size_t, const std::string& why) {
                     told_.push_back(why);
                   }});
  }

  result::TestFolder folder_;
  record::Maker maker_{.command = "sim",
                       .command_line = {"trainwire", "sim", "x.toml"},
                       .version = "1",
                       .commit = "c",
                       .inputs = {{.path = "x.toml", .bytes = 1, .hash = "00"}}};
  spec::Experiment experiment_;
  std::vector<Planned> points_;
  std::vector<spec::Experiment> experiments_;
  std::atomic<int> attempts_ = 0;
  std::vector<std::string> told_;
};

TEST_F(Sweeps, AreTheSameOnAllProcessorsAndInTurn) {
  plan(200);
  Engine all = engine([](std::size_t i) { return taking(static_cast<double>(i)); });
  const Swept parallel = swept(all, true);
  all.on_all_processors = false;
  const Swept in_turn = swept(all, true);
  EXPECT_EQ(parallel.run, in_turn.run);
  ASSERT_EQ(parallel.run.points->size(), 200u);
  EXPECT_EQ(parallel.run.points->at(150).folder, "point-150");
  EXPECT_EQ(parallel.run.points->at(150).jobs[0].step->median_s, 150);
  EXPECT_TRUE(parallel.is_whole());
}

TEST_F(Sweeps, SpreadWhatIsMissingAtOnceAndThenAskForEach) {
  plan(3);
  std::vector<std::vector<std::size_t>> spread;
  Engine elsewhere = engine(
      [](std::size_t i) { return i == 1 ? Attempt{.failure = "its node died"} : taking(1); });
  elsewhere.on_all_processors = false;
  elsewhere.spread = [&](const std::vector<std::size_t>& points) { spread.push_back(points); };
  const Swept found = swept(elsewhere);
  EXPECT_EQ(found.run.points->at(1).problem, "its node died");
  EXPECT_TRUE(found.run.points->at(2).complete);
  swept(elsewhere);
  EXPECT_THAT(spread, ElementsAre(ElementsAre(0u, 1u, 2u), ElementsAre(1u)));
}

TEST_F(Sweeps, GoOnAfterAFailureWhichIsTold) {
  plan(3);
  const Swept found = swept(engine([](std::size_t i) -> Attempt {
    if (i == 1) throw Error("too hot");
    return taking(1);
  }));
  EXPECT_FALSE(found.is_whole());
  EXPECT_EQ(found.run.points->at(1).problem, "too hot");
  EXPECT_TRUE(found.run.points->at(2).complete);
  EXPECT_THAT(told_, ElementsAre("too hot"));
}

TEST_F(Sweeps, EndWithWhatIsWrongForAllPoints) {
  plan(1000);
  EXPECT_THROW(swept(engine([](std::size_t i) -> Attempt {
                 if (i == 5) throw SystemError("disk full");
                 return taking(1);
               })),
               SystemError);
  EXPECT_LT(attempts_, 1000);
}

TEST_F(Sweeps, KeepWhatIsFinishedWhenInterruptedAndGoOn) {
  plan(100);
  const Swept cut = swept(engine([](std::size_t i) {
    return i < 50 ? taking(static_cast<double>(i)) : Attempt{.interrupted = true};
  }));
  EXPECT_TRUE(cut.interrupted);
  EXPECT_EQ(cut.run.sweep->points, 100u);
  EXPECT_TRUE(told_.empty()) << "being interrupted is no failure";
  EXPECT_EQ(record::read_run(folder_ / "s.run").partial, "interrupted");
  attempts_ = 0;
  const Swept whole = swept(engine([](std::size_t i) { return taking(static_cast<double>(i)); }));
  EXPECT_EQ(attempts_, 50);
  ASSERT_EQ(whole.run.points->size(), 100u);
  EXPECT_EQ(whole.run.points->at(49).jobs[0].step->median_s, 49);
  EXPECT_TRUE(whole.is_whole());
}

TEST_F(Sweeps, TakeNothingThatAnotherCommandLineOrProgramMade) {
  plan(4);
  const Engine all = engine([](std::size_t) { return taking(1); });
  swept(all);
  swept(all);
  EXPECT_EQ(attempts_, 4) << "the same again";
  maker_.command_line.push_back("--json");
  swept(all);
  EXPECT_EQ(attempts_, 4) << "told otherwise";
  maker_.command_line.push_back("--steps=3");
  swept(all);
  EXPECT_EQ(attempts_, 8);
  maker_.commit = "d";
  swept(all);
  EXPECT_EQ(attempts_, 12);
  maker_.inputs[0].hash = "01";
  swept(all);
  EXPECT_EQ(attempts_, 16);
  swept(all, true);
  EXPECT_EQ(attempts_, 20) << "asked for";
}

// Three equal steps are narrow: the fourth repetition is not needed. Of the point whose steps differ
// all ten are.
TEST_F(Sweeps, RepeatUntilAStepIsKnownWell) {
  plan(2, "[run]\nrepeats = 10\nrepeat_until = \"5%\"\n");
  const Swept found = swept(engine([this](std::size_t i) {
    return taking(points_[i].combination == 0 ? 1 : 1 + static_cast<double>(i));
  }));
  EXPECT_EQ(attempts_, 3 + 10);
  EXPECT_EQ(found.run.points->size(), 13u);
}

TEST_F(Sweeps, NameTheChecksThatFailed) {
  plan(2);
  const Swept found = swept(engine([](std::size_t) {
    Attempt made = taking(1);
    made.run.checks = {{.name = "links", .ok = false, .text = "too much"}};
    return made;
  }));
  EXPECT_FALSE(found.run.points->at(0).checks_ok);
  EXPECT_THAT(*found.run.points->at(0).problem, HasSubstr("check links: too much"));
  EXPECT_TRUE(found.run.points->at(0).complete) << "it was conducted";
}

}  // namespace
}  // namespace tw::sweep
