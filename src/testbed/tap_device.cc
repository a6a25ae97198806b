// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/tap_device.h"

#include "trainwire/base/error.h"
#include "trainwire/fabric/segments.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/namespace.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tw::testbed {
namespace {

constexpr const char* kRemedy =
    "the exact switch needs root and the tun module (modprobe tun); see trainwire doctor";
constexpr unsigned kTcpOffload = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
/// TUN_F_USO4 and TUN_F_USO6, since Linux 6.2.
constexpr unsigned kUdpOffload = 0x20 | 0x40;
/// Packets that the device holds until they are read. Beyond, the kernel drops them unseen by the
/// switch's counters, so it is enough for 20 ms without a processor at 1 Gbit/s of full frames.
constexpr int kDeviceQueue = 2048;

os::FileDescriptor open_driver() {
  os::FileDescriptor tap(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tap.is_open()) throw os::errno_error("opening /dev/net/tun", errno, kRemedy);
  return tap;
}

ifreq named(const std::string& name) {
  ifreq request = {};
  std::memcpy(request.ifr_name, name.c_str(), name.size());
  return request;
}

void make_device(const os::FileDescriptor& tap, const std::string& name) {
  ifreq request = named(name);
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  if (::ioctl(tap.get(), TUNSETIFF, &request) != 0) {
    throw os::errno_error(fmt::format("making the TAP device {}", name), errno, kRemedy);
  }
}

void set_offload(const os::FileDescriptor& tap, const std::string& name) {
  const int header = fabric::kOffloadBytes;
  const bool done = ::ioctl(tap.get(), TUNSETVNETHDRSZ, &header) == 0 &&
                    (::ioctl(tap.get(), TUNSETOFFLOAD, kTcpOffload | kUdpOffload) == 0 ||
                     ::ioctl(tap.get(), TUNSETOFFLOAD, kTcpOffload) == 0);
  if (!done) {
    throw os::errno_error(fmt::format("setting the offloads of the TAP device {}", name), errno,
                          "the exact switch needs Linux 5.11 or later; use another engine");
  }
}

void set_address(const os::FileDescriptor& tap, const std::string& name, const network::Mac& mac) {
  ifreq request = named(name);
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  std::memcpy(request.ifr_hwaddr.sa_data, mac.data(), mac.size());
  if (::ioctl(tap.get(), SIOCSIFHWADDR, &request) != 0) {
    throw os::errno_error(fmt::format("setting the hardware address of {}", name), errno);
  }
}

void set_queue(const std::string& name) {
  const os::FileDescriptor socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq request = named(name);
  request.ifr_qlen = kDeviceQueue;
  if (!socket.is_open() || ::ioctl(socket.get(), SIOCSIFTXQLEN, &request) != 0) {
    throw os::errno_error(fmt::format("setting the queue of {}", name), errno);
  }
}

}  // namespace

os::FileDescriptor open_tap(const os::FileDescriptor& host_namespace, const std::string& name,
                            const network::Mac& mac) {
  check(!name.empty() && name.size() < IFNAMSIZ, "a device's name has 1 to 15 letters");
  const os::InNetwork inside(host_namespace);
  // The driver's descriptor belongs to the namespace in which it is opened.
  os::FileDescriptor tap = open_driver();
  make_device(tap, name);
  set_offload(tap, name);
  set_address(tap, name, mac);
  set_queue(name);
  return tap;
}

}  // namespace tw::testbed
