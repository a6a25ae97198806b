// SPDX-License-Identifier: Apache-2.0
#include "trainwire/lab/training.h"

#include "trainwire/base/error.h"
#include "trainwire/carrier/programs.h"
#include "trainwire/lab/rank_talk.h"
#include "trainwire/lab/unshaped.h"
#include "trainwire/spec/parse.h"
#include "trainwire/spec/scale.h"
#include "trainwire/workload/vocabulary.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>

namespace tw::lab {
namespace {

using testing::HasSubstr;

spec::Experiment experiment(const std::string& text) {
  return spec::parse(text, "test", workload::vocabulary());
}

std::vector<TrainingJob> jobs_of(const std::string& text) {
  const spec::Experiment e = spec::scaled(experiment(text));
  return training_jobs(e, loopback_hosts(*e.network.hosts), "/folder");
}

std::string problem_of(const std::string& text) {
  try {
    jobs_of(text);
    return "none";
  } catch (const SpecError& error) {
    return error.what();
  }
}

TEST(TrainingJobs, DividePayloadsButNotTimesByTheScale) {
  const auto jobs = jobs_of(
      "[network]\nhosts = 2\n[[job]]\nparameters = \"1MB\"\ncompute_time = \"30ms\"\n[run]\nscale "
      "= "
      "10\n");
  const trainer::Task& task = jobs.at(0).tasks.at(1);
  EXPECT_EQ(task.training.elements(), 25'000);
  EXPECT_EQ(task.training.compute.total(), std::chrono::milliseconds(30));
  EXPECT_EQ(task.address, "127.0.0.2");
  EXPECT_EQ(task.log, "/folder/job0-rank1-steps.tmp");
}

TEST(TrainingJobs, WriteIntoTheFolderWhateverTheirName) {
  auto jobs = jobs_of(
      "[network]\nhosts = 2\n[[job]]\nname = \"..x..\"\nparameters = \"1MB\"\n[[job]]\nname = "
      "\"~x $(y) z\"\nparameters = \"1MB\"\n");
  log_transfers(jobs, "/folder");
  for (const TrainingJob& job : jobs) {
    for (const trainer::Task& task : job.tasks) {
      for (const std::string& file : {task.log, task.sockets, task.transfers}) {
        EXPECT_EQ(std::filesystem::path(file).parent_path(), "/folder") << file;
      }
    }
  }
  EXPECT_NE(jobs[0].tasks[0].log, jobs[1].tasks[0].log);
}

TEST(TrainingJobs, ShareASecretThatOtherJobsDoNotKnow) {
  const auto jobs = jobs_of(
      "[network]\nhosts = 2\n[[job]]\nparameters = \"1MB\"\n[[job]]\nparameters = \"1MB\"\n");
  EXPECT_EQ(jobs[0].tasks[0].token, jobs[0].tasks[1].token);
  EXPECT_NE(jobs[0].tasks[0].token, jobs[1].tasks[0].token);
  EXPECT_EQ(jobs[1].label(1), "rank 1 of job1 on host1");
}

TEST(TrainingJobs, OfAStragglerComputeLonger) {
  const auto jobs = jobs_of(
      "[network]\nhosts = 2\n[[job]]\nparameters = \"1MB\"\nstraggler = \"host1\"\n"
      "straggler_factor = 2.5\n");
  EXPECT_EQ(jobs[0].training().factor(0), 1);
  EXPECT_EQ(jobs[0].training().factor(1), 2.5);
}

TEST(TrainingJobs, VerifySmallPayloadsUnlessTold) {
  const std::string network = "[network]\nhosts = 2\n[[job]]\n";
  EXPECT_TRUE(jobs_of(network + "parameters = \"1MB\"\n")[0].tasks[0].verify);
  EXPECT_FALSE(jobs_of(network + "parameters = \"1MB\"\nverify = false\n")[0].tasks[0].verify);
  EXPECT_FALSE(jobs_of(network + "parameters = \"100MB\"\n")[0].tasks[0].verify);
  EXPECT_TRUE(jobs_of(network + "parameters = \"100MB\"\nverify = true\n")[0].tasks[0].verify);
}

TEST(TrainingJobs, SayWhatCannotBeRun) {
  const std::string network = "[network]\nhosts = 2\n";
  EXPECT_THAT(problem_of(network), HasSubstr("there is no job"));
  EXPECT_THAT(problem_of(network + "[[job]]\nparameters = \"1MB\"\ntransport = \"multicast\"\n"),
              HasSubstr("set transport = \"tcp\""));
  EXPECT_THAT(problem_of(network + "[[job]]\nparameters = \"1MB\"\ntransport = \"rdma\"\n"),
              HasSubstr("trainwire sim --level packet"));
  EXPECT_THAT(problem_of(network + "[[job]]\nparameters = \"1MB\"\ncompute = \"torch\"\n"),
              HasSubstr("profile"));
  EXPECT_THAT(
      problem_of(network + "[[job]]\nparameters = \"1MB\"\nstrategy = \"ps\"\nservers = 2\n"),
      HasSubstr("servers"));
}

TEST(TrainingJobs, RunAPresetsTransportOverTcp) {
  const auto jobs =
      jobs_of("[network]\nhosts = 2\n[[job]]\nparameters = \"1MB\"\nframework = \"horovod\"\n");
  EXPECT_EQ(jobs[0].transport, "mpi");
  EXPECT_EQ(jobs[0].carrier, "");
  EXPECT_EQ(jobs[0].tasks[0].transport, "tcp");
}

TEST(TrainingJobs, TryInVainWhereTheirFrameworkDoes) {
  const auto jobs = jobs_of(
      "[network]\nhosts = 4\n[[job]]\nparameters = \"1MB\"\nframework = \"kungfu\"\nstrategy = "
      "\"clique\"\n");
  std::size_t attempts = 0;
  for (const trainer::Task& task : jobs[0].tasks) {
    attempts += task.refused_by.size();
    for (const int peer : task.refused_by) EXPECT_NE(peer, task.rank);
  }
  EXPECT_EQ(attempts, 4u * 3u - 1u);
}

TEST(TrainingJobs, CarryWhatTheFileNamesOrSayHowToBuildIt) {
  const std::string file =
      "[network]\nhosts = 2\n[[job]]\nparameters = \"1MB\"\ntransport = \"grpc\"\n";
  if (carrier::program_of("grpc").empty()) {
    EXPECT_THAT(problem_of(file), HasSubstr("built without gRPC; install libgrpc++-dev"));
    return;
  }
  const auto jobs = jobs_of(file);
  EXPECT_EQ(jobs[0].carrier, carrier::program_of("grpc"));
  EXPECT_EQ(jobs[0].tasks[1].transport, "grpc");
}

TEST(LoopbackHosts, HaveAddressesOfTheirOwn) {
  const auto hosts = loopback_hosts(300);
  EXPECT_EQ(hosts[0].address, "127.0.0.1");
  EXPECT_EQ(hosts[255].address, "127.0.1.0");
  EXPECT_EQ(hosts[299].name, "host299");
}

TEST(RankTalk, IntroducesStartsAndDismissesEverybodyTogether) {
  const auto jobs = jobs_of("[network]\nhosts = 2\n[[job]]\nparameters = \"1MB\"\n");
  RankTalk talk(jobs);
  EXPECT_EQ(talk.ranks().size(), 2u);
  EXPECT_FALSE(talk.started());
  EXPECT_THAT(talk.explain(0).text, HasSubstr("before the first step"));
  EXPECT_EQ(talk.commands({.words = {"/bin/x"}}).at(1).label, "rank 1 on host1");
  const RankCommand command =
      talk.commands({.words = {"/bin/x"}, .environment = {"LD_LIBRARY_PATH=/y"}}).at(1);
  EXPECT_EQ(command.words, (std::vector<std::string>{"/bin/x", "rank"}));
  EXPECT_EQ(command.environment, std::vector<std::string>{"LD_LIBRARY_PATH=/y"});
}

}  // namespace
}  // namespace tw::lab
