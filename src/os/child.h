// SPDX-License-Identifier: Apache-2.0
// Child processes that cannot outlive us: the kernel kills them when the thread that started them
// dies, however it dies.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tw::os {

/// A process for good: numbers are used again, a number with its start time is not.
struct ProcessIdentity {
  pid_t pid = 0;
  std::uint64_t start_ticks = 0;  ///< since boot
  bool operator==(const ProcessIdentity&) const = default;
};

/// Nothing when there is no such process.
std::optional<ProcessIdentity> identify(pid_t pid);
/// Whether that very process is there and not merely waiting to be reaped.
bool is_alive(const ProcessIdentity& process);
/// Kills (SIGKILL) that very process and no other; false when it is gone.
bool kill_process(const ProcessIdentity& process);

/// How a process ended.
struct Ending {
  int exit_code = 0;  ///< when signal is 0
  int signal = 0;
  bool succeeded() const { return exit_code == 0 && signal == 0; }
};
/// "exited with code 3", "was killed by signal 9 (Killed)".
std::string describe(const Ending& ending);

/// A child in a process group of its own (Ctrl-C reaches only us). The destructor kills and reaps
/// it.
class Child {
 public:
  Child() = default;
  /// Forks. The child runs `body` and exits with what it returns, without destructors. With threads
  /// in this process `body` may only do what is safe between fork and exec. Throws SystemError.
  static Child start(const std::function<int()>& body);
  /// The same inside a pid namespace. This process becomes the one that orphans of it are given to.
  static Child start_in(const FileDescriptor& pid_namespace, const std::function<int()>& body);
  /// The same as the first process of a new pid and mount namespace: when it ends, the kernel ends
  /// everything in there. It is reaped only after those children that we started in there.
  static Child start_in_new_namespaces(const std::function<int()>& body);

  Child(Child&& other) noexcept;
  Child& operator=(Child&& other) noexcept;
  ~Child();

  const ProcessIdentity& identity() const { return identity_; }
  bool is_running() const { return identity_.pid > 0 && !ending_; }
  /// How it ended, if it has.
  std::optional<Ending> poll();
  /// Waits at most that long.
  std::optional<Ending> wait_for(std::chrono::nanoseconds time);
  /// To the child's whole process group.
  void signal(int number);
  /// SIGTERM, then SIGKILL to what remains after `grace`; reaps.
  Ending stop(std::chrono::nanoseconds grace);

 private:
  static Child adopt(pid_t pid, pid_t waited);
  /// Once its deputy has ended.
  void reap_orphan();

  ProcessIdentity identity_ = {};
  pid_t waited_ = 0;            ///< whose end is the child's: its deputy in our pid namespace
  FileDescriptor handle_ = {};  ///< pidfd: readable when the child has ended
  std::optional<Ending> ending_ = {};
};

}  // namespace tw::os
