// SPDX-License-Identifier: Apache-2.0
#include "trainwire/carrier/local.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/transport/tcp/hello.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

namespace tw::carrier {
namespace {

/// More than the kernel gives without asking, where it lets us.
constexpr int kRoom = 1 << 20;

struct Name {
  sockaddr_un address = {};
  socklen_t length = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

/// A name that begins with a zero byte belongs to no file.
Name abstract(const std::string& text) {
  Name name;
  check(text.size() + 1 < sizeof name.address.sun_path, "a channel's name is short");
  name.address.sun_family = AF_UNIX;
  std::memcpy(name.address.sun_path + 1, text.data(), text.size());
  name.length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
  return name;
}

os::FileDescriptor open_channel(int flags) {
  os::FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0));
  if (!socket.is_open()) throw os::errno_error("making a channel to a carrier", errno);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDBUF, &kRoom, sizeof kRoom);
  return socket;
}

/// Room for one descriptor beside a message.
union Ancillary {
  cmsghdr header;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

msghdr message_of(iovec& data, Ancillary& ancillary) {
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = ancillary.bytes.data();
  message.msg_controllen = ancillary.bytes.size();
  return message;
}

}  // namespace

Meeting::Meeting()
    : name_("trainwire-" + transport::tcp::text_of(transport::tcp::make_token())),
      socket_(open_channel(SOCK_NONBLOCK)) {
  const Name name = abstract(name_);
  if (::bind(socket_.get(), name.get(), name.length) != 0 || ::listen(socket_.get(), 4) != 0) {
    throw os::errno_error("making a channel to a carrier", errno);
  }
}

std::pair<os::FileDescriptor, pid_t> Meeting::accept() const {
  os::FileDescriptor socket(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.is_open()) return {};
  ucred who = {};
  socklen_t length = sizeof who;
  const bool known = ::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &who, &length) == 0;
  if (!known || who.uid != ::geteuid()) return {};
  return {std::move(socket), who.pid};
}

os::FileDescriptor meet(const std::string& name) {
  os::FileDescriptor socket = open_channel(0);
  const Name to = abstract(name);
  if (::connect(socket.get(), to.get(), to.length) != 0) {
    throw os::errno_error("reaching the rank to carry for", errno);
  }
  return socket;
}

std::pair<os::FileDescriptor, os::FileDescriptor> make_stream() {
  std::array<int, 2> ends = {};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw os::errno_error("making a stream to a carrier", errno);
  }
  for (const int end : ends) {
    if (::setsockopt(end, SOL_SOCKET, SO_SNDBUFFORCE, &kRoom, sizeof kRoom) != 0) {
      ::setsockopt(end, SOL_SOCKET, SO_SNDBUF, &kRoom, sizeof kRoom);
    }
  }
  return {os::FileDescriptor(ends[0]), os::FileDescriptor(ends[1])};
}

void send_descriptor(int channel, const os::FileDescriptor& descriptor) {
  char byte = 'd';
  iovec data{.iov_base = &byte, .iov_len = 1};
  Ancillary ancillary = {};
  msghdr message = message_of(data, ancillary);
  cmsghdr* const header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  const int number = descriptor.get();
  std::memcpy(CMSG_DATA(header), &number, sizeof number);
  if (::sendmsg(channel, &message, MSG_NOSIGNAL) != 1) {
    throw os::errno_error("handing a stream to a carrier", errno);
  }
}

os::FileDescriptor receive_descriptor(int channel) {
  char byte = 0;
  iovec data{.iov_base = &byte, .iov_len = 1};
  Ancillary ancillary = {};
  msghdr message = message_of(data, ancillary);
  ssize_t count = 0;
  do {
    count = ::recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
  } while (count < 0 && errno == EINTR);
  const cmsghdr* const header = count == 1 ? CMSG_FIRSTHDR(&message) : nullptr;
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) {
    throw Error("the rank to carry for has ended");
  }
  int number = -1;
  std::memcpy(&number, CMSG_DATA(header), sizeof number);
  return os::FileDescriptor(number);
}

}  // namespace tw::carrier
