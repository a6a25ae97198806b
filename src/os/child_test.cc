// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/child.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <thread>

namespace tw::os {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Child, TellsTheExitCode) {
  Child child = Child::start([] { return 3; });
  const auto ending = child.wait_for(seconds(10));
  ASSERT_TRUE(ending);
  EXPECT_EQ(describe(*ending), "exited with code 3");
  EXPECT_FALSE(child.is_running());
}

TEST(Child, TellsTheSignal) {
  Child child = Child::start([] { return ::raise(SIGKILL); });
  const auto ending = child.wait_for(seconds(10));
  ASSERT_TRUE(ending);
  EXPECT_EQ(describe(*ending), "was killed by signal 9 (Killed)");
}

TEST(Child, AnExceptionIsAnInternalError) {
  Child child = Child::start([]() -> int { throw std::runtime_error("told on standard error"); });
  EXPECT_EQ(child.wait_for(seconds(10))->exit_code, 70);
}

TEST(Child, IsGoneWithItsOwner) {
  ProcessIdentity identity;
  {
    const Child child = Child::start([] { return ::pause(); });
    identity = child.identity();
    EXPECT_TRUE(is_alive(identity));
  }
  EXPECT_FALSE(is_alive(identity));
}

TEST(Child, StopsOneThatIgnoresTheRequest) {
  Child child = Child::start([] {
    ::signal(SIGTERM, SIG_IGN);
    while (true) ::pause();
    return 0;
  });
  std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(child.stop(milliseconds(50)).signal, SIGKILL);
}

TEST(Child, WaitsNoLongerThanAsked) {
  Child child = Child::start([] { return ::pause(); });
  EXPECT_FALSE(child.wait_for(milliseconds(10)));
  EXPECT_TRUE(child.is_running());
}

TEST(Child, DiesWhenItsParentIsKilled) {
  std::array<int, 2> pipe;
  ASSERT_EQ(::pipe(pipe.data()), 0);
  Child parent = Child::start([&] {
    const Child grandchild = Child::start([] { return ::pause(); });
    const pid_t pid = grandchild.identity().pid;
    return ::write(pipe[1], &pid, sizeof pid) == sizeof pid ? ::pause() : 1;
  });
  pid_t pid = 0;
  ASSERT_EQ(::read(pipe[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  const auto grandchild = identify(pid);
  ASSERT_TRUE(grandchild);
  ASSERT_TRUE(kill_process(parent.identity()));
  for (int i = 0; i < 500 && is_alive(*grandchild); ++i)
    std::this_thread::sleep_for(milliseconds(10));
  EXPECT_FALSE(is_alive(*grandchild));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST(ProcessIdentity, AnotherProcessOfThatNumberIsNotKilled) {
  Child child = Child::start([] { return ::pause(); });
  ProcessIdentity stale = child.identity();
  stale.start_ticks -= 1;
  EXPECT_FALSE(is_alive(stale));
  EXPECT_FALSE(kill_process(stale));
  EXPECT_TRUE(child.is_running());
  EXPECT_FALSE(child.poll());
}

// Everything inside ends with the first process of the namespace, even what left its group.
TEST(Child, NamespacesEndWithTheirFirstProcess) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Child first = Child::start_in_new_namespaces([] { return ::pause(); });
  const FileDescriptor inside =
      open_to_read("/proc/" + std::to_string(first.identity().pid) + "/ns/pid");
  Child rank = Child::start_in(inside, [] {
    ::setsid();
    return ::getpid() < 10 ? ::pause() : 1;
  });
  std::this_thread::sleep_for(milliseconds(50));
  ASSERT_FALSE(rank.poll());
  first.signal(SIGKILL);
  const auto ending = rank.wait_for(seconds(10));
  ASSERT_TRUE(ending);
  EXPECT_EQ(ending->signal, SIGKILL);
}

TEST(Child, TellsHowOneInsideEnded) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Child first = Child::start_in_new_namespaces([] { return ::pause(); });
  const FileDescriptor inside =
      open_to_read("/proc/" + std::to_string(first.identity().pid) + "/ns/pid");
  EXPECT_EQ(Child::start_in(inside, [] { return 5; }).wait_for(seconds(10))->exit_code, 5);
  Child killed = Child::start_in(inside, [] { return ::pause(); });
  ASSERT_TRUE(kill_process(killed.identity()));
  EXPECT_EQ(killed.wait_for(seconds(10))->signal, SIGKILL);
  Child asked = Child::start_in(inside, [] { return ::pause(); });
  EXPECT_EQ(asked.stop(seconds(10)).signal, SIGTERM);
}

/// The deputy of a child: who forked it.
pid_t parent_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return 0;
}

TEST(Child, IsEndedAndReapedWhenItsDeputyIsKilled) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  Child first = Child::start_in_new_namespaces([] { return ::pause(); });
  const FileDescriptor inside =
      open_to_read("/proc/" + std::to_string(first.identity().pid) + "/ns/pid");
  Child rank = Child::start_in(inside, [] { return ::pause(); });
  ::kill(parent_of(rank.identity().pid), SIGKILL);
  ASSERT_TRUE(rank.wait_for(seconds(10)));
  EXPECT_EQ(rank.poll()->signal, SIGKILL);
  // Not even a zombie is left, for which the first process would have to wait.
  EXPECT_FALSE(identify(rank.identity().pid));
  EXPECT_EQ(first.stop(seconds(0)).signal, SIGKILL);
}

}  // namespace
}  // namespace tw::os
