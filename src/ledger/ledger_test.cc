// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/ledger.h"

#include "trainwire/base/error.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/record.h"
#include "trainwire/ledger/test_folder.h"
#include "trainwire/os/namespace.h"
#include "trainwire/os/user_namespace.h"

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <csignal>

namespace tw::ledger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

template <typename Body>
std::string message_of(Body body) {
  try {
    body();
  } catch (const SystemError& error) {
    return error.what();
  }
  return "no SystemError";
}

TEST(Ledger, HoldsWhatWasAddedAndVanishesWithTheRun) {
  const TestFolder folder;
  {
    Ledger ledger(folder.path(), "trainwire exec x.toml");
    ledger.add({.pid = 1234, .start_ticks = 99}, "engine");
    ledger.add_path("/tmp/some-folder");
    ledger.add_queue("eth7");
    const LedgerRecord found = parse_ledger(text_of(folder.path() + "/" + ledger.id() + ".json"));
    ASSERT_TRUE(found.owner);
    EXPECT_EQ(found.owner->process, os::identify(::getpid()));
    EXPECT_TRUE(shares_processes(*found.owner));
    EXPECT_EQ(found.owner->command, "trainwire exec x.toml");
    EXPECT_THAT(found.processes,
                ElementsAre(LedgerProcess{.process = {1234, 99}, .role = "engine"}));
    EXPECT_THAT(found.paths, ElementsAre("/tmp/some-folder"));
    ASSERT_EQ(found.queues.size(), 1U);
    EXPECT_EQ(found.queues.front().device, "eth7");
    EXPECT_EQ(found.queues.front().network, identify_network(os::current_network_namespace()));
    EXPECT_EQ(found.unread, 0);
  }
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(Ledger, TellsNetworksApartForGood) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  const os::FileDescriptor one = os::make_network_namespace();
  const NetworkIdentity first = identify_network(one);
  const NetworkIdentity second = identify_network(os::make_network_namespace());
  EXPECT_EQ(identify_network(one), first);
  EXPECT_NE(first.cookie, second.cookie);
  EXPECT_NE(first.cookie, 0U);
}

TEST(Ledger, TwoRunsHaveTwoLedgers) {
  const TestFolder folder;
  const Ledger a(folder.path(), "a");
  const Ledger b(folder.path(), "b");
  EXPECT_NE(a.id(), b.id());
  EXPECT_EQ(folder.entries(), 2U);
}

TEST(Ledger, ForkedChildLeavesItInPlace) {
  const TestFolder folder;
  auto ledger = std::make_unique<Ledger>(folder.path(), "a");
  os::Child child = os::Child::start([&] {
    ledger.reset();
    return 0;
  });
  EXPECT_TRUE(child.wait_for(std::chrono::seconds(5))->succeeded());
  EXPECT_EQ(folder.entries(), 1U);
}

TEST(Ledger, MakesItsFolderForTheUserAlone) {
  const TestFolder above;
  const std::string folder = above.path() + "/state";
  const Ledger ledger(folder, "a");
  struct stat facts = {};
  ASSERT_EQ(::stat(folder.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0700U);
}

TEST(Ledger, RefusesALinkInPlaceOfTheFolder) {
  const TestFolder above;
  const std::string link = above.path() + "/link";
  std::filesystem::create_directory_symlink(above.path(), link);
  const std::string message = message_of([&] { Ledger(link, "a"); });
  EXPECT_THAT(message, HasSubstr(link));
  EXPECT_THAT(message, HasSubstr("set TRAINWIRE_STATE"));
}

TEST(Ledger, RefusesAFolderOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a folder away";
  const TestFolder folder;
  ASSERT_EQ(::chown(folder.path().c_str(), 65534, 65534), 0);
  EXPECT_THAT(message_of([&] { Ledger(folder.path(), "a"); }), HasSubstr("belongs to user 65534"));
}

TEST(Ledger, RefusesAFolderThatOthersMayWriteTo) {
  const TestFolder folder;
  ASSERT_EQ(::chmod(folder.path().c_str(), 0777), 0);
  EXPECT_THAT(message_of([&] { Ledger(folder.path(), "a"); }), HasSubstr("others may write"));
}

TEST(Ledger, SaysWhereItCannotBeMade) {
  EXPECT_THAT(message_of([] { Ledger("/proc/no-such-folder/x", "a"); }),
              HasSubstr("/proc/no-such-folder/x"));
}

// A limit on the size of files refuses like a full disk does, without needing one.
TEST(Ledger, FullDiskIsOneClearError) {
  const TestFolder folder;
  os::Child child = os::Child::start([&] {
    Ledger ledger(folder.path(), "a");
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{.rlim_cur = 0, .rlim_max = RLIM_INFINITY};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const std::string message = message_of([&] { ledger.add_path("/tmp/x"); });
    const bool is_clear = message.find(folder.path()) != std::string::npos &&
                          message.find("make room") != std::string::npos;
    return is_clear ? 0 : 1;
  });
  EXPECT_TRUE(child.wait_for(std::chrono::seconds(5))->succeeded());
}

TEST(StateFolder, IsTheOneThatIsGiven) {
  ::setenv("TRAINWIRE_STATE", "/somewhere/else", 1);
  EXPECT_EQ(state_folder(), "/somewhere/else");
  ::unsetenv("TRAINWIRE_STATE");
  EXPECT_NE(state_folder(), "/somewhere/else");
}

TEST(StateFolder, OfAnOrdinaryUserIsTheRuntimeFolderIfItIsTheirs) {
  if (::geteuid() == 0) GTEST_SKIP() << "root has /run/trainwire";
  const TestFolder folder;
  ::setenv("XDG_RUNTIME_DIR", folder.path().c_str(), 1);
  EXPECT_EQ(state_folder(), folder.path() + "/trainwire");
  ::setenv("XDG_RUNTIME_DIR", "/", 1);
  EXPECT_EQ(state_folder(), "/tmp/trainwire-" + std::to_string(::geteuid()));
  ::unsetenv("XDG_RUNTIME_DIR");
}

TEST(LedgerRecord, ReadsBackWhatItWrites) {
  const LedgerOwner owner{.process = {7, 8},
                          .boot = "b",
                          .pid_namespace = 9,
                          .user_namespace = 3,
                          .command = "a \"quoted\"\nline",
                          .started_s = 10};
  const LedgerProcess process{.process = {11, 12}, .role = "rank 0"};
  const LedgerNetwork network{.identity = {13, 14}, .name = "host0"};
  const std::string text =
      line_of(owner) + line_of(process) + line_of(network) + line_of_path("/tmp/x");
  EXPECT_EQ(
      parse_ledger(text),
      (LedgerRecord{
          .owner = owner, .processes = {process}, .networks = {network}, .paths = {"/tmp/x"}}));
}

// Each line here is one that a cleanup must not act on.
TEST(LedgerRecord, IgnoresAndCountsWhatIsNoEntry) {
  const LedgerRecord found = parse_ledger(R"(not JSON
[]
{"kind":"process","pid":1,"start_ticks":5,"role":"the first process"}
{"kind":"process","pid":-1,"start_ticks":5,"role":"everybody"}
{"kind":"process","pid":4294967295,"start_ticks":5,"role":"too large"}
{"kind":"process","pid":"12","start_ticks":5,"role":"text"}
{"kind":"network","number":4026531840,"name":"no cookie"}
{"kind":"path","path":["/tmp"]}
{"kind":"path","path":"/tmp/torn"})");
  EXPECT_EQ(found, (LedgerRecord{.unread = 9}));
}

// In a user namespace of its own a process sees only what was made in there.
TEST(LedgerRecord, LeftoversAreHiddenInsideAUserNamespace) {
  const LedgerOwner outside = describe_owner("a");
  EXPECT_TRUE(can_see_leftovers(outside));
  os::Child child = os::Child::start([&] {
    if (::geteuid() == 0 && ::setresuid(65534, 65534, 65534) != 0) return 1;
    const std::string folder = state_folder();
    try {
      os::become_root_of_own_namespace();
    } catch (const SystemError&) {
      return 2;
    }
    const bool is_right = !can_see_leftovers(outside) && can_see_leftovers(describe_owner("b")) &&
                          state_folder() == folder;
    return is_right ? 0 : 3;
  });
  const auto ending = child.wait_for(std::chrono::seconds(5));
  ASSERT_TRUE(ending);
  if (ending->exit_code == 2) GTEST_SKIP() << "user namespaces are not allowed";
  EXPECT_TRUE(ending->succeeded()) << os::describe(*ending);
}

TEST(LedgerRecord, AnOwnerOfAnotherBootSaysNothingAboutOurProcesses) {
  LedgerOwner owner = describe_owner("a");
  EXPECT_TRUE(shares_processes(owner));
  owner.boot = "another";
  EXPECT_FALSE(shares_processes(owner));
}

}  // namespace
}  // namespace tw::ledger
