// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/sockets.h"

#include "trainwire/os/errno_error.h"
#include "trainwire/os/namespace.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

namespace tw::attach {
namespace {

constexpr std::uint32_t kEstablished = 1U << 1;

std::string address_text(int family, const std::uint32_t* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (::inet_ntop(family, address, text.data(), text.size()) == nullptr) return {};
  // Sockets of both families show IPv4 peers like this.
  constexpr std::string_view kMapped = "::ffff:";
  const std::string_view found(text.data());
  return std::string(found.starts_with(kMapped) && found.find('.') != found.npos
                         ? found.substr(kMapped.size())
                         : found);
}

void put_info(std::span<const std::byte> bytes, Connection& into) {
  tcp_info info = {};
  std::memcpy(&info, bytes.data(), std::min(bytes.size(), sizeof info));
  into.sent_bytes = info.tcpi_bytes_acked;
  into.received_bytes = info.tcpi_bytes_received;
  into.sent_segments = info.tcpi_segs_out;
  into.sent_again = info.tcpi_total_retrans;
  into.round_trip_s = 1e-6 * info.tcpi_rtt;
  into.least_round_trip_s = 1e-6 * info.tcpi_min_rtt;
  into.delivery_bps = 8 * static_cast<double>(info.tcpi_delivery_rate);
  into.busy_s = 1e-6 * static_cast<double>(info.tcpi_busy_time);
  into.peer_limited_s = 1e-6 * static_cast<double>(info.tcpi_rwnd_limited);
  into.buffer_limited_s = 1e-6 * static_cast<double>(info.tcpi_sndbuf_limited);
}

}  // namespace

os::NetlinkSocket open_diagnosis(int process) {
  std::optional<os::InNetwork> inside;
  if (process > 0) inside.emplace(os::open_to_read(fmt::format("/proc/{}/ns/net", process)));
  return os::NetlinkSocket(NETLINK_SOCK_DIAG);
}

std::vector<Connection> connections(os::NetlinkSocket& diagnosis) {
  std::vector<Connection> made;
  for (const int family : {AF_INET, AF_INET6}) {
    inet_diag_req_v2 request = {};
    request.sdiag_family = static_cast<std::uint8_t>(family);
    request.sdiag_protocol = IPPROTO_TCP;
    request.idiag_ext = 1U << (INET_DIAG_INFO - 1);
    request.idiag_states = kEstablished;
    os::NetlinkMessage message(SOCK_DIAG_BY_FAMILY, NLM_F_DUMP);
    message.header(request);
    diagnosis.query(std::move(message), "asking for the state of TCP", [&](const nlmsghdr& answer) {
      if (answer.nlmsg_len < NLMSG_LENGTH(sizeof(inet_diag_msg))) return;
      inet_diag_msg found = {};
      std::memcpy(&found, NLMSG_DATA(&answer), sizeof found);
      Connection each{.inode = found.idiag_inode,
                      .local = address_text(family, found.id.idiag_src),
                      .remote = address_text(family, found.id.idiag_dst),
                      .local_port = ntohs(found.id.idiag_sport),
                      .remote_port = ntohs(found.id.idiag_dport)};
      const auto info =
          os::value_of(os::find_attribute(answer, sizeof(inet_diag_msg), INET_DIAG_INFO));
      if (!info.empty()) put_info(info, each);
      made.push_back(std::move(each));
    });
  }
  return made;
}

std::map<std::string, std::string> devices_by_address() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw os::errno_error("listing the network devices", errno);
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::map<std::string, std::string> found;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    if ((at->ifa_flags & IFF_UP) == 0 || at->ifa_addr == nullptr) continue;
    std::array<std::uint32_t, 4> bytes{};
    const int family = at->ifa_addr->sa_family;
    if (family == AF_INET) {
      std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in*>(at->ifa_addr)->sin_addr, 4);
    } else if (family == AF_INET6) {
      std::memcpy(bytes.data(), &reinterpret_cast<const sockaddr_in6*>(at->ifa_addr)->sin6_addr,
                  16);
    } else {
      continue;
    }
    found.try_emplace(address_text(family, bytes.data()), at->ifa_name);
  }
  return found;
}

std::set<std::string> devices_of(const std::vector<Connection>& connections,
                                 const std::map<std::string, std::string>& by_address) {
  std::set<std::string> devices;
  const auto is_here = [&](const std::string& address) {
    return address.starts_with("127.") || by_address.contains(address);
  };
  for (const Connection& each : connections) {
    const auto device = by_address.find(each.local);
    if (is_here(each.remote)) {
      devices.insert("lo");
    } else if (device != by_address.end()) {
      devices.insert(device->second);
    }
  }
  return devices;
}

}  // namespace tw::attach
