// SPDX-License-Identifier: Apache-2.0
// Where groups are: addresses that routers keep inside an organisation (RFC 2365, and the like
// of IPv6), one for each group of each job, and one port.

#pragma once

#include "trainwire/transport/tcp/address.h"

#include <string>

namespace tw::multicast {

/// Of the family of `own`. REQUIRES: 0 <= group < 65,536.
transport::tcp::Endpoint group_endpoint(const std::string& own, int job, int group);

/// The number of the device that has the address; 0: the kernel's choice.
unsigned interface_of(const std::string& own);

}  // namespace tw::multicast
