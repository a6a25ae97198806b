// SPDX-License-Identifier: Apache-2.0
#include "trainwire/ledger/network.h"

#include "trainwire/os/namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/socket.h>
#include <sys/stat.h>

namespace tw::ledger {
namespace {

/// Of the calling thread's network.
std::uint64_t current_cookie() {
#ifdef SO_NETNS_COOKIE
  constexpr int kCookie = SO_NETNS_COOKIE;
#else
  constexpr int kCookie = 71;
#endif
  const os::FileDescriptor socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  const bool told = ::getsockopt(socket.get(), SOL_SOCKET, kCookie, &cookie, &size) == 0;
  return told ? cookie : 0;
}

os::FileDescriptor open_namespace(pid_t pid, const char* kind) {
  const std::string path = fmt::format("/proc/{}/ns/{}", pid, kind);
  return os::FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

bool is_same(const os::FileDescriptor& a, const os::FileDescriptor& b) {
  struct stat first = {};
  struct stat second = {};
  return ::fstat(a.get(), &first) == 0 && ::fstat(b.get(), &second) == 0 &&
         first.st_ino == second.st_ino;
}

/// A network made without root can only be entered by way of its user namespace.
bool enter(const os::FileDescriptor& users, const os::FileDescriptor& network) {
  const os::FileDescriptor own = os::open_to_read("/proc/self/ns/user");
  if (!is_same(own, users) && ::setns(users.get(), CLONE_NEWUSER) != 0) return false;
  return ::setns(network.get(), CLONE_NEWNET) == 0;
}

}  // namespace

NetworkIdentity identify_network(const os::FileDescriptor& name_space) {
  const os::InNetwork inside(name_space);
  return {.number = os::namespace_number(name_space), .cookie = current_cookie()};
}

std::optional<std::uint64_t> network_number(pid_t pid) {
  struct stat facts = {};
  if (::stat(fmt::format("/proc/{}/ns/net", pid).c_str(), &facts) != 0) return {};
  return facts.st_ino;
}

Residence residence(pid_t pid, const NetworkIdentity& network) {
  const os::FileDescriptor users = open_namespace(pid, "user");
  const os::FileDescriptor found = open_namespace(pid, "net");
  if (!users.is_open() || !found.is_open() || os::namespace_number(found) != network.number) {
    return Residence::Elsewhere;
  }
  if (network.cookie == 0) return Residence::Unknown;
  // In a process of its own: there is no way back out of a user namespace.
  os::Child visitor = os::Child::start([&] {
    const std::uint64_t cookie = enter(users, found) ? current_cookie() : 0;
    if (cookie == 0) return static_cast<int>(Residence::Unknown);
    return static_cast<int>(cookie == network.cookie ? Residence::There : Residence::Elsewhere);
  });
  const auto ending = visitor.wait_for(std::chrono::seconds(2));
  if (!ending || ending->signal != 0 || ending->exit_code > static_cast<int>(Residence::Unknown)) {
    return Residence::Unknown;
  }
  return static_cast<Residence>(ending->exit_code);
}

}  // namespace tw::ledger
