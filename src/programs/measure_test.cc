// SPDX-License-Identifier: Apache-2.0
#include "trainwire/programs/measure.h"

#include "trainwire/spec/parse.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace tw::programs {
namespace {

using testing::Contains;
using testing::HasSubstr;

/// Rank 1 sends rank 0 a million bytes, at the job's own port; both mark it.
constexpr const char* kPair = R"(
import os, socket, time
rank, start = int(os.environ["RANK"]), time.time()
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if rank == 0:
    c = socket.create_server(place).accept()[0]
    left = 1000000
    while left: left -= len(c.recv(left))
    time.sleep(0.5)  # the connection is there when somebody looks
else:
    for i in range(200):
        try: c = socket.create_connection(place); break
        except OSError: time.sleep(0.05)
    c.sendall(bytes(1000000))
    c.recv(1)
open(os.environ["TRAINWIRE_MARKS"], "a").write(f"{rank},0,{start},{time.time()}\n")
print("ended", os.environ["TRAINWIRE_JOB"], flush=True)
)";

std::string text_of(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(MeasurePrograms, TellsTheBytesOfJobsOnTheSameHostsApart) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  std::string folder = testing::TempDir() + "programsXXXXXX";
  ASSERT_NE(::mkdtemp(folder.data()), nullptr);
  std::ofstream(folder + "/pair.py") << kPair;
  const std::vector<spec::Override> sets{
      spec::parse_override("job.command=[\"python3\", \"" + folder + "/pair.py\"]")};
  const spec::Experiment experiment = spec::parse(
      "[network]\nhosts = 2\nrate = \"100Mbit\"\n[[job]]\nname = \"a\"\nranks = 2\n[[job]]\n"
      "name = \"b\"\nranks = 2\nplacement = [\"host1\", \"host0\"]\n[run]\ntimeout = \"30s\"\n",
      "x.toml", {.models = {}, .strategies = {"ring"}, .devices = {"a100"}}, sets);
  const ProgramOptions options{.environment = {"PATH=/usr/bin:/bin"},
                               .place = {.checks_network = false}};
  std::vector<std::string> lines;
  Onlooker onlooker;
  onlooker.line = [&](const std::string& line) { lines.push_back(line); };
  MeasuredPrograms measured;
  {
    record::RunFolder into(folder + "/run",
                           {.command = "exec", .command_line = {}, .version = "", .commit = ""},
                           result::IfThere::Refuse);
    measured = measure(experiment, options, request_of(experiment, options), into, onlooker);
  }
  ASSERT_TRUE(measured.is_whole()) << measured.failure.value_or("interrupted");
  EXPECT_THAT(lines, Contains(HasSubstr("a | ended a")));
  EXPECT_THAT(lines, Contains(HasSubstr("b | ended b")));
  // Rank 0 of a is on host0, that of b on host1: their bytes go opposite ways.
  std::map<std::pair<int, std::string>, std::uint64_t> sent;
  for (const flow::Flow& flow : measured.captured.traffic.flows) {
    sent[{flow.job, measured.captured.traffic.addresses[flow.key.source].text()}] +=
        flow.stream_bytes();
  }
  EXPECT_EQ((sent[{0, "10.77.0.2"}]), 1'000'000);
  EXPECT_EQ((sent[{1, "10.77.0.1"}]), 1'000'000);
  ASSERT_EQ(measured.run.steps->per_rank.size(), 4);
  EXPECT_EQ(measured.run.steps->per_rank[2].job, "b");
  EXPECT_THAT(text_of(folder + "/run/live.jsonl"), HasSubstr("{\"ended\":\"done\"}"));
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tw::programs
