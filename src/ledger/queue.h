// SPDX-License-Identifier: Apache-2.0
// The queue in front of a network device that a run has put in place of the kernel's own, and how
// the device gets that back. Ours is known by its number; anybody else's is left alone.

#pragma once

#include <cstdint>
#include <string>

namespace tw::ledger {

/// "7477:" as tc writes it.
inline constexpr std::uint32_t kOurQueue = 0x7477'0000;

/// The number of the queue that everything leaves the device by, in this thread's network; 0 is the
/// kernel's own. Throws SystemError.
std::uint32_t root_queue(const std::string& device);

/// Whether ours was there; then it is gone. Throws SystemError.
bool take_back_queue(const std::string& device);

}  // namespace tw::ledger
