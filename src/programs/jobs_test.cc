// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/jobs.h"

#include "trainwire/base/error.h"
#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tw::programs {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

spec::Experiment read(const std::string& jobs) {
  return spec::parse("[network]\nhosts = 4\n" + jobs, "x.toml",
                     {.models = {}, .strategies = {"ring"}, .devices = {"a100"}});
}

std::string problem(const std::string& jobs, const std::vector<std::string>& command) {
  try {
    program_jobs(read(jobs), command);
  } catch (const SpecError& error) {
    return error.what();
  }
  return "";
}

constexpr const char* kTwo =
    "[[job]]\nname = \"a\"\nhosts = [\"host0\", \"host1\"]\ncommand = [\"train\", \"a\"]\n"
    "[[job]]\nname = \"b\"\nranks = 2\nplacement = [\"host1\", \"host3\"]\nparameters = 4\n"
    "start = \"2s\"\n";

TEST(ProgramJobs, WithoutJobsEachHostHasARank) {
  const auto jobs = program_jobs(read(""), {"train"});
  ASSERT_EQ(jobs.size(), 1);
  EXPECT_THAT(jobs[0].placement, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(jobs[0].name, "");
  EXPECT_THAT(problem("", {}), HasSubstr("give a command behind --"));
}

TEST(ProgramJobs, ACommandBehindReplacesThatOfOneJobAlone) {
  const std::string one = "[[job]]\ncommand = [\"train\", \"--slow\"]\nranks = 2\n";
  EXPECT_THAT(program_jobs(read(one), {})[0].words, ElementsAre("train", "--slow"));
  EXPECT_THAT(program_jobs(read(one), {"other"})[0].words, ElementsAre("other"));
}

TEST(ProgramJobs, EachOfSeveralRunsItsOwn) {
  const auto jobs = program_jobs(read(std::string(kTwo) + "command = [\"train\", \"b\"]\n"), {});
  ASSERT_EQ(jobs.size(), 2);
  EXPECT_THAT(jobs[0].words, ElementsAre("train", "a"));
  EXPECT_THAT(jobs[1].words, ElementsAre("train", "b"));
  EXPECT_EQ(jobs[1].name, "b");
  EXPECT_EQ(jobs[1].job, 1);
  EXPECT_THAT(jobs[1].placement, ElementsAre(1, 3));
  EXPECT_EQ(jobs[1].start, std::chrono::seconds(2));
}

TEST(ProgramJobs, TheCommandBehindIsOfThoseThatHaveNone) {
  const auto jobs = program_jobs(read(kTwo), {"rest"});
  EXPECT_THAT(jobs[0].words, ElementsAre("train", "a"));
  EXPECT_THAT(jobs[1].words, ElementsAre("rest"));
  EXPECT_THAT(problem(kTwo, {}), HasSubstr("job b: nothing says what its ranks run"));
  EXPECT_THAT(problem(std::string(kTwo) + "command = [\"x\"]\n", {"rest"}),
              HasSubstr("every job has its own command"));
}

TEST(ScriptFiles, AreThoseAmongTheWords) {
  const std::string script = testing::TempDir() + "jobs_test.py";
  std::ofstream(script) << "pass\n";
  EXPECT_THAT(script_files({{.words = {"python3", script, "--data", "no-such-file", "/tmp"}},
                            {.words = {script}}}),
              ElementsAre(script));
  std::filesystem::remove(script);
}

}  // namespace
}  // namespace tw::programs
