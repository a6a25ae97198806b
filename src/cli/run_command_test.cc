// SPDX-License-Identifier: Apache-2.0
// What run and bench refuse; tests/run_*.py have ranks do it.
#include "trainwire/cli/test_program.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace tw::cli {
namespace {

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
  const Result rdma =
      trainwire({"run", file("e.toml", std::string(kPair) + "transport = \"rdma\"\n"), "-o", out});
  EXPECT_EQ(rdma.code, 2);
  EXPECT_THAT(rdma.err, HasSubstr("transport = \"tcp\""));
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

TEST_F(RunCommand, SimRecordsWhatRunWould) {
  const std::string e =
      file("s.toml",
           "[network]\nhosts = 4\n[[job]]\nparameters = \"4MB\"\ncompute_time = \"10ms\"\n"
           "steps = 3\n[[expect]]\nof = \"sim\"\nmetric = \"jobs.0.steps\"\nequals = 3\n");
  const std::string out = folder_ / "s.run";
  const Result done = trainwire({"sim", e, "-o", out, "--level", "flow"});
  EXPECT_EQ(done.code, 0) << done.err;
  // Six rounds of a megabyte at 1 Gbit/s, and 10 ms of compute.
  EXPECT_THAT(done.out, HasSubstr("simulated flow by flow"));
  EXPECT_THAT(done.out, HasSubstr("step      60."));
  EXPECT_THAT(done.out, HasSubstr("ok    schedule"));
  for (const char* made : {"run.json", "steps.csv", "links.csv", "report.html"}) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(out) / made)) << made;
  }
  EXPECT_EQ(trainwire({"compare", out, out}).code, 0);
  EXPECT_EQ(trainwire({"sim", e, "-o", out}).code, 3) << "nothing is overwritten";
  const Result nothing =
      trainwire({"sim", file("x.toml", "[network]\nhosts = 2\n"), "-o", folder_ / "no.run"});
  EXPECT_EQ(nothing.code, 2);
  EXPECT_THAT(nothing.err, HasSubstr("nothing to simulate"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "no.run"));
}

constexpr const char* kSimSweep =
    "[network]\nhosts = 4\n[[job]]\nparameters = \"4MB\"\ncompute = \"none\"\nsteps = 2\n"
    "[sweep]\n\"network.rate\" = [\"1Gbit\", \"2Gbit\", \"10Gbit\"]\n\"job.strategy\" = [\"ring\", "
    "\"tree\", \"double_tree\"]\n";

TEST_F(RunCommand, SimOfASweepMakesWhatRunWould) {
  const std::string e = file("w.toml", kSimSweep);
  const std::string out = folder_ / "w.run";
  const Result done = trainwire({"sim", e, "-o", out});
  EXPECT_EQ(done.code, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("network.rate=\"10Gbit\" job.strategy=\"tree\""));
  EXPECT_THAT(done.err, HasSubstr("9 points packet by packet in "));
  for (const char* made : {"run.json", "points.csv", "report.html"}) {
    EXPECT_TRUE(std::filesystem::exists(std::filesystem::path(out) / made)) << made;
  }
  EXPECT_FALSE(std::filesystem::exists(out + "/point-000")) << "nobody asked for it";
  EXPECT_EQ(trainwire({"compare", out, out}).code, 0);
  const Result exported = trainwire({"export", out, "--to", "csv", "-o", folder_ / "tables"});
  EXPECT_EQ(exported.code, 0);
  EXPECT_THAT(exported.err,
              HasSubstr("note: points have no tables of their own; trainwire sim --keep"));
  EXPECT_EQ(
      trainwire({"fit", out, "--x", "network.rate", "--y", "step_s", "--model", "power"}).code, 0);
}

TEST_F(RunCommand, SimOfASweepGoesOnAndKeepsFoldersOnRequest) {
  const std::string e = file("w.toml", kSimSweep);
  const std::string out = folder_ / "w.run";
  EXPECT_THAT(trainwire({"sim", e, "-o", out, "--no-page"}).err,
              HasSubstr("9 points packet by packet in "));
  EXPECT_THAT(trainwire({"sim", e, "-o", out, "--no-page"}).err,
              HasSubstr("all 9 points are there"));
  EXPECT_THAT(trainwire({"sim", e, "-o", out, "--no-page", "--keep"}).err,
              HasSubstr("9 points packet by packet in"));
  EXPECT_TRUE(std::filesystem::exists(out + "/point-008/steps.csv"));
  EXPECT_THAT(trainwire({"sim", e, "-o", out, "--no-page", "--keep"}).err,
              HasSubstr("all 9 points are there"));
  EXPECT_THAT(trainwire({"sim", e, "-o", out, "--no-page", "--keep", "--level", "flow"}).err,
              HasSubstr("9 points flow by flow in"))
      << "what was simulated otherwise is not the same";
  EXPECT_THAT(trainwire({"sim", e, "-o", out, "--no-page", "--force"}).err,
              HasSubstr("9 points packet by packet in"));
}

TEST_F(RunCommand, SimOfASweepJudgesEveryPoint) {
  const std::string text =
      std::string(kSimSweep) + "[[expect]]\nof = \"sim\"\nmetric = \"jobs.0.steps\"\nequals = 3\n";
  const Result done = trainwire({"sim", file("w.toml", text), "-o", folder_ / "w.run"});
  EXPECT_EQ(done.code, 1);
  EXPECT_THAT(done.err, HasSubstr("NOT AS EXPECTED: point-008"));
}

}  // namespace
}  // namespace tw::cli
