// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/command/app.h"
#include "trainwire/guide/commands.h"
#include "trainwire/result/test_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <sstream>

namespace tw::guide {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::StartsWith;

/// What `trainwire expect` prints with these options.
std::string expect(std::vector<std::string> options) {
  const command::Command only{"expect", "", declare_expect, ""};
  command::Application application({&only, 1});
  options.insert(options.begin(), "expect");
  application.parse(options);
  std::ostringstream out;
  (*application.body())({.out = out, .err = out});
  return out.str();
}

/// Why it refuses them.
std::string refusal(const std::vector<std::string>& options) {
  try {
    return "printed: " + expect(options);
  } catch (const Error& error) {
    return error.what();
  }
}

// Four hosts of eight with 2 x 24 GB/s: rings reach 48.
TEST(Expect, SaysTheCeilingAndWhatBindsFirst) {
  const std::string text =
      expect({"--ranks", "32", "--per-host", "8", "--nic", "2x200Gbit", "--op", "all_gather"});
  EXPECT_THAT(text, StartsWith("Up to 48.0 GB/s bus bandwidth, bound by the NICs"));
  EXPECT_THAT(text, HasSubstr("NCCL 2.28 would choose: ring/LL"));
  EXPECT_THAT(text, HasSubstr("all_gather on 32 ranks, 4 hosts of 8 h100 (NVLink)"));
}

TEST(Expect, TakesTheNamesOfNcclTests) {
  EXPECT_EQ(expect({"--ranks", "4", "--nic", "10Gbit", "--op", "alltoall"}),
            expect({"--ranks", "4", "--nic", "10Gbit", "--op", "all_to_all"}));
}

TEST(Expect, HasNcclTestsColumnsAsJson) {
  const std::string text = expect({"--ranks", "4", "--nic", "10Gbit", "--transport", "socket",
                                   "--sizes", "1MiB,1GiB", "--json"});
  const json document = json::parse(text);
  ASSERT_EQ(document.at("rows").size(), 2u);
  const json& row = document.at("rows").at(1);
  EXPECT_EQ(row.at("count"), 1 << 28);
  EXPECT_EQ(row.at("way"), "ring/Simple");
  EXPECT_EQ(row.at("limit"), "nic");
  EXPECT_NEAR(row.at("busbw_bps").get<double>(), 8 * 1.2e9, 1e7);
  EXPECT_NEAR(row.at("busbw_bps").get<double>() / row.at("algbw_bps").get<double>(), 1.5, 1e-9);
}

// 1 GiB in 60 ms is 17.9 GB/s, times 15/16; one NIC of 12 GB/s would give at most 12, two 24.
TEST(Expect, LaysAMeasuredTableBeside) {
  const result::TestFolder folder;
  std::string text;
  for (int rank = 0; rank < 16; ++rank) {
    text += "#  Rank " + std::to_string(rank) + " Group 0 Pid 1 on host" +
            std::to_string(rank / 8) + " device 0 [0x81] NVIDIA H100\n";
  }
  text +=
      "# size count type redop root time algbw busbw #wrong time algbw busbw #wrong\n"
      " 1048576 16384 float none -1 150 6.99 6.55 0 150 6.99 6.55 0\n"
      " 67108864 1048576 float none -1 5700 11.77 11.04 0 5700 11.77 11.04 0\n"
      " 1073741824 16777216 float none -1 90000 11.93 11.18 0 90000 11.93 11.18 0\n"
      " 4294967296 67108864 float none -1 358000 12.00 11.25 0 358000 12.00 11.25 0\n";
  const std::string file = folder.file("perf.log", text);
  const std::string shown = expect({"--nic", "2x100Gbit", "--op", "all_gather", "--against", file});
  EXPECT_THAT(shown, StartsWith("Large messages reach 11.2 of 2"));
  EXPECT_THAT(shown, HasSubstr("looks like 1 of 2 NICs is used"));
  EXPECT_THAT(shown, HasSubstr("t = alpha + bytes / bandwidth"));
  EXPECT_EQ(expect({"--nic", "2x100Gbit", "--against", file}),
            shown);  // the file knows its operation
  EXPECT_THAT(refusal({"--nic", "2x100Gbit", "--op", "broadcast", "--against", file}),
              HasSubstr("write --op all_gather"));
  EXPECT_THAT(
      refusal({"--nic", "2x100Gbit", "--ranks", "2", "--op", "all_gather", "--against", file}),
      HasSubstr("is --op or --ranks another?"));
}

// 834.57/423.16 is the factor of 72 ranks alone, but not where they are.
TEST(Expect, AsksWhereRanksAreThatAreNotListed) {
  const result::TestFolder folder;
  const std::string file = folder.file(
      "perf.log",
      "8589934592 2147483648 float sum -1 20299 423.16 834.57 0 20006 429.37 846.82 0\n");
  EXPECT_THAT(
      refusal({"--nic", "400Gbit", "--against", file}),
      HasSubstr("--per-host: the file does not list which host each of its 72 ranks is on"));
  EXPECT_THAT(expect({"--nic", "400Gbit", "--per-host", "72", "--against", file}),
              HasSubstr("all_reduce on 72 ranks, 1 host of 72"));
}

TEST(Expect, DoesNotGuessWhatJoinsGpusThatItDoesNotKnow) {
  const result::TestFolder folder;
  const auto table = [&](const std::string& hosts) {
    std::string text;
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      text += "#  Rank " + std::to_string(rank) + " Group 0 Pid 1 on host" + hosts[rank] +
              " device 0 [0x02] NVIDIA GeForce RTX 5090\n";
    }
    // As much moves in a ring of two, and nothing of one rank.
    text += hosts.size() > 1
                ? " 67108864 16777216 float sum -1 29341.4 2.29 2.29 0 29337.0 2.29 2.29 0\n"
                  " 134217728 33554432 float sum -1 58479.5 2.30 2.30 0 58055.4 2.31 2.31 0\n"
                : " 67108864 16777216 float sum -1 29341.4 2.29 0.00 0 29337.0 2.29 0.00 0\n";
    return folder.file("perf" + hosts + ".log", text);
  };
  EXPECT_THAT(refusal({"--against", table("00")}),
              HasSubstr("what joins GPUs of a host is not known of NVIDIA GeForce RTX 5090"));
  const auto note = HasSubstr("note: NVIDIA GeForce RTX 5090 is not known here");
  EXPECT_THAT(expect({"--against", table("00"), "--intra", "pcie"}), note);
  EXPECT_THAT(expect({"--against", table("01"), "--nic", "25Gbit"}), note);
  EXPECT_THAT(refusal({"--against", table("0")}), HasSubstr("one rank has nobody"));
}

TEST(Expect, RefusesWhatIsNotThere) {
  EXPECT_THAT(refusal({}), HasSubstr("--ranks"));
  EXPECT_THAT(refusal({"--ranks", "16"}), HasSubstr("--nic"));
  EXPECT_THAT(refusal({"--ranks", "16", "--nic", "fast"}), HasSubstr("200Gbit"));
  EXPECT_THAT(refusal({"--ranks", "16", "--per-host", "3", "--nic", "1Gbit"}),
              HasSubstr("do not fill hosts"));
  EXPECT_THAT(refusal({"--ranks", "2", "--nic", "1Gbit", "--sizes", "1MB..1kB"}),
              HasSubstr("the smaller first"));
  EXPECT_THAT(refusal({"--ranks", "2", "--against", "/nowhere"}), HasSubstr("nowhere"));
}

}  // namespace
}  // namespace tw::guide
