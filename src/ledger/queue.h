// SPDX-License-Identifier: Apache-2.0
// The queues of a network device that a run has put in place of the kernel's own, and how the device
// gets those back. What leaves goes through a queue that is known by its number; what arrives goes
// through that of another device, which is known by its name. Anybody else's are left alone.

#pragma once

#include <cstdint>
#include <string>

namespace tw::ledger {

/// Of what leaves: "7477:" as tc writes it.
inline constexpr std::uint32_t kOurQueue = 0x7477'0000;

/// The device (ifb) that what arrives at this one goes through. Throws SystemError.
std::string incoming_device(const std::string& device);

enum class Queues { Kernels, Ours, Others };

/// Whose queues the device has, in this thread's network. Throws SystemError.
Queues queues_of(const std::string& device);

/// Whether any of ours was there; then it is gone. Throws SystemError.
bool take_back_queues(const std::string& device);

}  // namespace tw::ledger
