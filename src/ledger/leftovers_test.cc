// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/leftovers.h"

#include "trainwire/ledger/ledger.h"
#include "trainwire/ledger/leftover_path.h"
#include "trainwire/ledger/record.h"
#include "trainwire/ledger/test_folder.h"
#include "trainwire/os/namespace.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <array>
#include <csignal>

namespace tw::ledger {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::chrono::seconds kSoon(5);

/// A process that, unlike ours, does not die with the one that started it.
pid_t start_stray() {
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::prctl(PR_SET_PDEATHSIG, 0);
    ::setsid();
    ::signal(SIGTERM, SIG_IGN);
    while (true) ::pause();
  }
  return pid;
}

/// What the run below says of itself before it is killed.
struct Left {
  pid_t recorded = 0;    ///< named by the ledger
  pid_t inhabitant = 0;  ///< in a network that the ledger names
  pid_t bystander = 0;   ///< in no such network
};

pid_t start_stray_in_new_network(Ledger* ledger) {
  const os::FileDescriptor network = os::make_network_namespace();
  if (ledger != nullptr) ledger->add_namespace(network, "host0");
  const os::InNetwork inside(network);
  return start_stray();
}

class Leftovers : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    // Strays of the killed run become our children, so that we can see them die.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  void TearDown() override {
    for (const pid_t pid : strays_) ::kill(pid, SIGKILL);
    for (const pid_t pid : strays_) ::waitpid(pid, nullptr, 0);
    ::prctl(PR_SET_CHILD_SUBREAPER, 0);
  }

  /// Leaves a ledger and three processes behind.
  Left run_and_be_killed(const std::string& folder) {
    std::array<int, 2> ends = {};
    EXPECT_EQ(::pipe(ends.data()), 0);
    const os::FileDescriptor read(ends[0]);
    os::FileDescriptor write(ends[1]);
    os::Child run = os::Child::start([&]() -> int {
      Ledger ledger(folder, "trainwire exec killed.toml");
      Left left;
      left.recorded = start_stray();
      ledger.add(*os::identify(left.recorded), "engine");
      left.inhabitant = start_stray_in_new_network(&ledger);
      left.bystander = start_stray_in_new_network(nullptr);
      ledger.add_path(folder + "/leftover");
      std::filesystem::create_directories(folder + "/leftover/inside");
      os::write_all(write, std::as_bytes(std::span(&left, 1)), "the pipe");
      while (true) ::pause();
    });
    write = {};
    Left left;
    os::read_some(read, std::as_writable_bytes(std::span(&left, 1)));
    ::kill(run.identity().pid, SIGKILL);
    EXPECT_EQ(run.wait_for(kSoon)->signal, SIGKILL);
    strays_ = {left.recorded, left.inhabitant, left.bystander};
    return left;
  }

  static bool is_alive(pid_t pid) {
    const auto identity = os::identify(pid);
    return identity && os::is_alive(*identity);
  }

 private:
  std::vector<pid_t> strays_;
};

// Both strays were forked while the run held its ledger's lock, so they hold it still.
TEST_F(Leftovers, RemovesExactlyWhatAKilledRunLeft) {
  const TestFolder folder;
  const Left left = run_and_be_killed(folder.path());
  const ClearedLeftovers report = clear_leftovers(folder.path());
  ASSERT_THAT(report.runs, SizeIs(1));
  EXPECT_EQ(report.runs[0].command, "trainwire exec killed.toml");
  EXPECT_THAT(report.runs[0].removed,
              ElementsAre("process " + std::to_string(left.recorded) + " (engine)",
                          HasSubstr("process " + std::to_string(left.inhabitant) + " ("),
                          folder.path() + "/leftover"));
  EXPECT_THAT(report.runs[0].removed[1], HasSubstr("in the network of host0"));
  EXPECT_THAT(report.notes, IsEmpty());
  EXPECT_FALSE(is_alive(left.recorded));
  EXPECT_FALSE(is_alive(left.inhabitant));
  EXPECT_TRUE(is_alive(left.bystander));
  EXPECT_EQ(folder.entries(), 0U);
}

TEST_F(Leftovers, OnlyLooksInADryRun) {
  const TestFolder folder;
  const Left left = run_and_be_killed(folder.path());
  const ClearedLeftovers report = clear_leftovers(folder.path(), {.dry_run = true});
  ASSERT_THAT(report.runs, SizeIs(1));
  EXPECT_THAT(report.runs[0].removed, SizeIs(3));
  EXPECT_TRUE(is_alive(left.recorded) && is_alive(left.inhabitant));
  EXPECT_EQ(folder.entries(), 2U);
  EXPECT_EQ(clear_leftovers(folder.path()).runs, report.runs);
}

TEST_F(Leftovers, LeavesALivingRunAlone) {
  const TestFolder folder;
  Ledger ledger(folder.path(), "alive");
  os::Child child = os::Child::start([]() -> int {
    while (true) ::pause();
  });
  ledger.add(child.identity(), "engine");
  const ClearedLeftovers report = clear_leftovers(folder.path());
  EXPECT_THAT(report.runs, IsEmpty());
  EXPECT_EQ(report.living, 1);
  EXPECT_TRUE(child.is_running() && !child.poll());
  EXPECT_EQ(folder.entries(), 1U);
}

// The kernel gives numbers of namespaces away again, never cookies: a ledger that has our
// bystander's number but not its cookie means a network that is gone.
TEST_F(Leftovers, SparesTheNextOwnerOfANetworksNumber) {
  const TestFolder folder;
  const Left left = run_and_be_killed(folder.path());
  clear_leftovers(folder.path());
  LedgerOwner owner = describe_owner("dead");
  owner.process.start_ticks -= 1;
  const LedgerNetwork reused{
      .identity = {.number = *network_number(left.bystander), .cookie = ~std::uint64_t{0}},
      .name = "host0"};
  folder.file("abcdef.json", line_of(owner) + line_of(reused));
  const ClearedLeftovers report = clear_leftovers(folder.path());
  EXPECT_THAT(report.runs, SizeIs(1));
  EXPECT_TRUE(is_alive(left.bystander));
}

// As old kernels do not tell cookies, whether the process is of the run cannot be known.
TEST_F(Leftovers, KeepsALedgerWhoseNetworkItCannotTell) {
  const TestFolder folder;
  const Left left = run_and_be_killed(folder.path());
  clear_leftovers(folder.path());
  LedgerOwner owner = describe_owner("dead");
  owner.process.start_ticks -= 1;
  const LedgerNetwork network{.identity = {.number = *network_number(left.bystander), .cookie = 0},
                              .name = "host0"};
  folder.file("abcdef.json", line_of(owner) + line_of(network));
  EXPECT_THAT(clear_leftovers(folder.path()).notes,
              ElementsAre(HasSubstr("left process " + std::to_string(left.bystander))));
  EXPECT_TRUE(is_alive(left.bystander));
  EXPECT_EQ(folder.entries(), 1U);
}

// Its numbers mean other processes by now.
TEST_F(Leftovers, KillsNothingForALedgerOfAnEarlierBoot) {
  const TestFolder folder;
  const Left left = run_and_be_killed(folder.path());
  clear_leftovers(folder.path());
  LedgerOwner owner = describe_owner("dead");
  owner.boot = "an earlier one";
  folder.file("abcdef.json",
              line_of(owner) + line_of(LedgerProcess{.process = *os::identify(left.bystander),
                                                     .role = "engine"}));
  const ClearedLeftovers report = clear_leftovers(folder.path());
  ASSERT_THAT(report.runs, SizeIs(1));
  EXPECT_THAT(report.runs[0].removed, IsEmpty());
  EXPECT_TRUE(is_alive(left.bystander));
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(LeftoversFolder, ThatIsNotThereHoldsNothing) {
  const ClearedLeftovers report = clear_leftovers("/no/such/folder");
  EXPECT_THAT(report.runs, IsEmpty());
  EXPECT_THAT(report.notes, IsEmpty());
}

TEST(LeftoversFolder, OfOtherFilesIsLeftAsItIs) {
  const TestFolder folder;
  folder.file("notes.txt", "mine");
  folder.file("A-b.json", "{}");
  std::filesystem::create_symlink("notes.txt", folder.path() + "/link.json");
  std::filesystem::create_directory(folder.path() + "/folder.json");
  const ClearedLeftovers report = clear_leftovers(folder.path());
  EXPECT_THAT(report.runs, IsEmpty());
  EXPECT_THAT(report.notes, SizeIs(2));
  EXPECT_EQ(folder.entries(), 4U);
}

TEST(LeftoversFolder, ForgetsALedgerThatCannotBeReadWithANote) {
  const TestFolder folder;
  folder.file("abcdef.json", "rubbish\n{\"kind\":\"path\",\"path\":\"/etc/passwd\"}\n");
  const ClearedLeftovers report = clear_leftovers(folder.path());
  EXPECT_THAT(report.notes,
              ElementsAre(HasSubstr("left /etc/passwd alone"), HasSubstr("1 line not understood")));
  EXPECT_EQ(folder.entries(), 0U);
}

TEST(RemovePath, TakesAwayFilesAndFoldersInsideTheRoots) {
  const TestFolder root;
  std::filesystem::create_directories(root.path() + "/a/b/c");
  root.file("a/b/file", "x");
  EXPECT_TRUE(remove_path(root.path() + "/a/b", {root.path()}, false).was_there);
  EXPECT_TRUE(std::filesystem::is_empty(root.path() + "/a"));
  EXPECT_FALSE(remove_path(root.path() + "/a/b", {root.path()}, false).was_there);
  EXPECT_FALSE(remove_path(root.path() + "/no/b", {root.path()}, false).was_there);
}

TEST(RemovePath, StaysInsideTheRoots) {
  const TestFolder root;
  const TestFolder outside;
  const std::string kept = outside.file("kept", "x");
  const std::string way_out =
      root.path() + "/../" + outside.path().substr(outside.path().rfind('/') + 1);
  for (const std::string& path :
       {kept, way_out + "/kept", root.path(), root.path() + "/", root.path() + "/..",
        root.path() + "/.", std::string("relative"), std::string()}) {
    const PathFate fate = remove_path(path, {root.path()}, false);
    EXPECT_FALSE(fate.was_there) << path;
    EXPECT_THAT(fate.note, HasSubstr("left ")) << path;
  }
  EXPECT_EQ(text_of(kept), "x");
  EXPECT_EQ(root.entries(), 0U);
}

TEST(RemovePath, RemovesLinksButDoesNotFollowThem) {
  const TestFolder root;
  const TestFolder outside;
  const std::string kept = outside.file("kept", "x");
  std::filesystem::create_directory(root.path() + "/folder");
  std::filesystem::create_directory_symlink(outside.path(), root.path() + "/folder/link");
  EXPECT_FALSE(remove_path(root.path() + "/folder/link/kept", {root.path()}, false).was_there);
  EXPECT_TRUE(remove_path(root.path() + "/folder", {root.path()}, false).was_there);
  EXPECT_EQ(text_of(kept), "x");
  EXPECT_EQ(root.entries(), 0U);
}

TEST(RemovePath, LeavesFilesOfOtherUsers) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  const TestFolder root;
  const std::string file = root.file("file", "x");
  ASSERT_EQ(::chown(file.c_str(), 65534, 65534), 0);
  EXPECT_THAT(remove_path(file, {root.path()}, false).note, HasSubstr("another user"));
  EXPECT_EQ(text_of(file), "x");
}

}  // namespace
}  // namespace tw::ledger
