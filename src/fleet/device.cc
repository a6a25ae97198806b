// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/device.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>

namespace tw::fleet {
namespace {

std::string text_of(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text = {};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) {
    bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  } else if (address->sa_family == AF_INET6) {
    const auto* const v6 = &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr;
    if (IN6_IS_ADDR_LINKLOCAL(v6)) return {};
    bytes = v6;
  }
  if (bytes == nullptr) return {};
  ::inet_ntop(address->sa_family, bytes, text.data(), text.size());
  return text.data();
}

}  // namespace

std::vector<Device> devices() {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) throw os::errno_error("listing the network devices", errno);
  const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owner(list, &::freeifaddrs);
  std::vector<Device> found;
  for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
    const bool reaches = (at->ifa_flags & IFF_UP) != 0 && (at->ifa_flags & IFF_LOOPBACK) == 0;
    if (!reaches || at->ifa_addr == nullptr) continue;
    std::string address = text_of(at->ifa_addr);
    if (!address.empty()) found.push_back({.name = at->ifa_name, .address = std::move(address)});
  }
  std::ranges::stable_sort(found, {}, [](const Device& device) {
    return device.address.find(':') != std::string::npos;
  });
  return found;
}

Device device_named(const std::string& name) {
  const std::vector<Device> all = devices();
  std::vector<std::string> names;
  for (const Device& device : all) {
    if (device.name == name) return device;
    if (std::ranges::find(names, device.name) == names.end()) names.push_back(device.name);
  }
  throw SystemError(fmt::format("no network device {} with an address is up here; there {} {}",
                                name, names.size() == 1 ? "is" : "are", fmt::join(names, ", ")));
}

std::optional<Device> device_with(const std::string& address) {
  for (Device& device : devices()) {
    if (device.address == address) return std::move(device);
  }
  return {};
}

std::string own_address(int socket) {
  sockaddr_storage storage = {};
  socklen_t length = sizeof storage;
  auto* const address = reinterpret_cast<sockaddr*>(&storage);
  if (::getsockname(socket, address, &length) != 0) {
    throw os::errno_error("asking for the address of a connection", errno);
  }
  return text_of(address);
}

}  // namespace tw::fleet
