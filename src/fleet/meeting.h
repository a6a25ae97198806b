// SPDX-License-Identifier: Apache-2.0
// Where hosts meet their run: addresses with a port, any of which will do.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tw::fleet {

struct Meeting {
  std::string address;  ///< or a name
  std::uint16_t port = 0;
  bool operator==(const Meeting&) const = default;
};

/// "10.0.0.1:4000,[fd00::1]:4000". Throws SpecError.
std::vector<Meeting> parse_meetings(std::string_view text);
std::string text_of(const std::vector<Meeting>& meetings);

/// Listens on every address of this machine. Port 0 is the kernel's choice.
struct Listening {
  os::FileDescriptor socket;
  std::uint16_t port = 0;
};
/// Throws SystemError.
Listening listen_everywhere(int port);

/// The first that answers, tried in turn again and again. Throws SystemError when none has for so
/// long, or when nobody reads this process's output any more.
os::FileDescriptor connect_any(const std::vector<Meeting>& meetings,
                               std::chrono::nanoseconds longest);

}  // namespace tw::fleet
