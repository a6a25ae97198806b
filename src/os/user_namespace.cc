// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/user_namespace.h"

#include "trainwire/os/errno_error.h"
#include "trainwire/os/file_descriptor.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <string>

namespace tw::os {
namespace {

void write_map(const std::string& path, const std::string& text) {
  write_all(open_to_write(path), std::as_bytes(std::span(text)), path);
}

}  // namespace

void become_root_of_own_namespace() {
  const uid_t user = ::geteuid();
  const gid_t group = ::getegid();
  if (user == 0) return;
  // A program whose file the user may not read is not dumpable, and its /proc files are root's.
  ::prctl(PR_SET_DUMPABLE, 1);
  // The network that we come back to from others has to be ours as well.
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    throw errno_error("making networks without root", errno,
                      "run as root, or allow user namespaces; trainwire doctor tells more");
  }
  write_map("/proc/self/setgroups", "deny");
  write_map("/proc/self/uid_map", fmt::format("0 {} 1", user));
  write_map("/proc/self/gid_map", fmt::format("0 {} 1", group));
}

}  // namespace tw::os
