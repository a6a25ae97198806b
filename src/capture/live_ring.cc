// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/live_ring.h"

#include "trainwire/base/error.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/namespace.h"

#include <fmt/format.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>

namespace tw::capture {
namespace {

/// Holds the largest super-frame whole, and some thousand headers.
constexpr std::size_t kBlockBytes = 256 * 1024;
/// The kernel only checks that it divides a block: packets of version 3 lie end to end.
constexpr unsigned kFrameBytes = 2048;

/// Bound to nothing yet, so that no packet of another interface gets in.
os::FileDescriptor packet_socket(const os::FileDescriptor& network, const std::string& interface) {
  const os::InNetwork inside(network);
  os::FileDescriptor made(::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.is_open()) {
    throw os::errno_error(fmt::format("capturing on {}", interface), errno,
                          errno == EPERM ? "needs CAP_NET_RAW; see trainwire doctor" : "");
  }
  return made;
}

template <class T>
void set_option(int socket, int level, int name, const T& value) {
  if (::setsockopt(socket, level, name, &value, sizeof value) != 0) {
    throw os::errno_error("setting up a packet ring", errno);
  }
}

tpacket_block_desc* block_at(std::byte* memory, std::size_t index) {
  return reinterpret_cast<tpacket_block_desc*>(memory + index * kBlockBytes);
}

packet::Record record_of(const tpacket3_hdr& packet) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(&packet) + packet.tp_mac;
  return {.bytes = {bytes, packet.tp_snaplen},
          .original_bytes = packet.tp_len,
          .time_ns = std::int64_t{packet.tp_sec} * 1'000'000'000 + packet.tp_nsec,
          .interface = 0,
          .link = packet::Link::Ethernet};
}

}  // namespace

PacketRing::PacketRing(const os::FileDescriptor& network, const std::string& interface,
                       const RingOptions& options)
    : socket_(packet_socket(network, interface)) {
  check(options.snap_length > 0, "something of a packet is kept");
  // The filter also spares the kernel the copying of what lies behind the snap length.
  pass_at_most(options.snap_length);
  map(options);
  try {
    bind_to(interface);
  } catch (...) {
    ::munmap(memory_, blocks_ * kBlockBytes);
    throw;
  }
}

PacketRing::~PacketRing() { ::munmap(memory_, blocks_ * kBlockBytes); }

void PacketRing::pass_at_most(std::uint32_t bytes) {
  sock_filter verdict = {.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = bytes};
  set_option(socket_.get(), SOL_SOCKET, SO_ATTACH_FILTER, sock_fprog{.len = 1, .filter = &verdict});
}

void PacketRing::map(const RingOptions& options) {
  const auto wanted = static_cast<std::size_t>(std::max<std::int64_t>(options.size.count(), 0));
  blocks_ = std::max<std::size_t>(2, (wanted + kBlockBytes - 1) / kBlockBytes);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(options.hand_over).count();
  set_option(socket_.get(), SOL_PACKET, PACKET_VERSION, int{TPACKET_V3});
  const tpacket_req3 request = {
      .tp_block_size = kBlockBytes,
      .tp_block_nr = static_cast<unsigned>(blocks_),
      .tp_frame_size = kFrameBytes,
      .tp_frame_nr = static_cast<unsigned>(blocks_ * (kBlockBytes / kFrameBytes)),
      .tp_retire_blk_tov = static_cast<unsigned>(std::max<std::int64_t>(milliseconds, 1)),
      .tp_sizeof_priv = 0,
      .tp_feature_req_word = 0};
  set_option(socket_.get(), SOL_PACKET, PACKET_RX_RING, request);
  void* const memory =
      ::mmap(nullptr, blocks_ * kBlockBytes, PROT_READ | PROT_WRITE, MAP_SHARED, socket_.get(), 0);
  if (memory == MAP_FAILED) throw os::errno_error("mapping a packet ring", errno);
  memory_ = static_cast<std::byte*>(memory);
}

void PacketRing::bind_to(const std::string& interface) {
  const std::string attempt = fmt::format("capturing on {}", interface);
  ifreq request = {};
  interface.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(socket_.get(), SIOCGIFHWADDR, &request) != 0) throw os::errno_error(attempt, errno);
  const auto kind = request.ifr_hwaddr.sa_family;
  if (kind != ARPHRD_ETHER && kind != ARPHRD_LOOPBACK) {
    throw SystemError(fmt::format("{}: it is no Ethernet interface", attempt));
  }
  set_option(socket_.get(), SOL_PACKET, PACKET_IGNORE_OUTGOING, int{kind == ARPHRD_LOOPBACK});
  if (::ioctl(socket_.get(), SIOCGIFINDEX, &request) != 0) throw os::errno_error(attempt, errno);
  sockaddr_ll address = {};
  address.sll_family = AF_PACKET;
  address.sll_protocol = htons(ETH_P_ALL);
  address.sll_ifindex = request.ifr_ifindex;
  if (::bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    throw os::errno_error(attempt, errno);
  }
}

std::size_t PacketRing::drain(const std::function<void(const packet::Record&)>& take) {
  std::size_t packets = 0;
  for (std::size_t round = 0; round < blocks_; ++round) {
    tpacket_hdr_v1& block = block_at(memory_, next_)->hdr.bh1;
    const std::atomic_ref<std::uint32_t> owner(block.block_status);
    if ((owner.load(std::memory_order_acquire) & TP_STATUS_USER) == 0) break;
    auto* at = reinterpret_cast<std::byte*>(block_at(memory_, next_)) + block.offset_to_first_pkt;
    for (std::uint32_t i = 0; i < block.num_pkts; ++i) {
      const auto& packet = *reinterpret_cast<const tpacket3_hdr*>(at);
      take(record_of(packet));
      at += packet.tp_next_offset;
    }
    packets += block.num_pkts;
    owner.store(TP_STATUS_KERNEL, std::memory_order_release);
    next_ = (next_ + 1) % blocks_;
  }
  return packets;
}

RingCount PacketRing::close() {
  pass_at_most(0);
  tpacket_stats_v3 counted = {};
  socklen_t size = sizeof counted;
  if (::getsockopt(socket_.get(), SOL_PACKET, PACKET_STATISTICS, &counted, &size) != 0) {
    throw os::errno_error("asking for dropped packets", errno);
  }
  return {.entered = counted.tp_packets - counted.tp_drops, .dropped = counted.tp_drops};
}

std::optional<int> PacketRing::trouble() {
  int code = 0;
  socklen_t size = sizeof code;
  ::getsockopt(socket_.get(), SOL_SOCKET, SO_ERROR, &code, &size);
  return code == 0 ? std::nullopt : std::optional(code);
}

}  // namespace tw::capture
