// SPDX-License-Identifier: Apache-2.0
// Hosts that join over this machine's own addresses, started by nobody: threads play them.
#include "trainwire/fleet/fleet.h"

#include "trainwire/base/error.h"
#include "trainwire/fleet/device.h"
#include "trainwire/fleet/handshake.h"
#include "trainwire/fleet/introduction.h"
#include "trainwire/fleet/meeting.h"
#include "trainwire/os/clock.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <poll.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <future>
#include <thread>

namespace tw::fleet {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::HasSubstr;

constexpr const char* kToken = "00112233445566778899aabbccddeeff";

std::string names_of(const Fleet& fleet) {
  std::string names;
  for (const JoinedHost& host : fleet.hosts()) names += host.name + " ";
  return names;
}

/// A run in a thread of its own that waits for hosts, with kToken.
class WaitingRun {
 public:
  explicit WaitingRun(int hosts, std::function<std::string(Fleet&)> then = names_of) {
    ::setenv("TRAINWIRE_TOKEN", kToken, 1);
    port_ = listen_everywhere(0).port;  // free a moment ago
    run_ = std::async(std::launch::async, [this, hosts, then = std::move(then)]() -> std::string {
      try {
        Fleet fleet({.launch = {.port = port_},
                     .hosts = hosts,
                     .longest_start = seconds(20),
                     .longest_joining = seconds(20),
                     .stop = [this] { return done_.load(); }});
        return then(fleet);
      } catch (const Error& error) {
        return error.what();
      }
    });
  }
  Link connect() const { return {connect_any({{"127.0.0.1", port_}}, seconds(20)), kMostContent}; }
  /// What `then` says of the fleet when all have joined, or the error.
  std::string result() { return run_.get(); }
  void stop() { done_ = true; }

 private:
  std::uint16_t port_ = 0;
  std::atomic<bool> done_ = false;
  std::future<std::string> run_;
};

/// What comes next from the run; null when it has closed.
json heard(Link& link) {
  for (;;) {
    link.pump();
    if (const auto frame = link.next()) return message_of(*frame);
    if (!link.is_open()) return {};
    pollfd waited{.fd = link.descriptor(), .events = POLLIN, .revents = 0};
    if (::poll(&waited, 1, 20'000) <= 0) return {};
  }
}

void join(Link& link, json hello) {
  meet_run(link, *transport::tcp::parse_token(kToken), std::move(hello), seconds(20), [] {});
}

json hello_of(int number, const std::string& name, const std::string& address) {
  return {{"number", number}, {"name", name}, {"address", address}, {"interface", "eth0"}};
}

/// Answers questions until the run is gone; `more` hears everything first.
void answer(Link& link, const std::function<void(const json&)>& more = {}) {
  for (json said = heard(link); !said.is_null(); said = heard(link)) {
    if (more) more(said);
    if (said.contains("begin")) link.send(json{{"begun", true}});
    if (said.contains("clock")) link.send(json{{"clock", said.at("clock")}, {"real_ns", 0}});
    if (said.contains("leave")) return;
  }
}

TEST(Meeting, IsReadAndWritten) {
  const std::vector<Meeting> both{{"10.0.0.1", 4000}, {"fd00::1", 4000}};
  EXPECT_EQ(parse_meetings("10.0.0.1:4000,[fd00::1]:4000"), both);
  EXPECT_EQ(text_of(both), "10.0.0.1:4000,[fd00::1]:4000");
  for (const char* wrong : {"", "10.0.0.1", ":4000", "a:0", "a:70000", "a:1,"}) {
    if (std::string_view(wrong) == "a:1,") continue;
    EXPECT_THROW(parse_meetings(wrong), SpecError) << wrong;
  }
}

TEST(Fleet, HearsAtOnceWhatALivingHostCannotDo) {
  const std::int64_t began = os::monotonic_ns();
  WaitingRun run(1, [](Fleet& fleet) -> std::string {
    fleet.begin({.folder = "/tmp"});
    return "begun";
  });
  Link link = run.connect();
  join(link, hello_of(0, "a", "10.0.0.1"));
  for (json said = heard(link); !said.is_null() && !said.contains("leave"); said = heard(link)) {
    if (said.contains("clock")) link.send(json{{"clock", said.at("clock")}, {"real_ns", 0}});
    if (said.contains("begin")) link.send(json{{"failed", "it may not"}});
  }
  EXPECT_EQ(run.result(), "a (10.0.0.1): it may not");
  EXPECT_LT(os::monotonic_ns() - began, 10'000'000'000);
}

TEST(HostProcess, FindsTheRunsFilesInItsOwnFolder) {
  const Folders folders{.run = "/home/a/x.run", .here = "/tmp/h"};
  nlohmann::json task{{"log", "/home/a/x.run/r0.log"}, {"other", {"/home/a/x.running", 3}}};
  move_paths(task, folders);
  EXPECT_EQ(task, (nlohmann::json{{"log", "/tmp/h/r0.log"}, {"other", {"/home/a/x.running", 3}}}));
}

TEST(Fleet, SaysWhoHasNotCome) {
  ::setenv("TRAINWIRE_TOKEN", kToken, 1);
  try {
    Fleet fleet({.launch = {}, .hosts = 2, .longest_start = std::chrono::milliseconds(20)});
    FAIL() << "nobody came";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("2 of 2 hosts have not joined (number 0, 1) within 20 ms"));
  }
}

TEST(Introduction, KeepsNamesThatAreFit) {
  EXPECT_EQ(introduced(hello_of(2, "node-7.b_c", "10.0.0.1"), 2).name, "node-7.b_c");
  for (const char* name :
       {"", "../../etc/cron", "/etc/x", ".hidden", "-o", "a b", "a\nb", "\u00e4"}) {
    EXPECT_EQ(introduced(hello_of(2, name, "fd00::1"), 2).name, "host2") << name;
  }
  EXPECT_EQ(introduced(hello_of(2, std::string(65, 'a'), "fd00::1"), 2).name, "host2");
  for (const char* address : {"", "10.0.0", "evil.example", "10.0.0.1 -x", "10.0.0.1\n"}) {
    EXPECT_THROW(introduced(hello_of(2, "a", address), 2), DataError) << address;
  }
}

TEST(Fleet, DoesNotWaitWithoutAToken) {
  ::unsetenv("TRAINWIRE_TOKEN");
  ::unsetenv("TRAINWIRE_TOKEN_FILE");
  EXPECT_THROW(Fleet({.launch = {}, .hosts = 2}), SpecError);
}

TEST(Fleet, SaysThatAFolderIsNoFileOfHosts) {
  if (devices().empty()) GTEST_SKIP() << "no network device but the loopback";
  try {
    Fleet fleet({.launch = {.kind = LaunchKind::Ssh, .host_file = testing::TempDir()}, .hosts = 1});
    FAIL() << "it is a folder";
  } catch (const SpecError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the file of hosts cannot be read"));
  }
}

TEST(Fleet, RefusesAHostWithoutTheToken) {
  WaitingRun run(1);
  Link stranger = run.connect();
  EXPECT_TRUE(heard(stranger).contains("nonce"));
  json hello = hello_of(0, "a", "10.0.0.1");
  hello["token"] = kToken;  // knowing it is shown by the proof alone
  stranger.send(hello);
  EXPECT_EQ(heard(stranger).value("refused", ""), "its token is not this run's");
  EXPECT_EQ(heard(stranger), json());
  run.stop();
  EXPECT_EQ(run.result(), "");
}

TEST(Fleet, TellsThoseWhoHaveJoinedThatItIsThere) {
  WaitingRun run(2);
  Link first = run.connect();
  join(first, hello_of(0, "a", "10.0.0.1"));
  EXPECT_TRUE(heard(first).contains("alive"));
  first.close();
  EXPECT_EQ(
      run.result(),
      "starting the hosts: 1 of 2 hosts has not joined (number 1); a (10.0.0.1): its connection to "
      "the run has ended");
}

TEST(Fleet, KeepsTheSeatOfAHostThatSaysNonsense) {
  WaitingRun run(2);
  Link wrong = run.connect();
  EXPECT_THROW(join(wrong, {{"number", 0}, {"name", 7}}), Error);
  Link first = run.connect();
  join(first, hello_of(0, "../../tmp/x", "10.0.0.1"));
  Link second = run.connect();
  join(second, hello_of(1, "b", "10.0.0.2"));
  auto other = std::async(std::launch::async, [&] { answer(second); });
  answer(first);
  other.get();
  EXPECT_EQ(run.result(), "host0 b ");
}

TEST(Fleet, HearsOfAProcessFromItsOwnHostAlone) {
  const std::string folder = testing::TempDir() + "fleet_own";
  std::filesystem::create_directories(folder);
  WaitingRun run(2, [&](Fleet& fleet) -> std::string {
    fleet.begin({.folder = folder, .captures = false});
    const auto process = fleet.start(0, {}, -1);
    const auto ending = process->wait_for(seconds(20));
    return ending ? std::to_string(ending->exit_code) : "none";
  });
  const auto ended = [](int code) {
    return Frame{.channel = 0, .content = json{{"ended", {code, 0}}}.dump()};
  };
  Link first = run.connect();
  join(first, hello_of(0, "a", "10.0.0.1"));
  Link second = run.connect();
  join(second, hello_of(1, "b", "10.0.0.2"));
  std::promise<void> started;
  auto other = std::async(std::launch::async, [&] {
    answer(second, [&](const json& said) {
      if (!said.contains("begin")) return;
      second.send(json{{"begun", true}});
      second.flush(seconds(5));
      started.get_future().wait();
      second.send(ended(7));
      second.flush(seconds(5));
    });
  });
  answer(first, [&](const json& said) {
    if (!said.contains("start")) return;
    started.set_value();
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // so that the lie comes first
    first.send(ended(3));
    first.flush(seconds(5));
  });
  other.get();
  EXPECT_EQ(run.result(), "3");
  std::filesystem::remove_all(folder);
}

TEST(Fleet, TakesAFileThatCannotBeWrittenAsAFailure) {
  WaitingRun run(1, [&](Fleet& fleet) -> std::string {
    fleet.begin({.folder = "/nonexistent/folder", .captures = false});
    fleet.finish();
    return fleet.failure().value_or("");
  });
  Link host = run.connect();
  join(host, hello_of(0, "../../x", "10.0.0.1"));
  answer(host, [&](const json& said) {
    if (said.contains("finish")) host.send(json{{"file", "capture.pcap"}});
  });
  EXPECT_THAT(run.result(), testing::AllOf(HasSubstr("host0 (10.0.0.1): "),
                                           HasSubstr("/nonexistent/folder/host0.pcap")));
}

}  // namespace
}  // namespace tw::fleet
