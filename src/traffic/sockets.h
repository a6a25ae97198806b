// SPDX-License-Identifier: Apache-2.0
// Sockets of cross traffic: none of them blocks.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/transport/tcp/address.h"

#include <cstdint>
#include <string>

namespace tw::traffic {

/// TCP and UDP on the same port of one address.
struct ListeningPair {
  os::FileDescriptor tcp;
  os::FileDescriptor udp;
  std::uint16_t port = 0;
};
/// Port 0 is the kernel's choice. Throws SystemError, SpecError when the address is none.
ListeningPair listen_on(const transport::tcp::Endpoint& endpoint);

/// Begins to connect; writable once that is decided. The congestion control is the route's when
/// its name is empty. Throws SystemError.
os::FileDescriptor open_line(const transport::tcp::Endpoint& to, const std::string& from,
                             const std::string& congestion_control);
/// Waits until it is connected. Throws SystemError when it cannot be.
void wait_connected(const os::FileDescriptor& socket, const transport::tcp::Endpoint& to);

/// A UDP socket that sends there. Throws SystemError.
os::FileDescriptor open_datagrams(const transport::tcp::Endpoint& to, const std::string& from);

/// Makes closing it drop what was not sent yet.
void abort_on_close(const os::FileDescriptor& socket);

/// Lets this process open as many descriptors as it may; that number.
std::size_t raise_descriptor_limit();

}  // namespace tw::traffic
