// SPDX-License-Identifier: Apache-2.0
// The network device of an emulated host whose other end is a descriptor of this program.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/os/file_descriptor.h"

#include <string>

namespace tw::testbed {

/// Makes a TAP device in a namespace, down and without an address. What the host sends is read from
/// the descriptor, what is written to it the host receives; each packet has an OffloadHeader in
/// front (tap_segments.h), and TCP and UDP come in super-packets. Reads and writes do not block.
/// The device vanishes when its descriptor is closed everywhere. Throws SystemError.
os::FileDescriptor open_tap(const os::FileDescriptor& host_namespace, const std::string& name,
                            const network::Mac& mac);

}  // namespace tw::testbed
