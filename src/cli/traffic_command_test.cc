// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cli/test_program.h"
#include "trainwire/command/traffic_options.h"
#include "trainwire/load/load_file.h"
#include "trainwire/text/traffic_plot.h"
#include "trainwire/traffic/sink.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace tw::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

const transport::tcp::Token kToken = {std::byte{0xab}};

class TrafficCommand : public testing::Test {
 protected:
  TrafficCommand() {
    std::string pattern = std::filesystem::temp_directory_path() / "tw-traffic-XXXXXX";
    folder_ = ::mkdtemp(pattern.data());
  }
  ~TrafficCommand() override { std::filesystem::remove_all(folder_); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
    return folder_ / name;
  }
  static std::string read(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::filesystem::path folder_;
};

TEST_F(TrafficCommand, MakeWritesALoadAndShowsItOnAScreen) {
  const std::string path = folder_ / "load.csv";
  const Result made = trainwire(
      {"traffic", "make", "--kind", "burst", "--rate", "6Gbit", "--duration", "1s", "-o", path});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_LE(std::count(made.out.begin(), made.out.end(), '\n'), 30);
  EXPECT_THAT(made.out, HasSubstr("1 ms of every 10 ms at 18 Gbit/s, 4.667 Gbit/s between them"));
  EXPECT_THAT(made.out, HasSubstr("websearch has a mean of 1711 kB"));
  // 100 periods of 7.5 MB.
  const load::Load load = load::parse_load(read(path), path);
  EXPECT_NEAR(static_cast<double>(load.total().count()), 750e6, 1000);
  EXPECT_EQ(load.flows.front().destination, "sink");
}

TEST_F(TrafficCommand, MakeSaysTheSameInJson) {
  const Result made = trainwire({"traffic", "make", "--rate", "800Mbit", "--json"});
  const json document = json::parse(made.out);
  EXPECT_EQ(document.at("schema"), 1);
  EXPECT_NEAR(document.at("mean_bps").get<double>(), 800e6, 1e4);
  EXPECT_EQ(document.at("distribution").at("mean_bytes"), 1711250.0);
}

TEST_F(TrafficCommand, MakeRefusesWhatCannotBe) {
  const auto error = [](std::vector<std::string> options, int code) {
    std::vector<std::string> words{"traffic", "make"};
    words.insert(words.end(), options.begin(), options.end());
    const Result result = trainwire(words);
    EXPECT_EQ(result.code, code) << result.err;
    return result.err;
  };
  EXPECT_THAT(error({}, 2), HasSubstr("--rate is missing"));
  EXPECT_THAT(error({"--rate", "fast"}, 2), HasSubstr("\"fast\" is no rate"));
  EXPECT_THAT(error({"--rate", "1G", "--duration", "0s"}, 2), HasSubstr("no time above 0"));
  EXPECT_THAT(error({"--rate", "1G", "--seed", "-1"}, 2), HasSubstr("no whole number"));
  EXPECT_THAT(error({"--rate", "1G", "--kind", "burst", "--height", "tall"}, 2),
              HasSubstr("is no number"));
  EXPECT_THAT(error({"--rate", "1G", "--kind", "burst", "--height", "20"}, 2),
              HasSubstr("at most 10 times"));
  EXPECT_THAT(error({"--rate", "400G", "--duration", "1h"}, 2), HasSubstr("more than a file"));
  EXPECT_THAT(error({"--rate", "1G", "--to", "a,b"}, 2), HasSubstr("no commas"));
  EXPECT_THAT(error({"--rate", "1G", "--flows", "0"}, 2), HasSubstr("--flows"));
  EXPECT_THAT(error({"--rate", "1G", "--distribution", "data-mining"}, 3),
              HasSubstr("did you mean \"datamining\"?"));
  const std::string falling = file("sizes.txt", "0 0\n10 0.5\n5 1\n");
  EXPECT_THAT(error({"--rate", "1G", "--distribution", falling}, 3),
              HasSubstr("sizes.txt:3: the size falls"));
  EXPECT_THAT(error({"--rate", "1G", "--json", "-o", "-"}, 2), HasSubstr("standard output"));
}

TEST_F(TrafficCommand, SendPlaysALoadFileAndGivesAccount) {
  const traffic::Sink sink({.address = "127.0.0.1", .token = kToken});
  const std::string load =
      file("load.csv", "start_s,destination,bytes\n0,a,1000000\n0.01,a,2000\n");
  const Result sent =
      trainwire({"traffic", "send", load, "--to", fmt::format("127.0.0.1:{}", sink.port()),
                 "--token", transport::tcp::text_of(kToken), "--json"});
  ASSERT_EQ(sent.code, 0) << sent.err;
  const json document = json::parse(sent.out);
  EXPECT_EQ(document.at("acknowledged_bytes"), 1'002'000);
  EXPECT_EQ(document.at("flows").at("finished"), 2);
  EXPECT_EQ(sink.counts().received, 1'002'000_B);
}

TEST_F(TrafficCommand, SendPlaysWithoutAFile) {
  const traffic::Sink sink({.address = "127.0.0.1", .token = kToken});
  const std::string token = file("token", transport::tcp::text_of(kToken) + "\n");
  const Result sent =
      trainwire({"traffic", "send", "--kind", "long", "--rate", "50Mbit", "--duration", "200ms",
                 "--to", fmt::format("localhost:{}", sink.port()), "--token", "@" + token});
  // localhost may be ::1 first, where nobody listens.
  if (sent.code == 3) GTEST_SKIP() << sent.err;
  ASSERT_EQ(sent.code, 0) << sent.err;
  EXPECT_THAT(sent.out, HasSubstr("load: requested 50 Mbit/s, achieved"));
  EXPECT_THAT(sent.out, HasSubstr("started late by"));
}

TEST_F(TrafficCommand, SendSaysWhatIsMissingOrWrong) {
  const std::string token = transport::tcp::text_of(kToken);
  EXPECT_THAT(trainwire({"traffic", "send", "--rate", "1G"}).err, HasSubstr("--to is missing"));
  EXPECT_THAT(trainwire({"traffic", "send", "--rate", "1G", "--to", "127.0.0.1"}).err,
              HasSubstr("is no HOST:PORT"));
  EXPECT_THAT(trainwire({"traffic", "send", "--rate", "1G", "--to", "127.0.0.1:9"}).err,
              HasSubstr("token is missing"));
  EXPECT_THAT(
      trainwire({"traffic", "send", "--rate", "1G", "--to", "127.0.0.1:9", "--token", "xyz"}).err,
      HasSubstr("32 hexadecimal digits"));
  const Result nobody =
      trainwire({"traffic", "send", "--rate", "1G", "--to", "127.0.0.1:1", "--token", token});
  EXPECT_EQ(nobody.code, 3);
  EXPECT_THAT(nobody.err, HasSubstr("does the sink run there?"));
  const traffic::Sink sink({.address = "127.0.0.1", .token = kToken});
  const Result wrong =
      trainwire({"traffic", "send", "--rate", "1G", "--to",
                 fmt::format("127.0.0.1:{}", sink.port()), "--token", std::string(32, '0')});
  EXPECT_EQ(wrong.code, 4);
  EXPECT_THAT(wrong.err, HasSubstr("does not take the token"));
}

TEST_F(TrafficCommand, SinkSaysWhatToTypeAndWhatItTook) {
  const Result took = trainwire({"traffic", "sink", "--for", "50ms"});
  EXPECT_EQ(took.code, 0);
  EXPECT_THAT(took.err, HasSubstr("send: TRAINWIRE_TOKEN="));
  EXPECT_THAT(took.out, HasSubstr("took 0 B in 0 complete flows"));
  EXPECT_EQ(trainwire({"traffic", "sink", "--port", "70000"}).code, 2);
  EXPECT_EQ(trainwire({"traffic", "sink", "--bind", "192.0.2.1"}).code, 3);
}

TEST(DestinationOption, ReadsNamesAndAddressesOfBothVersions) {
  EXPECT_EQ(command::destination_option("10.0.0.2:5001").endpoint,
            (transport::tcp::Endpoint{.address = "10.0.0.2", .port = 5001}));
  EXPECT_EQ(command::destination_option("b=[fd00::2]:80").name, "b");
  EXPECT_EQ(command::destination_option("b=[fd00::2]:80").endpoint.address, "fd00::2");
}

TEST(StartRates, AreBytesOfStartsByTheirBin) {
  using namespace std::chrono_literals;
  // Two bins of 1 s; 1 MB in the second is 8 Mbit/s; what starts later is not drawn.
  const load::Load load{.flows = {{.start = 1500ms, .size = 1_MB}, {.start = 2s, .size = 1_MB}}};
  EXPECT_THAT(text::start_rates(load, 2s, 2), testing::ElementsAre(0, 8e6));
}

TEST(FoldedRates, AreTheMeanOverWholePeriods) {
  using namespace std::chrono_literals;
  // Periods of 2 s in 5 s: two. 1 MB and 3 MB in the first second of each: 16 Mbit/s on average.
  const load::Load load{.duration = 5s,
                        .flows = {{.start = 0s, .size = 1_MB},
                                  {.start = 2500ms, .size = 3_MB},
                                  {.start = 4s, .size = 50_MB}}};
  EXPECT_THAT(text::folded_rates(load, 2s, 2), testing::ElementsAre(16e6, 0));
}

TEST(SizeBins, CountFlowsAndBytesByPowersOfTen) {
  const load::Load load{.flows = {{.size = 1000_B}, {.size = 1001_B}, {.size = 50_MB}}};
  const auto bins = text::size_bins(load);
  ASSERT_EQ(bins.size(), 6u);
  EXPECT_EQ(bins[0].flows, 1);
  EXPECT_EQ(bins[1].bytes, 1001);
  EXPECT_EQ(bins[5].flows, 1);
}

}  // namespace
}  // namespace tw::cli
