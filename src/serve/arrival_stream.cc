// SPDX-License-Identifier: Apache-2.0
#include "trainwire/serve/arrival_stream.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tw::serve {
namespace {

constexpr const char* kOwnAddress = "127.0.0.1";  // the gate takes no others

}  // namespace

bool ArrivalStream::is_ready(short events) const {
  pollfd one{.fd = arrival_.socket.get(), .events = events, .revents = 0};
  int found = 0;
  do {
    found = ::poll(&one, 1, static_cast<int>(patience_.count()));
  } while (found < 0 && errno == EINTR);
  return found > 0;
}

bool ArrivalStream::is_readable() const {
  return given_ < arrival_.bytes.size() || is_ready(POLLIN);
}

bool ArrivalStream::is_writable() const { return is_ready(POLLOUT); }

ssize_t ArrivalStream::read(char* into, std::size_t size) {
  if (given_ < arrival_.bytes.size()) {
    const std::size_t part = std::min(size, arrival_.bytes.size() - given_);
    std::memcpy(into, arrival_.bytes.data() + given_, part);
    given_ += part;
    return static_cast<ssize_t>(part);
  }
  return is_readable() ? ::recv(arrival_.socket.get(), into, size, 0) : -1;
}

ssize_t ArrivalStream::write(const char* from, std::size_t size) {
  return is_writable() ? ::send(arrival_.socket.get(), from, size, MSG_NOSIGNAL) : -1;
}

void ArrivalStream::get_remote_ip_and_port(std::string& ip, int& port) const {
  ip = kOwnAddress;
  port = 0;
}

void ArrivalStream::get_local_ip_and_port(std::string& ip, int& port) const {
  ip = kOwnAddress;
  port = 0;
}

}  // namespace tw::serve
