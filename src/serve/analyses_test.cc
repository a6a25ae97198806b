// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/analyses.h"

#include "trainwire/result/test_folder.h"
#include "trainwire/serve/refusal.h"

#include <gmock/gmock.h>

#include <chrono>
#include <filesystem>
#include <list>
#include <thread>

namespace tw::serve {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;
using result::TestFolder;

/// A served folder, and a program that stands for ours: a script that is called as
/// `analyze FILE -o FOLDER -q`.
class Served {
 public:
  explicit Served(const std::string& script) {
    fs::create_directory(top_ / "root");
    program_ = top_.file("program", "#!/bin/sh\n" + script);
    fs::permissions(program_, fs::perms::owner_all);
    root_ = std::make_unique<Root>(top_ / "root");
  }
  const Root& root() const { return *root_; }
  const std::string& program() const { return program_; }
  std::string operator/(const std::string& name) const { return *root_ / name; }
  void capture(const std::string& name) const { top_.file("root/" + name, "packets"); }

 private:
  TestFolder top_;
  std::string program_;
  std::unique_ptr<Root> root_;
};

std::string add(Analyses& analyses, const std::string& name) {
  Analyses::Place place(analyses);
  return analyses.add(place, name);
}

/// The first task once it is in one of these states; waits at most ten seconds.
ordered_json first_task(Analyses& analyses, const std::vector<std::string>& states) {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (std::chrono::steady_clock::now() < limit) {
    const ordered_json task = analyses.document()["tasks"][0];
    if (std::find(states.begin(), states.end(), task["state"]) != states.end()) return task;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return analyses.document()["tasks"][0];
}

TEST(Analyses, MakeARunOfACapture) {
  const Served served(R"([ "$1 $3 $5" = "analyze -o -q" ] && cp "$2" "$4/run.json")");
  served.capture("job.pcap.zst");
  Analyses analyses(served.root(), served.program());
  EXPECT_EQ(add(analyses, "job.pcap.zst"), "1");
  const ordered_json task = first_task(analyses, {"done", "failed"});
  EXPECT_EQ(task["state"], "done") << task;
  EXPECT_EQ(task["run"], "job.run");
  EXPECT_TRUE(task["message"].is_null());
  EXPECT_GT(task["seconds"], 0);
  EXPECT_EQ(result::content(served / "job.run/run.json"), "packets");
  EXPECT_TRUE(fs::exists(served / "job.pcap.zst"));
}

TEST(Analyses, TellTheProgramsErrorAndLeaveNothing) {
  const Served served(
      "echo noise >&2; echo 'trainwire: reading x: no capture; take one' >&2; exit 3");
  served.capture("job.pcap");
  Analyses analyses(served.root(), served.program());
  add(analyses, "job.pcap");
  const ordered_json task = first_task(analyses, {"done", "failed"});
  EXPECT_EQ(task["state"], "failed");
  EXPECT_EQ(task["message"], "reading x: no capture; take one");
  EXPECT_TRUE(task["run"].is_null());
  EXPECT_TRUE(fs::is_empty(served.root().given()));
}

TEST(Analyses, TellHowASilentProgramEnded) {
  const Served served("kill -9 $$");
  served.capture("job.pcap");
  Analyses analyses(served.root(), served.program());
  add(analyses, "job.pcap");
  EXPECT_THAT(first_task(analyses, {"failed"})["message"].get<std::string>(),
              testing::HasSubstr("killed by signal 9"));
}

TEST(Analyses, AreEndedWhenTheyTakeTooLong) {
  const Served served("sleep 1000");
  served.capture("job.pcap");
  Analyses analyses(served.root(), served.program(), {.time = std::chrono::milliseconds(100)});
  add(analyses, "job.pcap");
  EXPECT_THAT(first_task(analyses, {"failed"})["message"].get<std::string>(),
              testing::HasSubstr("longer than 100 ms"));
  EXPECT_TRUE(fs::is_empty(served.root().given()));
}

TEST(Analyses, HaveALimitOfMemoryAndSaySo) {
  const Served limited("[ $(ulimit -d) = 1024 ] && echo 'trainwire: out of memory; x' >&2; exit 3");
  limited.capture("job.pcap");
  Analyses analyses(limited.root(), limited.program(), {.memory = 1_MiB});
  add(analyses, "job.pcap");
  EXPECT_THAT(first_task(analyses, {"failed"})["message"].get<std::string>(),
              testing::HasSubstr("needs more than 1049 kB of memory"));
}

TEST(Analyses, DoNotTouchAFolderThatIsThere) {
  const Served served("exit 3");
  served.capture("job.pcap");
  fs::create_directory(served / "job.run");
  Analyses analyses(served.root(), served.program());
  add(analyses, "job.pcap");
  first_task(analyses, {"failed"});
  EXPECT_TRUE(fs::exists(served / "job.run"));
  EXPECT_FALSE(fs::exists(served / "job-2.run"));
}

TEST(Analyses, AreEndedWithTheServerAndLeaveNothing) {
  const Served served("sleep 1000");
  served.capture("a.pcap");
  served.capture("b.pcap");
  {
    Analyses analyses(served.root(), served.program());
    add(analyses, "a.pcap");
    add(analyses, "b.pcap");
    EXPECT_EQ(first_task(analyses, {"running"})["state"], "running");
    EXPECT_EQ(analyses.document()["tasks"][1]["state"], "waiting");
    EXPECT_EQ(analyses.document()["tasks"][1]["seconds"], 0);
  }
  EXPECT_TRUE(fs::is_empty(served.root().given()));
}

TEST(Analyses, LetEightWaitAndRefuseTheNinth) {
  const Served served("sleep 1000");
  Analyses analyses(served.root(), served.program());
  std::list<Analyses::Place> places;
  for (std::size_t i = 0; i < kMostWaiting; ++i) places.emplace_back(analyses);
  try {
    const Analyses::Place ninth(analyses);
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 503);
  }
  places.pop_back();
  EXPECT_NO_THROW(places.emplace_back(analyses));
}

TEST(Analyses, AreForgottenAfterAHundred) {
  const Served served("exit 3");
  Analyses analyses(served.root(), served.program());
  for (int i = 0; i < 103; ++i) {
    add(analyses, "absent.pcap");
    while (analyses.document()["tasks"].back()["state"] != "failed") std::this_thread::yield();
  }
  EXPECT_EQ(analyses.document()["tasks"].size(), 100U);
  EXPECT_EQ(analyses.document()["tasks"][0]["task"], "4");
}

}  // namespace
}  // namespace tw::serve
