// SPDX-License-Identifier: Apache-2.0
#include "trainwire/imports/step_log.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <ctime>

namespace tw::imports {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

constexpr std::int64_t kSecond = 1'000'000'000;

StepLog parsed(std::string_view text) { return parse_step_log(text, "log"); }

std::string refusal(std::string_view text) {
  try {
    parsed(text);
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(CsvLog, SecondsBecomeNanosecondsByRankAndStep) {
  const StepLog log = parsed(
      "rank,step,start,end\n"
      "1,0,1794719799.5,1794719799.75\n"
      "0,1,1794719800.0,1794719800.5\n"
      "0,0,1794719799.25,1794719800.0\n");
  EXPECT_EQ(log.format, "csv");
  EXPECT_THAT(log.steps,
              ElementsAre(LoggedStep{0, 0, 1794719799'250'000'000, 1794719800 * kSecond},
                          LoggedStep{0, 1, 1794719800 * kSecond, 1794719800'500'000'000},
                          LoggedStep{1, 0, 1794719799'500'000'000, 1794719799'750'000'000}));
}

TEST(CsvLog, HeaderDecidesOrderAndUnit) {
  const StepLog log = parsed("end_ns,extra,Step,start_ns\n2500,x,7,1500\n");
  EXPECT_THAT(log.steps, ElementsAre(LoggedStep{0, 7, 1500, 2500}));
  EXPECT_THAT(parsed("step,start_s,end_s\n7,1,2\n").steps,
              ElementsAre(LoggedStep{0, 7, 1 * kSecond, 2 * kSecond}));
}

TEST(CsvLog, NeedsNoHeader) {
  EXPECT_THAT(parsed("3,4,1794719799000000001,1794719799000000002\n").steps,
              ElementsAre(LoggedStep{3, 4, 1794719799'000'000'001, 1794719799'000'000'002}));
}

TEST(CsvLog, SurvivesWindowsAndSpreadsheets) {
  EXPECT_THAT(
      parsed("\xef\xbb\xbf\"rank\",\"step\",\"start\",\"end\"\r\n\r\n\"0\", 1 ,10,11\r\n").steps,
      ElementsAre(LoggedStep{0, 1, 10 * kSecond, 11 * kSecond}));
}

TEST(CsvLog, PhasesOfAStepAreOneStep) {
  EXPECT_THAT(parsed("rank,step,phase,start_ns,end_ns\n0,0,forward,10,20\n0,0,exchange,25,40\n"
                     "0,1,forward,40,50\n")
                  .steps,
              ElementsAre(LoggedStep{0, 0, 10, 40}, LoggedStep{0, 1, 40, 50}));
}

TEST(CsvLog, TablesOfPhasesHaveWarmUpStepsThatDoNotCount) {
  EXPECT_THAT(parsed("rank,step,phase,start_ns,end_ns\n0,-3,broadcast,1,2\n0,-1,forward,3,4\n"
                     "0,0,forward,10,20\n0,0,exchange,25,40\n")
                  .steps,
              ElementsAre(LoggedStep{0, 0, 10, 40}));
  EXPECT_THAT(refusal("rank,step,start_ns,end_ns\n0,-1,3,4\n"), HasSubstr("\"-1\" is no step"));
}

TEST(CsvLog, NumbersThatStartAgainAreCountedOn) {
  EXPECT_THAT(
      parsed("rank,step,start_ns,end_ns\n0,0,0,1\n0,1,1,2\n0,0,2,3\n0,1,3,4\n0,1,3,4\n").steps,
      ElementsAre(LoggedStep{0, 0, 0, 1}, LoggedStep{0, 1, 1, 2}, LoggedStep{0, 2, 2, 3},
                  LoggedStep{0, 3, 3, 4}));
}

TEST(CsvLog, SkipsSingleRowsOfNoUse) {
  std::string good = "rank,step,start,end\n";
  for (int i = 0; i < 20; ++i) good += fmt::format("0,{},{}.0,{}.5\n", i, i, i);
  const auto skips_one = [&](const std::string& row, const std::string& why) {
    const StepLog log = parsed(good + row);
    EXPECT_EQ(log.steps.size(), 20U) << row;
    EXPECT_EQ(log.skipped, 1U) << row;
    EXPECT_THAT(log.first_skipped, HasSubstr(why)) << row;
  };
  EXPECT_EQ(parsed(good).skipped, 0U);
  skips_one("0,22", "line 22: 2 fields");
  skips_one("0,20,nan,3\n", "line 22: \"nan\" is no time");
  skips_one("0,20,30.0,29.0\n", "line 22: the step ends before it starts");
  skips_one("0,22,11.0,11.", "step 22 takes no time");
  // Whole seconds: most steps seem to take none.
  EXPECT_EQ(parsed("rank,step,start,end\n0,0,1,1\n0,1,1,2\n0,2,2,2\n").steps.size(), 3U);
}

TEST(CsvLog, RefusesABadLineByNumber) {
  const std::string good = "rank,step,start,end\n0,0,1,2\n\n";
  EXPECT_THAT(refusal(good + "0,x,2,3\n"),
              AllOf(HasSubstr("reading the step log log: line 4: \"x\" is no step"),
                    HasSubstr("expected")));
  EXPECT_THAT(refusal(good + "0,1,2\n"), HasSubstr("line 4: 3 fields; expected at least 4"));
  EXPECT_THAT(refusal(good + "0,1,soon,3\n"), HasSubstr("\"soon\" is no time"));
  EXPECT_THAT(refusal(good + "0,1,3,2\n"), HasSubstr("the step ends before it starts"));
  EXPECT_THAT(refusal(good + "-1,1,2,3\n"), HasSubstr("\"-1\" is no rank"));
  EXPECT_THAT(refusal(good + "0,1,\"2,3\n"), HasSubstr("quoted field"));
  EXPECT_THAT(refusal("rank,step,start\n0,0,1\n"), HasSubstr("no column \"end\""));
}

TEST(TumLog, BatchLastsFromTheRowBeforeIt) {
  const StepLog log = parsed(
      "Type,ID,Timestamp,Loss,Accuracy\n"
      "Epoch,0,100,,\n"
      "Batch,0,101,0.9,0.1\n"
      "Batch,1,102.5,0.8,0.2\n"
      "Epoch,1,105,0.8,0.2\n"
      "Batch,0,106,0.7,0.3\n");
  EXPECT_EQ(log.format, "tum");
  EXPECT_THAT(log.steps, ElementsAre(LoggedStep{0, 0, 100 * kSecond, 101 * kSecond},
                                     LoggedStep{0, 1, 101 * kSecond, 102'500'000'000},
                                     LoggedStep{0, 2, 105 * kSecond, 106 * kSecond}));
}

TEST(TumLog, FirstBatchIsAsLongAsTheMedianOfTheOthers) {
  // Lengths 1 s and 3 s: nth_element's middle of two is the longer, so the first starts 3 s early.
  EXPECT_THAT(parsed("Type,ID,Timestamp,Loss,Accuracy\nBatch,0,10,,\nBatch,1,11,,\nBatch,2,14,,\n")
                  .steps.front(),
              (LoggedStep{0, 0, 7 * kSecond, 10 * kSecond, true}));
}

TEST(TumLog, ReadsDateTimes) {
  // 2026-11-15 05:16:39 UTC is 1794719799.
  EXPECT_EQ(parsed("Type,ID,Timestamp,Loss,Accuracy\nBatch,0,2026-11-15 05:16:38,,\n"
                   "Batch,1,2026-11-15 05:16:39,,\n")
                .steps.back()
                .end_ns,
            1794719799 * kSecond);
}

TEST(TumLog, RefusesABadLineByNumber) {
  const std::string header = "Type,ID,Timestamp,Loss,Accuracy\n";
  EXPECT_THAT(refusal(header + "Step,0,1,,\n"), HasSubstr("line 2: the type is \"step\""));
  EXPECT_THAT(refusal(header + "Batch,0\n"), HasSubstr("line 2: 2 fields"));
  EXPECT_THAT(refusal(header + "Batch,0,\"1\n"), HasSubstr("quoted field"));
}

TEST(TextLog, LinesWithStampAndStepAreSteps) {
  const StepLog log = parsed(
      "Running benchmark\n"
      "2026-11-15 05:16:39.000 Iter #0: 250.3 img/sec per GPU\n"
      "2026-11-15 05:16:40.000 checkpoint written\n"
      "2026-11-15 05:16:41.000 Iter #1: 250.3 img/sec per GPU\n");
  EXPECT_EQ(log.format, "text");
  EXPECT_THAT(log.steps,
              ElementsAre(LoggedStep{0, 0, 1794719797 * kSecond, 1794719799 * kSecond, true},
                          LoggedStep{0, 1, 1794719799 * kSecond, 1794719801 * kSecond}));
}

// As torchtitan prints to a terminal, and a metric that TensorBoard exports.
TEST(TextLog, ColoursAreNoPartOfALine) {
  EXPECT_THAT(parsed("1794719800 - INFO - \x1b[31mstep:  1  \x1b[32mloss: 12.2\x1b[39m\n"
                     "1794719802 - INFO - \x1b[31mstep:  2  \x1b[32mloss: 12.1\x1b[39m\n")
                  .steps.back(),
              (LoggedStep{0, 2, 1794719800 * kSecond, 1794719802 * kSecond}));
  // Copied from a page, which drops the first character of each.
  EXPECT_THAT(parsed("1794719800 - INFO - [31mstep:  1  [38;2;180;60;0mloss: 12.2[39m\n"
                     "1794719802 - INFO - [31mstep:  2  [38;2;180;60;0mloss: 12.1[39m\n")
                  .steps.back(),
              (LoggedStep{0, 2, 1794719800 * kSecond, 1794719802 * kSecond}));
}

TEST(TextLog, LinesOfJsonAreRead) {
  EXPECT_THAT(parsed("{\"step\": 7, \"loss\": 2.0, \"time\": 1794719800.0}\n"
                     "{\"step\": 8, \"loss\": 1.9, \"time\": 1794719803.0}\n")
                  .steps.back(),
              (LoggedStep{0, 8, 1794719800 * kSecond, 1794719803 * kSecond}));
}

// As torch_xla's examples print it: no date, one line of each device.
TEST(TextLog, TimesOfDayOfTorchXlaAreRead) {
  const StepLog log = parsed(
      "| Training Device=xla:0/1 Epoch=1 Step=20 Loss=0.1 Rate=900.1 GlobalRate=800.2 "
      "Time=23:59:58\n"
      "| Training Device=xla:1/0 Epoch=1 Step=20 Loss=0.1 Rate=900.1 GlobalRate=800.2 "
      "Time=23:59:58\n"
      "| Training Device=xla:0/1 Epoch=1 Step=24 Loss=0.1 Rate=900.1 GlobalRate=800.2 "
      "Time=00:00:02\n");
  EXPECT_EQ(log.format, kTimeOfDay);
  ASSERT_THAT(log.steps, SizeIs(5));  // four of 1 s of device 1, and its first
  EXPECT_EQ(log.steps.back(), (LoggedStep{1, 24, 86401 * kSecond, 86402 * kSecond, true}));
  EXPECT_THAT(refusal("Step=20 Time=23:59:58\nStep=24 Time=23:59:59\n"),
              HasSubstr("no step was found"));
}

TEST(TextLog, WhatMlperfCallsAStepIsNone) {
  EXPECT_THAT(refusal(":::MLLOG {\"time_ms\": 1794719800000, \"key\": \"tracked_stats\", "
                      "\"metadata\": {\"step\": 3072}}\n"),
              HasSubstr("no step was found"));
}

TEST(CsvLog, StampsOfTensorBoardAreEndsOfSteps) {
  const StepLog log = parsed("Wall time,Step,Value\n1794719800.0,10,2.5\n1794719820.0,20,2.4\n");
  EXPECT_EQ(log.format, "stamps");
  ASSERT_THAT(log.steps, SizeIs(11));  // ten of 2 s, and the first
  EXPECT_EQ(log.steps.back(),
            (LoggedStep{0, 20, 1794719818 * kSecond, 1794719820 * kSecond, true}));
  EXPECT_THAT(refusal("Wall time,Step,Value\n0.5,10,2.5\n"), HasSubstr("no step was found"));
}

TEST(TextLog, RanksAreKeptApart) {
  EXPECT_THAT(parsed("[1,0]<stdout>:1794719799 step 1\n[1,1]<stdout>:1794719799 step 1\n"
                     "[1,0]<stdout>:1794719800 step 2\n[1,1]<stdout>:1794719802 step 2\n")
                  .steps,
              ElementsAre(LoggedStep{0, 1, 1794719798 * kSecond, 1794719799 * kSecond, true},
                          LoggedStep{0, 2, 1794719799 * kSecond, 1794719800 * kSecond},
                          LoggedStep{1, 1, 1794719796 * kSecond, 1794719799 * kSecond, true},
                          LoggedStep{1, 2, 1794719799 * kSecond, 1794719802 * kSecond}));
}

TEST(TextLog, TimeOfEveryTenthStepIsDivided) {
  // Steps 0, 10, 20 stamped 10 s apart: 20 steps of 1 s and the first one.
  const StepLog log = parsed("1794719800 step 0\n1794719810 step 10\n1794719820 step 20\n");
  ASSERT_THAT(log.steps, SizeIs(21));
  EXPECT_EQ(log.steps[11], (LoggedStep{0, 11, 1794719810 * kSecond, 1794719811 * kSecond}));
  // Two averages: the first of each ten, and not the first step, which no line tells.
  std::vector<std::int64_t> told;
  for (const LoggedStep& step : log.steps) {
    if (!step.is_shared) told.push_back(step.step);
  }
  EXPECT_THAT(told, ElementsAre(1, 11));
}

TEST(TextLog, ARepeatedStepEndsWithItsLastLine) {
  EXPECT_THAT(parsed("1794719800 step 0\n1794719801 step 1 loss 2\n1794719803 step 1 accuracy 1\n")
                  .steps.back(),
              (LoggedStep{0, 1, 1794719800 * kSecond, 1794719803 * kSecond}));
}

TEST(TextLog, WhatPassesInAJumpIsNoStep) {
  EXPECT_THAT(refusal("1794719800 step 0\n1794720400 step 90000\n"),
              HasSubstr("no step was found"));
  const StepLog log = parsed(
      "1794719800 step 0\n1794719801 step 1\n1794720400 step 90000\n1794720402 step 90001\n");
  EXPECT_THAT(log.steps,
              ElementsAre(LoggedStep{0, 0, 1794719798 * kSecond, 1794719800 * kSecond, true},
                          LoggedStep{0, 1, 1794719800 * kSecond, 1794719801 * kSecond},
                          LoggedStep{0, 90001, 1794720400 * kSecond, 1794720402 * kSecond}));
}

TEST(TextLog, TheSameJumpAgainIsOneStepOfAProgramThatCountsSamples) {
  EXPECT_THAT(
      parsed(
          "1794719800 step 0\n1794719801 step 4096\n1794719802 step 8192\n1794719803 step 12288\n")
          .steps,
      SizeIs(3));
}

TEST(TextLog, MillionsOfDividedStepsAreRefused) {
  std::string text;
  for (int i = 0; i < 5003; ++i) {
    text += std::to_string(1794719800 + i) + " step " + std::to_string(1000 * i) + "\n";
  }
  EXPECT_THAT(refusal(text), HasSubstr("more than 5,000,000"));
}

// Quoted names with values behind them are no header of a table.
TEST(StepLog, ReadsLinesOfJsonWhoseStampComesLate) {
  EXPECT_THAT(parsed("{\"epoch\": 0.1, \"step\": 1, \"timestamp\": \"2023-09-26T19:25:18.5\"}\n"
                     "{\"epoch\": 0.1, \"step\": 2, \"timestamp\": \"2023-09-26T19:25:19.5\"}\n")
                  .steps,
              SizeIs(2));
}

TEST(StepLog, SaysWhatItLookedForWhenItFindsNothing) {
  EXPECT_THAT(refusal(""), HasSubstr("it is empty; expected CSV"));
  EXPECT_THAT(refusal("rank,step,start,end\n"), HasSubstr("no step was found; expected CSV"));
  EXPECT_THAT(refusal("GET / HTTP/1.1\n"), HasSubstr("\"step\", \"iteration\" or \"batch\""));
  EXPECT_THAT(refusal("1794719800 step 3\n"), HasSubstr("no step was found"));
}

TEST(StepLog, ReadsAMillionLinesFast) {
  std::string text = "rank,step,start,end\n";
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string second = std::to_string(1794719799 + i);
    text += "0," + std::to_string(i) + "," + second + ".907973," + second + ".913349\n";
  }
  const std::clock_t begin = std::clock();
  EXPECT_THAT(parsed(text).steps, SizeIs(1'000'000));
  // 0.3 s of processor time when optimised; the limit leaves room for sanitizers.
  EXPECT_LT(std::clock() - begin, 10 * CLOCKS_PER_SEC);
}

}  // namespace
}  // namespace tw::imports
