// SPDX-License-Identifier: Apache-2.0
// A job's processes, their sockets and the network devices that they see, by /proc and /sys.

#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tw::attach {

/// What a file of /proc has; "" where it cannot be read, as of a process that ends.
std::string text_of(const std::string& path);

/// The process and all below it. Throws SystemError when there is no such process.
std::vector<int> family_of(int process);

/// Those of which /proc says what they have open and where they live only to others than us.
std::size_t closed_among(const std::vector<int>& processes);

/// Network namespaces of these, by the kernel's number, each with a process that lives in it; those that may not be looked
/// into are left out.
std::map<std::uint64_t, int> networks_of(const std::vector<int>& processes);

/// Sockets that these have open, by inode, with the last process of the list that has it: children come after their parents.
/// Throws SystemError when none of them may be looked into.
std::map<std::uint64_t, int> socket_owners(const std::vector<int>& processes);

/// What a device has counted since it was made.
struct DeviceCounts {
  std::uint64_t received = 0;  ///< bytes
  std::uint64_t sent = 0;
  std::uint64_t dropped = 0;  ///< packets, in either direction
  std::uint64_t errors = 0;
  bool operator==(const DeviceCounts&) const = default;
};
using Devices = std::map<std::string, DeviceCounts>;

/// Of the text of /proc/PID/net/dev, without the loopback's; lines that are none are passed over.
Devices parse_devices(std::string_view text);

/// Of RDMA cards below `root` (/sys/class/infiniband), "mlx5_0/1" for each port, whose bytes no socket and no network device
/// sees: port_xmit_data and port_rcv_data, which count four bytes each. Empty where there are none.
Devices rdma_ports(const std::string& root);

/// What cards count of trouble, "mlx5_0/1 out_of_sequence": segments out of order and sent again, timeouts, congestion
/// notifications, waiting for credit. Those that a card does not have are left out.
std::map<std::string, std::uint64_t> rdma_counters(const std::string& root);

/// Rates of RDMA ports in bit/s, "mlx5_0/1"; those that say none are left out.
std::map<std::string, double> rdma_rates(const std::string& root);

inline constexpr const char* kRdmaRoot = "/sys/class/infiniband";

}  // namespace tw::attach
