// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/programs.h"

#include "trainwire/base/error.h"
#include "trainwire/network/test_plans.h"
#include "trainwire/os/namespace.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <thread>

namespace tw::testbed {
namespace {

using std::chrono::seconds;

/// What a shell command prints inside a host.
std::string output_of(const Programs& programs, int host, const std::string& command) {
  std::array<int, 2> ends = {};
  EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const os::FileDescriptor read(ends[0]);
  os::FileDescriptor write(ends[1]);
  os::Child child = programs.start({.host = host,
                                    .words = {"sh", "-c", command},
                                    .environment = {"PATH=/usr/bin:/bin:/usr/sbin", "WORD=x y"},
                                    .output = write.get(),
                                    .errors = write.get()});
  write = {};
  std::string text;
  std::array<std::byte, 4096> buffer;
  while (true) {
    const std::ptrdiff_t got = os::read_some(read, buffer);
    if (got <= 0) break;
    text.append(reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(got));
  }
  EXPECT_TRUE(child.wait_for(seconds(20)).has_value());
  return text;
}

class ProgramsIn : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
  }
};

TEST_F(ProgramsIn, SeeTheirHost) {
  const Cluster cluster(network::plan_of("hosts = 2\ndelay = 0"), spec::Engine::Nfqueue);
  const Programs programs(cluster);
  EXPECT_EQ(output_of(programs, 1, "cat /proc/sys/kernel/hostname"), "host1\n");
  EXPECT_EQ(output_of(programs, 1, "printf '%s' \"$WORD\""), "x y");
  EXPECT_EQ(output_of(programs, 0, "grep host1 /etc/hosts"), "10.77.0.2 host1\n");
  EXPECT_EQ(output_of(programs, 0, "tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' ' | sort"),
            "eth0\nlo\n");
  // The shell and what it starts, and the first process: nobody else.
  EXPECT_LE(std::stoi(output_of(programs, 0, "ls -d /proc/[0-9]* | wc -l")), 5);
}

TEST_F(ProgramsIn, CannotBeOutlived) {
  os::ProcessIdentity left;
  {
    const Cluster cluster(network::plan_of("hosts = 1"), spec::Engine::Nfqueue);
    const Programs programs(cluster);
    // A daemon of its own session, whose parent is gone at once.
    output_of(programs, 0, "setsid sleep 1000 < /dev/null > /dev/null 2>&1 &");
    const std::uint64_t number = os::namespace_number(cluster.host(0));
    for (pid_t pid = 2; pid < 4'194'304; ++pid) {
      const os::FileDescriptor network(
          ::open(("/proc/" + std::to_string(pid) + "/ns/net").c_str(), O_RDONLY | O_CLOEXEC));
      if (network.is_open() && os::namespace_number(network) == number) {
        left = *os::identify(pid);
        break;
      }
    }
    ASSERT_TRUE(os::is_alive(left));
  }
  for (int i = 0; i < 500 && os::is_alive(left); ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(os::is_alive(left));
}

TEST(FindProgram, NamesWhatIsMissing) {
  EXPECT_EQ(find_program("/bin/sh"), "/bin/sh");
  EXPECT_NE(find_program("sh").find("/sh"), std::string::npos);
  EXPECT_THROW(find_program("no-such-program-at-all"), SpecError);
  EXPECT_THROW(find_program("/etc/passwd"), SpecError);
  EXPECT_THROW(find_program(""), SpecError);
}

}  // namespace
}  // namespace tw::testbed
