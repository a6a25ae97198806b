// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/pump.h"

#include <sys/socket.h>

#include <cerrno>

namespace tw::carrier {
namespace {

bool write_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
  return true;
}

}  // namespace

Pump::Pump(os::FileDescriptor local, Link& link)
    : local_(std::move(local)),
      link_(link),
      outward_([this] { outward(); }),
      inward_([this] { inward(); }) {}

Pump::~Pump() {
  ::shutdown(local_.get(), SHUT_RDWR);
  link_.close();
  outward_.join();
  inward_.join();
}

void Pump::outward() {
  while (true) {
    const std::ptrdiff_t count = os::read_some(local_, link_.room());
    if (count <= 0 || !link_.send(static_cast<std::size_t>(count))) break;
  }
  ::shutdown(local_.get(), SHUT_RD);
}

/// The rank sees the end of its stream when there is nothing more to come.
void Pump::inward() {
  while (true) {
    const std::span<const std::byte> message = link_.receive();
    if (message.empty() || !write_all(local_.get(), message)) break;
  }
  ::shutdown(local_.get(), SHUT_RDWR);
}

}  // namespace tw::carrier
