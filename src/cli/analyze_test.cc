// SPDX-License-Identifier: Apache-2.0
// analyze, info and schema as a user meets them.
#include "trainwire/base/printable.h"
#include "trainwire/capture/ladder.h"
#include "trainwire/capture/test_files.h"
#include "trainwire/cli/commands.h"
#include "trainwire/cli/test_captures.h"
#include "trainwire/cli/test_program.h"
#include "trainwire/record/run_folder.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include <csignal>
#include <fstream>
#include <sstream>
#include <thread>

namespace tw::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

/// Frames as tcpdump -s 96 keeps them.
constexpr capture::LadderOptions kShort{.snaplen = 96};

class Analyze : public testing::Test {
 protected:
  std::string capture(std::string_view ladder, const std::string& name = "job.pcap") const {
    return folder_.file(name, capture::ladder_pcap(ladder, kShort));
  }
  std::string text(const std::string& name, std::string_view content) const {
    return folder_.file(name, std::as_bytes(std::span(content)));
  }
  std::string path(const std::string& name) const { return folder_.path() / name; }
  json document(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--json", "--no-folder"});
    const Result result = trainwire(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, IsEmpty());
    return json::parse(result.out);
  }

 private:
  capture::TemporaryFolder folder_;
};

TEST_F(Analyze, DocumentHasThePromisedFields) {
  const json all = document({"analyze", capture(ring_ladder(20))});
  EXPECT_EQ(all["schema"], 1);
  const std::map<std::string, std::vector<std::string>> promised{
      {"capture", {"packets", "bytes", "duration_s", "dropped", "files"}},
      {"flows", {"count", "by_class"}},
      {"iterations",
       {"count", "source", "confidence", "median_s", "ci_low_s", "ci_high_s", "p99_s", "times_s",
        "starts_s"}},
      {"quality", {"level", "reasons"}}};
  for (const auto& [part, fields] : promised) {
    for (const std::string& field : fields) EXPECT_TRUE(all[part].contains(field)) << part << field;
  }
  for (const char* field :
       {"hosts", "pairs", "collectives", "model_bytes", "bottleneck", "straggler", "findings"}) {
    EXPECT_TRUE(all.contains(field)) << field;
  }
}

TEST_F(Analyze, EveryPacketIsInOnePair) {
  // 20 steps x 6 rounds x 4 hosts x (4 frames + 1 acknowledgement).
  const json all = document({"analyze", capture(ring_ladder(20))});
  EXPECT_EQ(all["capture"]["packets"], 2400);
  int packets = 0;
  for (const json& pair : all["pairs"]) packets += pair["packets"].get<int>();
  EXPECT_EQ(packets, 2400);
  EXPECT_EQ(all["pairs"].size(), 8u);
  EXPECT_EQ(all["hosts"].size(), 4u);
  EXPECT_EQ(all["flows"]["count"], 8);
}

TEST_F(Analyze, FindsTheRingWithoutALog) {
  const json all = document({"analyze", capture(ring_ladder(20))});
  EXPECT_NEAR(all["iterations"]["count"].get<int>(), 20, 1);
  EXPECT_EQ(all["iterations"]["source"], "inferred");
  EXPECT_NEAR(all["iterations"]["median_s"].get<double>(), 0.1, 0.002);
  EXPECT_EQ(all["collectives"][0]["strategy"], "ring");
  EXPECT_NEAR(all["model_bytes"].get<double>(), 400'000, 4'000);
}

TEST_F(Analyze, SummaryHasFewLinesAndEndsWithWhatToDo) {
  const Result result = trainwire({"analyze", capture(ring_ladder(20)), "-o", path("x.run")});
  EXPECT_EQ(result.code, 0) << result.err;
  std::istringstream in(result.out);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  EXPECT_EQ(lines.back(), "page: file://" + path("x.run/report.html"));
  lines.pop_back();
  EXPECT_LE(lines.size(), 30u);
  EXPECT_THAT(lines.front(), StartsWith("Not the network: nothing is on the wire for"));
  EXPECT_THAT(lines, testing::Contains(StartsWith("job.pcap · ")));
  EXPECT_THAT(result.out, AllOf(HasSubstr("data quality"), HasSubstr("iterations"),
                                HasSubstr("collectives"), HasSubstr("findings")));
  EXPECT_THAT(lines.back(), StartsWith("next: "));
  EXPECT_THAT(result.err, IsEmpty());
}

TEST_F(Analyze, RunFolderHoldsTheTablesAndTheDocument) {
  const std::string file = capture(ring_ladder(20));
  ASSERT_EQ(trainwire({"analyze", file, "--out", path("x.run"), "-q"}).code, 0);
  const record::RunFile run = record::read_run(path("x.run"));
  EXPECT_TRUE(run.complete);
  EXPECT_EQ(run.summary.capture->packets, 2400U);
  EXPECT_EQ(run.provenance->command_line.at(1), "analyze");
  EXPECT_EQ(run.provenance->inputs.at(0).path, file);
  EXPECT_EQ(run.rows.at("flows"), 8);
  EXPECT_EQ(run.rows.at("pairs"), 8);
  for (const char* table :
       {"flows", "pairs", "iterations", "iteration_pairs", "windows", "collectives"}) {
    EXPECT_TRUE(fs::exists(path(fmt::format("x.run/{}.csv", table)))) << table;
  }
}

TEST_F(Analyze, WindowsAddUpToTheCaptureInEveryScope) {
  const std::string file = capture(ring_ladder(20));
  ASSERT_EQ(trainwire({"analyze", file, "--out", path("x.run"), "-q"}).code, 0);
  std::ifstream in(path("x.run/windows.csv"));
  std::string header;
  std::getline(in, header);
  EXPECT_EQ(header, "scope,from,to,flow,start_ns,width_ns,wire_bytes");
  std::map<std::string, long long> bytes;
  for (std::string line; std::getline(in, line);) {
    bytes[line.substr(0, line.find(','))] += std::stoll(line.substr(line.rfind(',') + 1));
  }
  const auto total = static_cast<long long>(record::read_run(path("x.run")).summary.capture->bytes);
  EXPECT_EQ(bytes["total"], total);
  EXPECT_EQ(bytes["pair"], total);
  EXPECT_EQ(bytes["flow"], total);
}

TEST_F(Analyze, ARunIsReplacedOnlyByForce) {
  const std::string file = capture(ring_ladder(4));
  ASSERT_EQ(trainwire({"analyze", file, "-o", path("x.run")}).code, 0);
  const Result again = trainwire({"analyze", file, "-o", path("x.run")});
  EXPECT_EQ(again.code, 3);
  EXPECT_THAT(again.err, HasSubstr("--force"));
  EXPECT_EQ(trainwire({"analyze", file, "-o", path("x.run"), "--force"}).code, 0);
}

TEST_F(Analyze, DefaultFolderIsNamedAfterTheCaptureAndNeverTaken) {
  const std::string file = capture(ring_ladder(4), "job.pcap");
  const fs::path before = fs::current_path();
  fs::current_path(path(""));
  EXPECT_EQ(trainwire({"analyze", file, "-q"}).code, 0);
  EXPECT_EQ(trainwire({"analyze", file, "-q"}).code, 0);
  fs::current_path(before);
  EXPECT_TRUE(fs::exists(path("job.run/run.json")));
  EXPECT_TRUE(fs::exists(path("job-2.run/run.json")));
}

TEST_F(Analyze, WhatIsNoCaptureIsASentenceAndLeavesNoFolder) {
  const auto refused = [&](const std::string& file, std::string_view sentence) {
    const Result result = trainwire({"analyze", file, "-o", path("x.run")});
    EXPECT_EQ(result.code, 3) << file;
    EXPECT_THAT(result.err, AllOf(HasSubstr(file), HasSubstr(std::string(sentence))));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_FALSE(fs::exists(path("x.run")));
  };
  refused(text("empty.pcap", ""), "empty");
  refused(text("readme.txt", "This is a text file, not a capture.\n"), "text");
  refused(path("missing.pcap"), "No such file");
  refused(capture("", "nothing.pcap"), "holds no packets");
}

TEST_F(Analyze, AnEmptyCaptureBesideALogIsToldAndSkipped) {
  const std::string empty = capture("", "nothing.pcap");
  const std::string log =
      text("x.csv", "rank,step,start,end\n0,0,1,2\n0,1,2,3\n0,2,3,4\n0,3,4,5\n0,4");
  const json all = document({"analyze", empty, log});
  ASSERT_EQ(all["sources"].size(), 2U);
  EXPECT_EQ(all["sources"][0]["skipped"], 1);
  EXPECT_EQ(all["sources"][1]["kind"], "capture");
  EXPECT_THAT(all["sources"][1]["reasons"].dump(), HasSubstr("holds no packets"));
  const Result silent =
      trainwire({"analyze", empty, text("readme.txt", "Not a record.\n"), "--no-folder"});
  EXPECT_EQ(silent.code, 3);
}

TEST_F(Analyze, ACaptureWithoutTcpIsAnalysedAndNothingIsInvented) {
  std::string ladder;
  for (int i = 0; i < 50; ++i) ladder += fmt::format("{:.3f} a > b udp 500\n", 0.01 * i);
  const json all = document({"analyze", capture(ladder)});
  EXPECT_THAT(all["collectives"], IsEmpty());
  EXPECT_THAT(all["findings"], Not(IsEmpty()));
  EXPECT_EQ(all["model_bytes"], nullptr);
  EXPECT_EQ(all["iterations"]["median_s"], nullptr);
}

TEST_F(Analyze, DamageIsToldAndFailsOnlyWhenStrict) {
  std::vector<std::byte> bytes = capture::ladder_pcap(ring_ladder(4), kShort);
  bytes.resize(bytes.size() - 20);
  const capture::TemporaryFolder folder;
  const std::string file = folder.file("cut.pcap", bytes);
  const Result lenient = trainwire({"analyze", file, "--no-folder"});
  EXPECT_EQ(lenient.code, 0);
  EXPECT_THAT(lenient.err, HasSubstr("is damaged at byte"));
  EXPECT_EQ(trainwire({"analyze", file, "--no-folder", "--strict"}).code, 4);
}

TEST_F(Analyze, ALogDefinesTheIterations) {
  // The ladder starts at 1,700,000,000 s; steps of 100 ms.
  std::string log = "rank,step,start,end\n";
  for (int i = 0; i < 20; ++i) {
    log += fmt::format("0,{},{:.3f},{:.3f}\n", i, 1.7e9 + 0.1 * i, 1.7e9 + 0.1 * (i + 1));
  }
  const std::string file = capture(ring_ladder(20));
  const Result result =
      trainwire({"analyze", file, "--log", text("log.csv", log), "--json", "-o", path("x.run")});
  ASSERT_EQ(result.code, 0) << result.err;
  const json all = json::parse(result.out);
  EXPECT_EQ(all["iterations"]["source"], "log");
  EXPECT_EQ(all["iterations"]["count"], 20);
  EXPECT_EQ(record::read_run(path("x.run")).rows.at("steps"), 20);
}

TEST_F(Analyze, ALogOfAnotherTimeIsTold) {
  const Result result =
      trainwire({"analyze", capture(ring_ladder(4)), "--no-folder", "--log",
                 text("log.csv", "rank,step,start,end\n0,0,1700007200,1700007201\n")});
  EXPECT_THAT(result.err, HasSubstr("2.00 h after the capture"));
}

TEST_F(Analyze, HostsAreNamedAsAskedAndTerminalsProtected) {
  const std::string hosts = text("hosts.csv", "10.0.0.1,worker0\n10.0.0.2,worker1\n");
  const std::string file = capture(ring_ladder(20));
  const json all = document({"analyze", file, "--hosts", hosts});
  EXPECT_EQ(all["hosts"].size(), 4u);
  EXPECT_THAT(all.dump(), HasSubstr("worker1"));
  const std::string hostile = text("hostile.csv", "10.0.0.1,ev\x1b[2Jil\n");
  const Result refused = trainwire({"analyze", file, "--hosts", hostile, "--no-folder"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("is no name"), Not(HasSubstr("\x1b"))));
}

TEST_F(Analyze, NamesInRefusalsAreMadeHarmless) {
  EXPECT_THAT(trainwire({"analyze", path("a\x1b[2J.pcap")}).err,
              AllOf(HasSubstr("a\\x1b[2J.pcap"), Not(HasSubstr("\x1b"))));
}

TEST_F(Analyze, WrongOptionsAreUsageErrors) {
  const std::string file = capture(ring_ladder(1));
  EXPECT_EQ(trainwire({"analyze"}).code, 2);
  EXPECT_EQ(trainwire({"analyze", file, "--window", "10", "--no-folder"}).code, 2);
  const Result filter = trainwire({"analyze", file, "--filter", "tcp prot 80", "--no-folder"});
  EXPECT_EQ(filter.code, 2);
  EXPECT_THAT(filter.err, HasSubstr("tcp prot 80"));
}

TEST_F(Analyze, AFilterTakesItsShare) {
  const std::string file = capture(ring_ladder(20));
  const json all =
      document({"analyze", file, "--filter", "src host 10.0.0.1 and dst host 10.0.0.2"});
  EXPECT_EQ(all["capture"]["packets"], 20 * 6 * 4);
  const Result none = trainwire({"analyze", file, "--filter", "udp", "--no-folder"});
  EXPECT_EQ(none.code, 3);
  EXPECT_THAT(none.err, HasSubstr("no packet passes the filter"));
}

TEST_F(Analyze, APartHasNoPacketsToFilter) {
  const std::string part = path("a.part");
  EXPECT_EQ(trainwire({"analyze", capture(ring_ladder(20)), "--partial", "-o", part}).code, 0);
  EXPECT_EQ(trainwire({"analyze", part, "--no-folder"}).code, 0);
  const Result filtered = trainwire({"analyze", part, "-f", "tcp", "--no-folder"});
  EXPECT_EQ(filtered.code, 2);
  EXPECT_THAT(filtered.err, HasSubstr("holds no packets"));
}

TEST_F(Analyze, AnInterruptKeepsWhatWasRead) {
  const std::vector<std::byte> bytes = capture::ladder_pcap(ring_ladder(20), kShort);
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  // Opening returns when the other side has opened: by then interrupts are only remembered.
  std::thread writer([&] {
    std::ofstream out(pipe, std::ios::binary);
    out.write(reinterpret_cast<const char*>(bytes.data()),
              static_cast<std::streamsize>(bytes.size() / 2));
    out.flush();
    std::raise(SIGINT);
    out.write(reinterpret_cast<const char*>(bytes.data() + bytes.size() / 2),
              static_cast<std::streamsize>(bytes.size() - bytes.size() / 2));
  });
  const Result result = trainwire({"analyze", pipe, "-o", path("x.run")});
  writer.join();
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(result.err, HasSubstr("interrupted"));
  const record::RunFile run = record::read_run(path("x.run"));
  EXPECT_FALSE(run.complete);
  EXPECT_EQ(run.partial, "interrupted");
}

TEST_F(Analyze, InfoPrintsCapinfosFactsAndCounts) {
  const Result result = trainwire({"info", capture(ring_ladder(20))});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(
      result.out,
      AllOf(HasSubstr("Number of packets:   2,400\n"), HasSubstr("Packet size limit:   96 bytes\n"),
            HasSubstr("Flows:               8 "), HasSubstr("Packets by kind:     2,400 tcp\n")));
  EXPECT_THAT(result.out, HasSubstr("First packet time:   2023-11-14 22:13:20.000000000 UTC\n"));
}

TEST_F(Analyze, InfoGoesOnAfterAFileItCannotRead) {
  const Result result =
      trainwire({"info", "--json", path("missing.pcap"), capture(ring_ladder(2))});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(result.err, HasSubstr("missing.pcap"));
  const json all = json::parse(result.out);
  ASSERT_EQ(all["files"].size(), 1u);
  EXPECT_EQ(all["files"][0]["packets"], 240);
  EXPECT_EQ(all["files"][0]["pairs"], 8);
  EXPECT_EQ(all["files"][0]["verdicts"]["tcp"], 240);
}

TEST_F(Analyze, InfoDescribesACaptureWithoutPackets) {
  const Result result = trainwire({"info", capture("")});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("Number of packets:   0\n"));
}

TEST(SchemaCommand, ExplainsEveryTableOrOne) {
  const Result all = trainwire({"schema"});
  EXPECT_EQ(all.code, 0);
  EXPECT_THAT(all.out,
              AllOf(HasSubstr("flows.csv"), HasSubstr("links.csv"), HasSubstr("rtt_min_ns")));
  const Result one = trainwire({"schema", "pairs", "--json"});
  const json document = json::parse(one.out);
  EXPECT_EQ(document["tables"].size(), 1u);
  EXPECT_EQ(document["tables"][0]["columns"][0]["name"], "from");
}

TEST(SchemaCommand, NamesTheNearestTable) {
  const Result result = trainwire({"schema", "flow"});
  EXPECT_EQ(result.code, 2);
  EXPECT_THAT(result.err, HasSubstr("did you mean \"flows\"?"));
}

}  // namespace
}  // namespace tw::cli
