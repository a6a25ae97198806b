// SPDX-License-Identifier: Apache-2.0
// A job's processes, their sockets and their network devices, by /proc.

#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace tw::attach {

/// The process and all below it. Throws SystemError when there is no such process.
std::vector<int> family_of(int process);

/// Inodes of the sockets that these have open. Throws SystemError when none of them may be looked into.
std::set<std::uint64_t> socket_inodes(const std::vector<int>& processes);

struct DeviceBytes {
  std::uint64_t received = 0;
  std::uint64_t sent = 0;
  bool operator==(const DeviceBytes&) const = default;
};

/// Of the text of /proc/PID/net/dev, without the loopback's; lines that are none are passed over.
std::map<std::string, DeviceBytes> parse_devices(std::string_view text);

/// Of RDMA cards, whose bytes no socket and no network device sees: port_xmit_data and port_rcv_data, which count four
/// bytes each. Empty where there are none.
std::map<std::string, DeviceBytes> rdma_ports();

}  // namespace tw::attach
