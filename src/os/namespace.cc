// SPDX-License-Identifier: Apache-2.0
#include "trainwire/os/namespace.h"

#include "trainwire/os/errno_error.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>

#include <cerrno>
#include <exception>
#include <utility>

namespace tw::os {
namespace {

void enter(const FileDescriptor& name_space) {
  if (::setns(name_space.get(), CLONE_NEWNET) != 0) {
    throw errno_error("entering a network namespace", errno);
  }
}

}  // namespace

FileDescriptor current_network_namespace() { return open_to_read("/proc/thread-self/ns/net"); }

FileDescriptor make_network_namespace() {
  const FileDescriptor before = current_network_namespace();
  if (::unshare(CLONE_NEWNET) != 0) {
    throw errno_error("making a network namespace", errno,
                      "run as root, or where user namespaces are allowed; see trainwire doctor");
  }
  FileDescriptor made = current_network_namespace();
  enter(before);
  return made;
}

std::uint64_t namespace_number(const FileDescriptor& name_space) {
  struct stat facts = {};
  if (::fstat(name_space.get(), &facts) != 0) {
    throw errno_error("looking at a network namespace", errno);
  }
  return facts.st_ino;
}

InNetwork::InNetwork(const FileDescriptor& name_space) {
  FileDescriptor before = current_network_namespace();
  // Entering takes a privilege, even where one is there already.
  if (namespace_number(before) == namespace_number(name_space)) return;
  enter(name_space);
  before_ = std::move(before);
}

InNetwork::~InNetwork() {
  // Going on in the wrong namespace would send packets where they do not belong.
  if (before_.is_open() && ::setns(before_.get(), CLONE_NEWNET) != 0) {
    std::terminate();
  }
}

}  // namespace tw::os
