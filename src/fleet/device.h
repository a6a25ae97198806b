// SPDX-License-Identifier: Apache-2.0
// The network devices of this machine by name and address.

#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tw::fleet {

struct Device {
  std::string name;
  std::string address;  ///< IPv4 or IPv6, as text
  bool operator==(const Device&) const = default;
};

/// Those that are up and reach other machines, IPv4 first; a device with several addresses comes
/// several times. Throws SystemError.
std::vector<Device> devices();

/// The first of that name. Throws SystemError, with the names that there are.
Device device_named(const std::string& name);
/// The one that has the address; nothing when none has.
std::optional<Device> device_with(const std::string& address);

/// The address of this end of a connected socket, as text.
std::string own_address(int socket);

}  // namespace tw::fleet
