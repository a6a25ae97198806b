// SPDX-License-Identifier: Apache-2.0
#include "trainwire/study/fit_table.h"

#include "trainwire/base/error.h"

#include <gmock/gmock.h>

namespace tw::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refused(std::string_view text) {
  try {
    parse_fit_table(text, "t.csv");
  } catch (const DataError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(FitTable, ReadsCsvWithAHeader) {
  const FitTable table = parse_fit_table("load,t\n0,1\n5,2\n", "t.csv");
  EXPECT_THAT(table.header, ElementsAre("load", "t"));
  EXPECT_THAT(table.rows, ElementsAre(ElementsAre("0", "1"), ElementsAre("5", "2")));
  EXPECT_FALSE(table.is_sweep);
  EXPECT_EQ(table.column("t", "--y"), 1u);
}

TEST(FitTable, ReadsTheRowsOfBenchExchange) {
  const FitTable table = parse_fit_table(
      R"({"schema": 1, "rows": [{"bytes": 1024, "time_s": 0.5}, {"bytes": 2048, "time_s": 0.75}]})",
      "bench.json");
  EXPECT_THAT(table.header, ElementsAre("bytes", "time_s"));
  EXPECT_THAT(table.rows[1], ElementsAre("2048", "0.75"));
}

// One line through both would be of neither.
TEST(FitTable, KeepsTwoRunsOfABenchmarkApart) {
  const std::string run =
      "# OSU MPI Allreduce Latency Test v7.5\n# Size       Avg Latency(us)\n4    2.50\n8    2.60\n";
  EXPECT_TRUE(parse_fit_table(run, "osu.txt").settings.empty());
  const FitTable two = parse_fit_table(run + "\n" + run, "osu.txt");
  EXPECT_THAT(two.settings, ElementsAre("table"));
  EXPECT_EQ(two.rows[0].back(), "1");
  EXPECT_EQ(two.rows[3].back(), "2");
}

TEST(FitTable, MakesColumnsOfASweepsSettings) {
  const FitTable table = parse_fit_table(
      "folder,settings,complete\n"
      "a,job.model=vgg16 traffic.0.load=0.3,1\n"
      "b,traffic.0.load=0.6 name=two words,1\n",
      "points.csv");
  EXPECT_TRUE(table.is_sweep);
  EXPECT_THAT(table.settings, ElementsAre("job.model", "traffic.0.load", "name"));
  EXPECT_THAT(table.rows[0], ElementsAre("a", testing::_, "1", "vgg16", "0.3", ""));
  EXPECT_THAT(table.rows[1], ElementsAre("b", testing::_, "1", "", "0.6", "two words"));
}

TEST(FitTable, NamesTheNearestColumn) {
  const FitTable table = parse_fit_table("load,time_s\n0,1\n", "t.csv");
  try {
    table.column("time", "--y");
    FAIL();
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("did you mean \"time_s\"?"));
    EXPECT_THAT(error.what(), HasSubstr("--y"));
  }
}

TEST(FitTable, RefusesWhatIsNoTable) {
  EXPECT_THAT(refused(""), HasSubstr("empty"));
  EXPECT_THAT(refused("x,y\n"), HasSubstr("no rows"));
  EXPECT_THAT(refused("x,x\n1,2\n"), HasSubstr("two columns are named \"x\""));
  EXPECT_THAT(refused("x,y\n1,2\n3\n"), HasSubstr("row 2 has 1 fields where the header has 2"));
  EXPECT_THAT(refused("{\"a\": 1}"), HasSubstr("rows[]"));
  EXPECT_THAT(refused("{\"rows\": [1]}"), HasSubstr("no objects"));
  EXPECT_THAT(refused("{\"rows\": []}"), HasSubstr("no rows"));
  EXPECT_THAT(refused("folder,settings,complete\n"), HasSubstr("finishes it"));
  std::string many = "folder,settings,complete\na,";
  for (int i = 0; i < 65; ++i) many += "k" + std::to_string(i) + "=1 ";
  EXPECT_THAT(refused(many + ",1\n"), HasSubstr("more than 64 different settings"));
}

TEST(FitTable, KnowsTheValuesOfSettings) {
  const FitTable table = parse_fit_table(
      "folder,settings,complete\na,\"network.loss=\"\"0.01%\"\" network.delay=5ms "
      "job.model=vgg16\",1\n",
      "points.csv");
  EXPECT_EQ(table.number(0, *table.find("network.loss")), 1e-4);
  EXPECT_EQ(table.number(0, *table.find("network.delay")), 0.005);
  EXPECT_FALSE(table.number(0, *table.find("job.model")));
  EXPECT_EQ(setting_in("25Gbit"), 25e9);
  EXPECT_EQ(setting_in("64MiB"), 67'108'864);
  EXPECT_FALSE(setting_in("\""));
  EXPECT_FALSE(setting_in(""));
}

TEST(FitTable, RefusesWhatCannotBeSquared) {
  EXPECT_TRUE(can_be_squared(0));
  EXPECT_TRUE(can_be_squared(-1e18));
  EXPECT_FALSE(can_be_squared(1e308));
  EXPECT_FALSE(can_be_squared(1e-200));
}

TEST(FitTable, KnowsNumbers) {
  EXPECT_EQ(number_in("1e3"), 1000);
  EXPECT_EQ(number_in(" -2.5 "), -2.5);
  EXPECT_FALSE(number_in("25Gbit"));
  EXPECT_FALSE(number_in(""));
  EXPECT_FALSE(number_in("nan"));
  EXPECT_FALSE(number_in("1e999"));
}

}  // namespace
}  // namespace tw::study
