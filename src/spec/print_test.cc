// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/print.h"

#include "trainwire/spec/test_experiments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tw::spec {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// The values alone: printing makes defaults explicit.
nlohmann::ordered_json values(const Experiment& experiment) {
  nlohmann::ordered_json document = to_json(experiment).flatten();
  for (auto& [path, value] : document.items()) {
    if (path.ends_with("/origin")) value = nullptr;
  }
  return document;
}

TEST(ToToml, IsReadBackToTheSameValues) {
  std::vector<std::string> texts = varied_experiments();
  texts.push_back(contents("fuzz/corpus/spec/design.toml"));
  for (const std::string& text : texts) {
    const Experiment experiment = parsed(text);
    EXPECT_EQ(values(parsed(to_toml(experiment))), values(experiment)) << text;
  }
}

TEST(ToToml, MarksEachLineThatTheFileDidNotSay) {
  const std::string text =
      to_toml(parsed("[job]\nmodel = \"vgg16\"\nframework = \"horovod\"\n", {"run.seed=3"}));
  EXPECT_THAT(text, HasSubstr("\nmodel = \"vgg16\"\n"));
  EXPECT_THAT(text, HasSubstr("\nhosts = 4                       # default\n"));
  EXPECT_THAT(text, HasSubstr("\nbucket = \"64MiB\"                # preset: horovod\n"));
  EXPECT_THAT(text, HasSubstr("\n# ranks = 4                     # derived\n"));
  EXPECT_THAT(text, HasSubstr("\nseed = 3                        # override\n"));
  EXPECT_THAT(text, HasSubstr("# socket_buffer is not set      # the kernel's own choice\n"));
}

TEST(ToToml, LeavesOutWhatDoesNotApply) {
  const std::string star = to_toml(parsed("[job]\nmodel = \"vgg16\"\n"));
  for (const char* key : {"left", "leaves", "core_rate", "servers", "straggler_factor", "epochs"}) {
    EXPECT_THAT(star, Not(HasSubstr(std::string(key) + " ="))) << key;
  }
  EXPECT_THAT(to_toml(parsed("[network]\ntopology = \"dumbbell\"\n")), HasSubstr("# left = 2"));
  // What somebody set is shown even so.
  EXPECT_THAT(to_toml(parsed("[network]\nleaves = 3\n")), HasSubstr("leaves = 3"));
}

TEST(ToToml, TellsDerivedFacts) {
  const std::string text = to_toml(parsed(R"(
[network]
rate = "25Gbit"
queue = "1bdp"
[[network.link]]
at = "host0"
direction = "to_host"
rate = "5Gbit"
[job]
model = "vgg16"
batch = 64
epochs = 20
dataset = 50000
[run]
scale = 25
)"));
  EXPECT_THAT(text, HasSubstr("# / scale 25 = 1Gbit on the emulated network"));
  EXPECT_THAT(text, HasSubstr("# round trip 200us between the hosts farthest apart"));
  // 25 Gbit/s x 200 us = 625,000 bytes; a fifth of that on the slower direction.
  EXPECT_THAT(text, HasSubstr("# queues hold 625000 bytes from_host, 625000 bytes to_host"));
  EXPECT_THAT(text, HasSubstr("# queues hold 625000 bytes from_host, 125000 bytes to_host"));
  EXPECT_THAT(text, HasSubstr("# steps = 3920"));
  EXPECT_THAT(text, HasSubstr("derived: 20 epochs of 50000 samples, 256 a step"));
}

TEST(ToToml, ShortensLongDerivedLists) {
  const Experiment e = parsed("[network]\nhosts = 100000\n[job]\nmodel = \"vgg16\"\n");
  const std::string text = to_toml(e);
  EXPECT_LT(text.size(), 5000u);
  EXPECT_THAT(text, HasSubstr("# hosts = [\"host0\", ..., \"host99999\"]  100000 entries"));
  EXPECT_EQ(values(parsed(text)), values(e));
}

TEST(ToToml, KeepsPresetsOpenForASweepOverFrameworks) {
  const std::string job = "[job]\nmodel = \"vgg16\"\nframework = \"horovod\"\n";
  EXPECT_THAT(to_toml(parsed(job + "[sweep]\n\"job.framework\" = [\"kungfu\"]\n")),
              HasSubstr("\n# bucket = \"64MiB\""));
  EXPECT_THAT(to_toml(parsed(job)), HasSubstr("\nbucket = \"64MiB\""));
}

TEST(ToJson, GivesValuesInPlainUnitsWithTheirOrigin) {
  const auto document =
      to_json(parsed("[network]\nrate = \"1Gbit\"\nqueue = \"2bdp\"\n"
                     "[traffic]\nfrom = \"host0\"\nto = \"host1\"\nload = 0.5\n"));
  const auto& network = document["network"];
  EXPECT_EQ(network["rate_bps"]["value"], 1e9);
  EXPECT_EQ(network["rate_bps"]["origin"], "file");
  EXPECT_EQ(network["delay_ns"]["value"], 50'000);
  EXPECT_EQ(network["delay_ns"]["origin"], "default");
  EXPECT_EQ(network["queue"]["value"]["bdp"], 2.0);
  EXPECT_EQ(network["queue_bytes"]["value"], 50'000);
  EXPECT_EQ(network["round_trip_ns"]["origin"], "derived");
  EXPECT_EQ(network["socket_buffer_bytes"]["value"], nullptr);
  EXPECT_EQ(document["traffic"][0]["load"]["value"]["share"], 0.5);
}

TEST(ToJson, HoldsEverySection) {
  const auto document = to_json(parsed(varied_experiments().back()));
  EXPECT_EQ(document["network"]["links"][0]["direction"]["value"], "from_host");
  EXPECT_FALSE(document["network"]["links"][0].contains("rate_bps"));
  EXPECT_EQ(document["jobs"][0]["placement"]["value"].size(), 3u);
  EXPECT_EQ(document["jobs"][0]["strategy"]["origin"], "preset");
  EXPECT_EQ(document["sweep"][0]["key"], "job.framework");
  EXPECT_EQ(document["expectations"][1]["at_most"]["value"], 1.5);
  EXPECT_EQ(document["run"]["seed"]["value"], 1);
}

TEST(ToJson, CountsLongDerivedLists) {
  const auto document = to_json(parsed("[network]\nhosts = 5000\n[job]\nmodel = \"vgg16\"\n"));
  EXPECT_EQ(document["jobs"][0]["hosts"]["count"], 5000);
  EXPECT_EQ(document["jobs"][0]["hosts"]["value"], nullptr);
}

TEST(ExpectationsIn, ReadsBackWhatADocumentSays) {
  const Experiment experiment = parsed(varied_experiments().back());
  ASSERT_EQ(experiment.expectations.size(), 2u);
  EXPECT_EQ(expectations_in(to_json(experiment)), experiment.expectations);
}

TEST(ExpectationsIn, LeavesOutWhatIsNone) {
  using nlohmann::ordered_json;
  for (const char* text : {"null", "[]", "{}", R"({"expectations": 7})",
                           R"({"expectations": [7, {}, {"of": 1, "equals": []}]})"}) {
    EXPECT_TRUE(expectations_in(ordered_json::parse(text)).empty()) << text;
  }
}

}  // namespace
}  // namespace tw::spec
