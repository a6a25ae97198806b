// SPDX-License-Identifier: Apache-2.0
// Emulation without root: in a user namespace an ordinary user may make networks, and only there.

#pragma once

namespace tw::os {

/// Moves this process, which must have one thread only, into a user namespace of its own in which
/// it is root, and into an empty network; files stay the user's. Does nothing for root. Throws
/// SystemError where the kernel forbids it.
void become_root_of_own_namespace();

}  // namespace tw::os
