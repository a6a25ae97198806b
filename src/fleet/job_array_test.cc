// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/job_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tw::fleet {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

TEST(JobArray, WordsReachTheTaskAsTheyAre) {
  EXPECT_EQ(array_script({{"run", "it's; rm -rf $HOME", "a b"}, {"sim", "`x`"}}),
            "#!/bin/sh\ncase \"$SLURM_ARRAY_TASK_ID\" in\n"
            "0) exec run 'it'\\''s; rm -rf $HOME' 'a b';;\n"
            "1) exec sim '`x`';;\nesac\n");
}

TEST(JobArray, AsksForNodesOfEachTaskAndKeepsPercentSigns) {
  const Words words = sbatch_words(
      {.name = "s", .script = "50%/array.sh", .folder = "50%", .nodes = 4, .tasks = 12});
  EXPECT_THAT(words, Contains("--array=0-11"));
  EXPECT_THAT(words, Contains("--nodes=4"));
  EXPECT_THAT(words, Contains("--output=50%%/task-%a.txt"));
  EXPECT_EQ(words.back(), "50%/array.sh");
}

TEST(JobArray, SettingsOfSrunHoldForSbatchUnlessItHasItsOwn) {
  const auto variables = [](std::string_view name) -> std::optional<std::string> {
    if (name == "SLURM_PARTITION") return "gpu";
    if (name == "SLURM_TIMELIMIT") return "10";
    if (name == "SBATCH_TIMELIMIT") return "20";
    return {};
  };
  EXPECT_THAT(sbatch_variables(variables), ElementsAre("SBATCH_PARTITION=gpu"));
}

TEST(JobArray, KnowsItsNumber) {
  EXPECT_EQ(job_number("123\n"), "123");
  EXPECT_EQ(job_number("7;far\n"), "7");
  EXPECT_FALSE(job_number("sbatch: error"));
  EXPECT_FALSE(job_number(""));
  EXPECT_FALSE(job_number("99999999999999999999999"));
}

TEST(JobArray, CountsWhatIsLeft) {
  const ArrayState state =
      parse_queue("RUNNING|None\nPENDING|Resources\nCOMPLETING|None\nPENDING|Priority\nrubbish\n");
  EXPECT_EQ(state, (ArrayState{.running = 2, .waiting = 2, .reason = "Priority"}));
  EXPECT_FALSE(state.is_hopeless());
  EXPECT_TRUE(parse_queue("").is_over());
  EXPECT_TRUE(parse_queue("PENDING|Nodes required for job are DOWN, DRAINED\n").is_hopeless());
  EXPECT_FALSE(parse_queue("PENDING|PartitionDown\nRUNNING|None\n").is_hopeless());
  EXPECT_TRUE(parse_queue("PENDING|launch failed requeued held\n").is_hopeless());
}

}  // namespace
}  // namespace tw::fleet
