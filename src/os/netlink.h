// SPDX-License-Identifier: Apache-2.0
// Requests to the kernel by netlink: links, addresses, queues, packet filters. Messages are built
// and taken apart by libmnl.
//
// A socket belongs to the network namespace of the thread that opens it, wherever the thread goes.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

struct nlmsghdr;
struct nlattr;

namespace tw::os {

/// One request under construction. Attributes follow in the order of the calls.
class NetlinkMessage {
 public:
  /// `flags` beside NLM_F_REQUEST and NLM_F_ACK.
  NetlinkMessage(int type, int flags);
  NetlinkMessage(NetlinkMessage&&) noexcept = default;
  NetlinkMessage& operator=(NetlinkMessage&&) noexcept = default;

  /// The family's fixed part: ifinfomsg, tcmsg...; before any attribute.
  template <typename Header>
  NetlinkMessage& header(const Header& value) {
    return fixed_part(std::as_bytes(std::span(&value, 1)));
  }
  NetlinkMessage& bytes(int attribute, std::span<const std::byte> value);
  template <typename Struct>
  NetlinkMessage& put(int attribute, const Struct& value) {
    return bytes(attribute, std::as_bytes(std::span(&value, 1)));
  }
  /// With the closing zero that the kernel expects.
  NetlinkMessage& text(int attribute, std::string_view value);
  /// What `fill` adds stands inside the attribute.
  NetlinkMessage& nest(int attribute, const std::function<void(NetlinkMessage&)>& fill);
  /// The fixed part of a nested message (veth's peer).
  NetlinkMessage& raw(std::span<const std::byte> value);

  const nlmsghdr* get() const;
  nlmsghdr* get();

 private:
  NetlinkMessage& fixed_part(std::span<const std::byte> value);
  void reserve(std::size_t more);

  std::vector<std::byte> buffer_;
};

class NetlinkSocket {
 public:
  /// NETLINK_ROUTE, NETLINK_NETFILTER... Throws SystemError.
  explicit NetlinkSocket(int protocol);

  /// Sends one request and waits for the kernel's answer. Throws SystemError: "<attempt>:
  /// <reason>".
  void request(NetlinkMessage message, std::string_view attempt);
  /// The same, but returns the errno of a refusal (0 for success) instead of throwing it.
  int try_request(NetlinkMessage message);
  /// Many requests at once, far cheaper than one by one.
  void request_all(std::vector<NetlinkMessage> messages, std::string_view attempt);
  /// A transaction of the packet filter: all or nothing.
  void transaction(std::vector<NetlinkMessage> messages, std::string_view attempt);
  /// Sends a query and gives every message of the answer to `take`.
  void query(NetlinkMessage message, std::string_view attempt,
             const std::function<void(const nlmsghdr&)>& take);

  const FileDescriptor& descriptor() const { return fd_; }

 private:
  void send(std::span<const std::byte> bytes, std::string_view attempt);
  /// Reads answers until `sequence_from`..sequence_ are all acknowledged; the first errno.
  int acknowledgements(std::uint32_t sequence_from, std::string_view attempt);

  FileDescriptor fd_;
  std::uint32_t sequence_ = 0;
};

/// The attribute of a message or of a nested attribute, or null. `header_bytes` is the size of the
/// family's fixed part.
const nlattr* find_attribute(const nlmsghdr& message, std::size_t header_bytes, int attribute);
const nlattr* find_nested(const nlattr* inside, int attribute);
/// The attribute's value as a struct or number; nothing when it is absent or shorter.
std::span<const std::byte> value_of(const nlattr* attribute);

}  // namespace tw::os
