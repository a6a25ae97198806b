// SPDX-License-Identifier: Apache-2.0
// UDP sockets of groups: all of them non-blocking.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/transport/tcp/address.h"

#include <cstddef>
#include <span>
#include <string>

namespace tw::multicast {

/// Sends from `own` to groups by its device, and hears what is sent to it. At most `packets` of
/// 1,500 bytes wait in the host. Throws SystemError.
os::FileDescriptor open_hub(const std::string& own, int packets);
/// Hears what is sent to the group on the device of `own`. Throws SystemError.
os::FileDescriptor open_member(const std::string& own, const transport::tcp::Endpoint& group);

/// Later: there is no room now. Lost: the kernel refuses it, as a network may.
enum class Sent { Yes, Later, Lost };
Sent send_to(const os::FileDescriptor& socket, const transport::tcp::SocketAddress& to,
             std::span<const std::byte> datagram);
/// Bytes of the next datagram, and whose it is; 0: none has come.
std::size_t receive_from(const os::FileDescriptor& socket, std::span<std::byte> into,
                         transport::tcp::SocketAddress& from);

}  // namespace tw::multicast
