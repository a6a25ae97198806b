// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/load_file.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::load {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

std::string problem(const std::string& text) {
  try {
    parse_load(text, "load.csv");
  } catch (const DataError& error) {
    return error.what();
  }
  return "";
}

const std::string kHeader = "start_s,destination,bytes\n";

TEST(LoadFile, IsReadBackAsItWasWritten) {
  const Load load{.duration = 10s,
                  .flows = {{.start = 1ns, .destination = "a", .size = 0_B},
                            {.start = 99999999999ns, .destination = "", .size = 7_B},
                            {.start = 100s, .destination = "b c", .size = 1_MB}}};
  EXPECT_EQ(parse_load(load_text(load), "x"), load);
}

TEST(LoadFile, KeepsNanoseconds) {
  const Load load = parse_load(kHeader + "0.000000001,a,5\n12.5,a,6\n13,a,7\n", "x");
  EXPECT_EQ(load.flows[0].start, 1ns);
  EXPECT_EQ(load.flows[1].start, 12500ms);
  // 18 bytes in the 13 s until its last start.
  EXPECT_NEAR(load.mean_rate().bits_per_second(), 18 * 8 / 13.0, 1e-9);
}

TEST(LoadFile, SaysWhatIsWrongAndWhere) {
  EXPECT_THAT(problem(""), HasSubstr("is missing"));
  EXPECT_THAT(problem("1,a,5\n"), HasSubstr("load.csv:1: the first line of a load is"));
  EXPECT_THAT(problem(kHeader + "2,a,5\n1,a,5\n"),
              HasSubstr("load.csv:3: this flow starts before the one above it"));
  EXPECT_THAT(problem(kHeader + "1,a\n"), HasSubstr("load.csv:2: a flow is three values"));
  EXPECT_THAT(problem(kHeader + "1,a,5,6\n"), HasSubstr("a flow is three values"));
  EXPECT_THAT(problem(kHeader + "-1,a,5\n"), HasSubstr("\"-1\" is no start"));
  EXPECT_THAT(problem(kHeader + "1.0000000001,a,5\n"), HasSubstr("at most 9 decimals"));
  EXPECT_THAT(problem(kHeader + "1.-5,a,5\n"), HasSubstr("is no start"));
  EXPECT_THAT(problem(kHeader + "1,a,1e6\n"), HasSubstr("\"1e6\" is no whole number"));
  EXPECT_THAT(problem(kHeader + "1,a,-5\n"), HasSubstr("is no whole number"));
  EXPECT_THAT(problem("# duration_s,soon\n"), HasSubstr("the duration is no number"));
}

TEST(LoadFile, RefusesDestinationsThatWouldBreakALine) {
  EXPECT_THROW(load_text({.flows = {{.destination = "a,b"}}}), std::logic_error);
}

}  // namespace
}  // namespace tw::load
