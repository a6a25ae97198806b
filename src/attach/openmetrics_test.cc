// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/openmetrics.h"

#include <gmock/gmock.h>

#include <set>
#include <sstream>

namespace tw::attach {
namespace {

using testing::HasSubstr;

Exposed some() {
  return {.sums = {.seconds = 12.5,
                   .ways = {{{"10.0.0.1", "10.0.0.2"}, {.sent_bytes = 1000, .busy_s = 0.25}}},
                   .devices = {{"eth0", {.counts = {.sent = 2000}}}},
                   .rdma = {{"mlx5_0/1 np_cnp_sent", 3}}},
          .verdict = {.cause = "compute", .confidence = 0.8},
          .process = 4711,
          .version = "0.1"};
}

TEST(OpenMetrics, CountersEndInTotalAndTheTextInEof) {
  const std::string text = exposition(some());
  EXPECT_TRUE(text.ends_with("\n# EOF\n"));
  EXPECT_THAT(text, HasSubstr("# TYPE trainwire_sent_bytes counter\n"
                              "# UNIT trainwire_sent_bytes bytes\n"));
  EXPECT_THAT(text, HasSubstr("trainwire_sent_bytes_total{local=\"10.0.0.1\",remote=\"10.0.0.2\"} "
                              "1000\n"));
  EXPECT_THAT(text, HasSubstr("trainwire_info{version=\"0.1\",pid=\"4711\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("trainwire_verdict{trainwire_verdict=\"compute\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("trainwire_verdict{trainwire_verdict=\"loss\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("trainwire_rdma_events_total{device=\"mlx5_0/1\",counter=\"np_cnp_"
                              "sent\"} 3\n"));
}

/// What the format demands of every line: a family is described once, before its samples, which follow at once.
TEST(OpenMetrics, EverySampleBelongsToTheFamilyBeforeIt) {
  std::istringstream lines(exposition(some()));
  std::set<std::string> families;
  std::string family;
  std::string type;
  for (std::string line; std::getline(lines, line) && line != "# EOF";) {
    std::istringstream words(line);
    std::string first;
    std::string second;
    std::string third;
    words >> first >> second >> third;
    if (first == "#" && second == "TYPE") {
      family = third;
      words >> type;
      EXPECT_TRUE(families.insert(family).second) << line;
    } else if (first == "#") {
      EXPECT_EQ(third, family) << line;
      if (second == "UNIT") {
        std::string unit;
        words >> unit;
        EXPECT_TRUE(family.ends_with("_" + unit)) << line;
      }
    } else {
      const std::string end = type == "counter" ? "_total" : type == "info" ? "_info" : "";
      EXPECT_EQ(first.substr(0, first.find('{')), family + end) << line;
    }
  }
}

TEST(OpenMetrics, LabelsAreEscaped) { EXPECT_EQ(escaped("a\"b\\c\nd\x01"), "a\\\"b\\\\c\\nd?"); }

}  // namespace
}  // namespace tw::attach
