// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/live.h"

#include "trainwire/result/test_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>

namespace tw::serve {
namespace {

using nlohmann::ordered_json;
using record::From;
using record::LiveLines;
using record::parse_live;
using result::TestFolder;

const std::string kHeader =
    R"({"schema":1,"name":"n","started_ns":5,"hosts":["a","b"],"capacity_bps":[1e9,null],)"
    R"("jobs":[{"name":"j","model":"m","strategy":"ring","ranks":2,"steps":9,"warmup":1}]})"
    "\n";

std::string sample(std::int64_t time_ns) {
  return fmt::format(R"({{"time_ns":{},"steps":[1],"sent_bps":[8.5,0],"pairs":[[0,1,70]]}})"
                     "\n",
                     time_ns);
}
const std::string kEnd = "{\"ended\":\"done\"}\n";

TEST(LiveDocument, GoesOnWhereTheLastAnswerEnded) {
  const TestFolder folder;
  const std::string file = folder.file("live.jsonl", kHeader + sample(1));
  const ordered_json first = live_document(folder / "", {});
  EXPECT_EQ(first["header"]["name"], "n");
  EXPECT_EQ(first["samples"].size(), 1U);
  EXPECT_EQ(first["next"], kHeader.size() + sample(1).size());
  std::ofstream(file, std::ios::app) << sample(2) << sample(3).substr(0, 9);
  const ordered_json second = live_document(folder / "", {.from = first["next"]});
  EXPECT_TRUE(second["header"].is_null());
  ASSERT_EQ(second["samples"].size(), 1U);
  EXPECT_EQ(second["samples"][0]["time_ns"], 2);
  EXPECT_EQ(second["skipped"], 0);
  std::ofstream(file, std::ios::app) << sample(3).substr(9);
  const ordered_json third = live_document(folder / "", {.from = second["next"]});
  EXPECT_EQ(third["samples"][0]["time_ns"], 3);
}

TEST(LiveDocument, SaysThatItEndedToWhoComesLate) {
  const TestFolder folder;
  folder.file("live.jsonl", kHeader + sample(1) + kEnd);
  const ordered_json first = live_document(folder / "", {});
  EXPECT_EQ(first["ended"], true);
  EXPECT_EQ(live_document(folder / "", {.from = first["next"]})["ended"], true);
}

TEST(LiveDocument, BeginsAnewWhenTheFileIsShorter) {
  const TestFolder folder;
  folder.file("live.jsonl", kHeader + sample(1));
  const ordered_json document = live_document(folder / "", {.from = 1'000'000});
  EXPECT_FALSE(document["header"].is_null());
  EXPECT_EQ(document["samples"].size(), 1U);
}

TEST(LiveDocument, PassesOverTheRestOfALine) {
  const TestFolder folder;
  folder.file("live.jsonl", kHeader + sample(1));
  const ordered_json document = live_document(folder / "", {.from = 7});
  EXPECT_EQ(document["skipped"], 1);
  EXPECT_EQ(document["samples"].size(), 1U);
}

TEST(LiveDocument, ComesToTheEndOfAnEndlessLine) {
  const TestFolder folder;
  folder.file("live.jsonl", std::string(9'000'000, 'x') + "\n" + sample(1));
  std::int64_t from = 0;
  std::size_t samples = 0;
  // 4 MB an answer: the third one has the sample.
  for (int i = 0; i < 3; ++i) {
    const ordered_json document = live_document(folder / "", {.from = from});
    from = document["next"];
    samples += document["samples"].size();
  }
  EXPECT_EQ(samples, 1U);
}

TEST(LiveDocument, IsEmptyWithoutTheFile) {
  const TestFolder folder;
  const ordered_json document = live_document(folder / "", {.from = 10});
  EXPECT_TRUE(document["header"].is_null());
  EXPECT_TRUE(document["samples"].empty());
  EXPECT_EQ(document["next"], 0);
  EXPECT_EQ(document["ended"], false);
}

TEST(LiveDocument, ShowsTheNewestPointOfASweep) {
  const TestFolder folder;
  for (const std::string point : {"point-000", "point-001", "point-x"}) {
    std::filesystem::create_directory(folder / point);
    folder.file(point + "/live.jsonl", kHeader + sample(1));
  }
  const auto now = std::filesystem::file_time_type::clock::now();
  std::filesystem::last_write_time(folder / "point-000/live.jsonl", now - std::chrono::seconds(9));
  const ordered_json first = live_document(folder / "", {});
  EXPECT_EQ(first["point"], "point-001");
  // A sweep that is gone on with may write an earlier point anew.
  std::filesystem::last_write_time(folder / "point-000/live.jsonl", now + std::chrono::seconds(9));
  const ordered_json next =
      live_document(folder / "", {.from = first["next"], .point = "point-001"});
  EXPECT_EQ(next["point"], "point-000");
  EXPECT_FALSE(next["header"].is_null());
}

TEST(GlanceAtLive, HasTheHeaderAndTheLatestOfALongFile) {
  const TestFolder folder;
  std::string text = kHeader;
  // 20,000 samples are more than the megabyte that is looked at.
  for (int i = 0; i < 20'000; ++i) text += sample(i);
  const LiveLines lines = glance_at_live(folder.file("live.jsonl", text));
  EXPECT_EQ(lines.header->name, "n");
  EXPECT_EQ(lines.samples.back().time_ns, 19'999U);
  EXPECT_LT(lines.samples.size(), 20'000U);
}

TEST(LongestSilence, IsThreeTimesTheDistanceOfSamplesButTenSecondsAtLeast) {
  const auto of = [](std::int64_t a, std::int64_t b) {
    return longest_silence_ns(parse_live(sample(a) + sample(b), From::Middle).samples);
  };
  EXPECT_EQ(longest_silence_ns({}), 10'000'000'000);
  EXPECT_EQ(of(0, 500'000'000), 10'000'000'000);
  EXPECT_EQ(of(0, 20'000'000'000), 60'000'000'000);
  EXPECT_EQ(of(9, 1), 10'000'000'000);
  EXPECT_EQ(of(0, INT64_MAX), 3'600'000'000'000);
}

}  // namespace
}  // namespace tw::serve
