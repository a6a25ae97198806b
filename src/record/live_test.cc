// SPDX-License-Identifier: Apache-2.0
#include "trainwire/record/live.h"

#include "trainwire/result/test_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tw::record {
namespace {

using result::content;
using result::TestFolder;
using testing::ElementsAre;

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

TEST(ParseLive, ReadsHeaderSamplesAndEnd) {
  const std::string text = kHeader + sample(1) + sample(2) + kEnd;
  const LiveLines lines = parse_live(text, From::Start);
  ASSERT_TRUE(lines.header);
  EXPECT_THAT(lines.header->hosts, ElementsAre("a", "b"));
  EXPECT_THAT(*lines.header->capacity_bps, ElementsAre(1e9, std::nullopt));
  EXPECT_EQ(lines.header->jobs.at(0).model, "m");
  ASSERT_EQ(lines.samples.size(), 2U);
  EXPECT_EQ(lines.samples[1].time_ns, 2U);
  EXPECT_THAT(lines.samples[1].pairs, ElementsAre(LivePair{.from = 0, .to = 1, .bytes = 70}));
  EXPECT_TRUE(lines.ended);
  EXPECT_EQ(lines.skipped, 0);
  EXPECT_EQ(lines.used, text.size());
}

TEST(ParseLive, LeavesAHalfWrittenLineForLater) {
  const std::string whole = kHeader + sample(1);
  const std::string half = sample(2).substr(0, 20);
  const LiveLines lines = parse_live(whole + half, From::Start);
  EXPECT_EQ(lines.samples.size(), 1U);
  EXPECT_EQ(lines.skipped, 0);
  EXPECT_EQ(lines.used, whole.size());
}

TEST(ParseLive, SkipsAndCountsWhatIsNoLineOfOurs) {
  for (const std::string line :
       {"", "x", "[]", "7", "null", "{}", R"({"ended":1})", R"({"time_ns":1})",
        R"({"time_ns":-1,"steps":[],"sent_bps":[],"pairs":[]})",
        R"({"time_ns":1,"steps":["1"],"sent_bps":[],"pairs":[]})",
        R"({"time_ns":1,"steps":[],"sent_bps":[-1],"pairs":[]})",
        R"({"time_ns":1,"steps":[],"sent_bps":[1e999],"pairs":[]})",
        R"({"time_ns":1,"steps":[],"sent_bps":[],"pairs":[[0,1]]})",
        R"({"time_ns":1,"steps":[],"sent_bps":[],"pairs":[[0,1,{}]]})", "\xff\xfe"}) {
    const LiveLines lines = parse_live(kHeader + line + "\n" + sample(3), From::Start);
    EXPECT_EQ(lines.skipped, 1) << line;
    EXPECT_EQ(lines.samples.size(), 1U) << line;
    EXPECT_FALSE(lines.ended) << line;
  }
}

TEST(ParseLive, SurvivesDeepNesting) {
  const std::string deep(200'000, '[');
  EXPECT_EQ(parse_live(deep + "\n", From::Start).skipped, 1);
  const std::string closed = R"({"time_ns":)" + deep + std::string(deep.size(), ']') + "}\n";
  EXPECT_EQ(parse_live(closed, From::Start).skipped, 1);
}

TEST(ParseLive, TakesOnlyTheFirstLineForTheHeader) {
  EXPECT_FALSE(parse_live(kHeader, From::Middle).header);
  const LiveLines lines = parse_live(sample(1) + kHeader, From::Start);
  EXPECT_FALSE(lines.header);
  EXPECT_EQ(lines.skipped, 1);
}

TEST(ParseLive, PassesOnOnlyWhatItKnows) {
  const LiveLines lines =
      parse_live(R"({"schema":1,"hosts":[],"jobs":[{"name":{"x":1}},7],"name":[],"evil":"<b>"})"
                 "\n",
                 From::Start);
  ASSERT_TRUE(lines.header);
  EXPECT_EQ(lines.header->name, "");
  EXPECT_FALSE(to_json(*lines.header).contains("evil"));
  EXPECT_THAT(lines.header->jobs, ElementsAre(LiveJob{}, LiveJob{}));
}

TEST(LiveWriter, WritesWhatIsReadBack) {
  const TestFolder folder;
  const LiveHeader header{.name = "n",
                          .started_ns = 5,
                          .hosts = {"a", "b"},
                          .capacity_bps = {{1e9, std::nullopt}},
                          .jobs = {{.name = "j", .ranks = 2}}};
  const LiveSample sample{
      .time_ns = 7,
      .steps = {1},
      .sent_bps = {8.5, 0},
      .pairs = {{.from = 0, .to = 1, .bytes = 9}},
      .busiest = LiveBusiest{.link = "core", .direction = "to_host", .share = 0.5},
      .core_bps = {{"core", {1.5, 0}}}};
  {
    LiveWriter writer(folder / "live.jsonl", header);
    writer.write(sample);
    EXPECT_TRUE(is_held(folder / "live.jsonl"));
  }
  EXPECT_FALSE(is_held(folder / "live.jsonl"));
  const LiveLines lines = parse_live(content(folder / "live.jsonl"), From::Start);
  EXPECT_EQ(lines.header, header);
  EXPECT_THAT(lines.samples, ElementsAre(sample));
  EXPECT_TRUE(lines.ended);
}

}  // namespace
}  // namespace tw::record
