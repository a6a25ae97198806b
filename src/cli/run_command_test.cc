// SPDX-License-Identifier: Apache-2.0
// What run and bench refuse, and what their results say; tests/run_*.py have ranks do it.
#include "trainwire/cli/run_checks.h"
#include "trainwire/cli/run_steps.h"
#include "trainwire/cli/run_sweep.h"
#include "trainwire/cli/test_program.h"
#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tw::cli {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RunCommand : public testing::Test {
 protected:
  RunCommand() {
    std::string pattern = std::filesystem::temp_directory_path() / "tw-run-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~RunCommand() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  std::filesystem::path folder_;
};

constexpr const char* kPair = "[network]\nhosts = 2\n[[job]]\nparameters = \"1KB\"\n";

TEST_F(RunCommand, RefusesWhatItCannotDoBeforeItMakesAnything) {
  const std::string out = folder_ / "x";
  const Result mpi =
      trainwire({"run", file("e.toml", std::string(kPair) + "transport = \"mpi\"\n"), "-o", out});
  EXPECT_EQ(mpi.code, 2);
  EXPECT_THAT(mpi.err, HasSubstr("trainwire exec"));
  const Result traffic = trainwire(
      {"run",
       file("t.toml", std::string(kPair) + "[[traffic]]\nkind = \"long\"\nfrom = \"host0\"\nto = "
                                           "\"host1\"\nload = \"1Tbit\"\n"),
       "-o", out});
  EXPECT_EQ(traffic.code, 2);
  EXPECT_THAT(traffic.err, HasSubstr("ask for less"));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST_F(RunCommand, BenchRefusesSizesAndJobsThatItCannotTime) {
  const std::string pair = file("e.toml", kPair);
  EXPECT_THAT(trainwire({"bench", "exchange", pair, "--sizes", "1MiB,large"}).err,
              HasSubstr("\"large\" is no size"));
  EXPECT_THAT(trainwire({"bench", "exchange", pair, "--sizes", "2"}).err, HasSubstr("no size"));
  EXPECT_EQ(trainwire({"bench", "latency", pair}).code, 2);
  const std::string averaging =
      file("p.toml", std::string(kPair) + "strategy = \"pair_averaging\"\n");
  EXPECT_THAT(trainwire({"bench", "exchange", averaging}).err, HasSubstr("take `run`"));
}

spec::Experiment experiment(const std::string& text) {
  return spec::parse(text, "test", {.models = {}, .strategies = {"ring"}, .devices = {"a100"}});
}

TEST(SweepPoints, AreAllCombinationsTheLastAxisFastest) {
  const auto points = points_of(experiment(
      std::string(kPair) + "[sweep]\n\"network.loss\" = [0, 0.1]\n\"job.steps\" = [1, 2]\n"));
  ASSERT_EQ(points.size(), 4u);
  EXPECT_THAT(points[1].settings, ElementsAre("network.loss=0", "job.steps=2"));
  EXPECT_EQ(points[3].folder, "point-003");
}

TEST(SweepPoints, OfRepeatsHaveSeedsOfTheirOwn) {
  const auto points = points_of(experiment(std::string(kPair) + "[run]\nseed = 7\nrepeats = 2\n"));
  ASSERT_EQ(points.size(), 2u);
  EXPECT_THAT(points[0].settings, ElementsAre("run.seed=7"));
  EXPECT_THAT(points[1].settings, ElementsAre("run.seed=8"));
}

lab::TrainingJob job_of_two() {
  lab::TrainingJob job;
  job.name = "job0";
  job.hosts = {0, 1};
  job.host_names = {"host0", "host1"};
  trainer::Task task;
  task.training.strategy = "ring";
  task.training.arrangement.layout = {.hosts = 2, .host_of = {0, 1}};
  task.training.buckets = {{.elements = 1000}};
  task.training.steps = 2;
  task.training.broadcast = false;
  job.tasks = {task, task};
  return job;
}

TEST(StepFigures, AreOfStepsThatAllWorkersFinished) {
  // Steps of 10 and 20 ms, of which 4 and 6 are exchange; rank 1 has not ended the second.
  const auto row = [](int rank, std::int64_t step, const char* phase, std::int64_t ms_from,
                      std::int64_t ms_to) {
    return PhaseRow{.rank = rank,
                    .step = step,
                    .phase = phase,
                    .start_ns = 1'000'000 * ms_from,
                    .end_ns = 1'000'000 * ms_to};
  };
  const std::vector<PhaseRow> rows{row(0, -1, "step", 0, 1),  row(0, 0, "exchange", 16, 20),
                                   row(0, 0, "step", 10, 20), row(0, 1, "exchange", 34, 40),
                                   row(0, 1, "step", 20, 40), row(1, 0, "exchange", 16, 20),
                                   row(1, 0, "step", 10, 20)};
  const StepFigures figures = step_figures(rows, job_of_two());
  EXPECT_EQ(figures.steps, 1u);
  EXPECT_NEAR(figures.step_s->value, 0.010, 1e-9);
  EXPECT_NEAR(figures.exchange_s->value, 0.004, 1e-9);
  // 2(2-1)/2 of 4000 bytes in 4 ms.
  EXPECT_NEAR(figures.busbw_bps, 8e6, 1);
  EXPECT_EQ(step_log(rows, job_of_two())->steps.size(), 3u);
}

std::vector<lab::RankState> counted(std::int64_t first, std::int64_t second) {
  std::vector<lab::RankState> ranks(2);
  for (std::size_t i = 0; i < 2; ++i) {
    ranks[i].rank = i;
    ranks[i].label = "rank " + std::to_string(i);
    ranks[i].told_counts = true;
    ranks[i].counts.sent = {0, 0};
    ranks[i].counts.framing = {0, 0};
    ranks[i].counts.checked = 10;
  }
  ranks[0].counts.sent[1] = first;
  ranks[1].counts.sent[0] = second;
  return ranks;
}

TEST(RunChecks, CompareSchedulesWithWhatRanksSent) {
  // A ring of two sends 2(2-1)/2 of 4000 bytes, twice.
  const std::vector<lab::TrainingJob> jobs{job_of_two()};
  EXPECT_TRUE(all_ok(run_checks(jobs, counted(8000, 8000), {})));
  const auto wrong = run_checks(jobs, counted(8000, 7996), {});
  EXPECT_FALSE(all_ok(wrong));
  EXPECT_THAT(wrong[0].text, HasSubstr("rank 1 sent 7996 bytes to rank 0, its schedule says 8000"));
}

TEST(RunChecks, TellWrongSumsAndRanksThatSaidNothing) {
  const std::vector<lab::TrainingJob> jobs{job_of_two()};
  auto ranks = counted(8000, 8000);
  ranks[0].counts.wrong = 3;
  EXPECT_THAT(run_checks(jobs, ranks, {})[1].text, HasSubstr("3 of 20 elements are wrong"));
  ranks = counted(8000, 8000);
  ranks[1].told_counts = false;
  EXPECT_FALSE(run_checks(jobs, ranks, {})[0].ok);
}

}  // namespace
}  // namespace tw::cli
