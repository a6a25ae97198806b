// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/swept.h"

#include "trainwire/result/test_folder.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace tw::report {
namespace {

using nlohmann::ordered_json;
using result::TestFolder;

TEST(SweptValue, IsANumberInItsBaseUnit) {
  EXPECT_EQ(swept_value("4").number, 4);
  EXPECT_DOUBLE_EQ(*swept_value(R"("0.01%")").number, 1e-4);
  EXPECT_DOUBLE_EQ(*swept_value(R"("5ms")").number, 5e-3);
  EXPECT_EQ(swept_value(R"("10Gbit")").number, 1e10);
  EXPECT_EQ(swept_value(R"("1MB")").number, 1e6);
  EXPECT_EQ(swept_value(R"("5ms")").quantity, Quantity::Time);
}

TEST(SweptValue, IsAWordOtherwise) {
  const SweptValue value = swept_value(R"("ring")");
  EXPECT_EQ(value.text, "ring");
  EXPECT_FALSE(value.number);
}

TEST(SweptAxes, AreOfWhatDiffersBetweenPoints) {
  const auto axes = swept_axes({{R"(job.strategy="ring")", "network.hosts=4", "run.seed=1"},
                                {R"(job.strategy="star")", "network.hosts=4", "run.seed=2"}});
  ASSERT_EQ(axes.size(), 1);
  EXPECT_EQ(axes[0].label, "strategy");
  EXPECT_EQ(axes[0].quantity, Quantity::Word);
  EXPECT_EQ(axes[0].values[1].text, "star");
}

TEST(SweptAxes, TakePlainNumbersAlongWithAUnit) {
  // 0 has no unit of its own; the loss of a link is a share however it is written.
  EXPECT_EQ(swept_axes({{"network.delay=0"}, {R"(network.delay="5ms")"}})[0].quantity,
            Quantity::Time);
  EXPECT_EQ(swept_axes({{"network.loss=0"}, {"network.loss=0.1"}})[0].quantity, Quantity::Share);
  EXPECT_EQ(swept_axes({{R"(network.queue="5ms")"}, {R"(network.queue="5kB")"}})[0].quantity,
            Quantity::Word);
}

TEST(SweptAxes, AreNamedAsAReaderWouldSay) {
  EXPECT_EQ(swept_axes({{"traffic.0.load=0"}, {"traffic.0.load=1"}})[0].label, "traffic load");
  EXPECT_EQ(swept_axes({{"job.compute_time=0"}, {"job.compute_time=1"}})[0].label, "compute time");
}

TEST(SweptDocument, TellsWhichCheckFailed) {
  const TestFolder folder;
  folder.file("points.csv",
              "folder,settings,complete,checks_ok\npoint-000,network.loss=0,1,1\n"
              "point-001,\"network.loss=\"\"1%\"\"\",1,0\n../up,network.loss=0.5,1,0\n");
  for (const char* point : {"point-000", "point-001"}) {
    std::filesystem::create_directories(folder / point);
  }
  folder.file("point-000/report.html", "a page");
  folder.file("point-001/run.json", R"({"schema": 1, "program": "trainwire", "complete": true,
      "summary": {"engine": "netem", "checks": [{"name": "machine", "ok": false,
      "text": "it was busy"}, {"name": "scale", "ok": true, "caution": true,
      "text": "loss does not scale"}]}})");
  const auto document = swept_document(folder / "", {}, {});
  EXPECT_EQ(document["axes"][0]["numbers"], ordered_json({0.0, 0.01, 0.5}));
  EXPECT_TRUE(document["why"][0].is_null());
  EXPECT_EQ(document["why"][1].dump(), R"([{"name":"machine","text":"it was busy"}])");
  EXPECT_EQ(document["why"][2][0]["text"], "a check failed");
  EXPECT_EQ(document["cautions"].dump(), R"(["loss does not scale"])");
  EXPECT_EQ(document["pages"], ordered_json({true, false, false}));
}

TEST(SweptDocument, IsNullWithoutPoints) {
  const TestFolder folder;
  EXPECT_TRUE(swept_document(folder / "", {}, {}).is_null());
}

}  // namespace
}  // namespace tw::report
