// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/hold.h"

#include "trainwire/fabric/port_model.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/os/netlink.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/netlink.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <optional>
#include <queue>
#include <set>
#include <unordered_map>

namespace tw::testbed {
namespace {

using os::NetlinkMessage;

constexpr std::uint32_t kLongestQueue = 1U << 20;
constexpr int kReceiveBytes = 64 << 20;
constexpr std::size_t kBatch = 64;
constexpr std::size_t kMessageBytes = 512;
/// No wake-ups finer than this: each costs as much as releasing dozens of packets.
constexpr std::int64_t kFinestWakeNs = 20'000;

std::int64_t now_ns() {
  timespec now = {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

nfgenmsg queue_header(int queue) {
  return {.nfgen_family = AF_UNSPEC,
          .version = NFNETLINK_V0,
          .res_id = htons(static_cast<std::uint16_t>(queue))};
}

NetlinkMessage queue_message(int type, int queue) {
  NetlinkMessage message((NFNL_SUBSYS_QUEUE << 8) | type, 0);
  message.header(queue_header(queue));
  return message;
}

void bind_queue(os::NetlinkSocket& socket, int queue) {
  NetlinkMessage bind = queue_message(NFQNL_MSG_CONFIG, queue);
  bind.put(
      NFQA_CFG_CMD,
      nfqnl_msg_config_cmd{.command = NFQNL_CFG_CMD_BIND, ._pad = 0, .pf = htons(NFPROTO_BRIDGE)});
  socket.request(std::move(bind), fmt::format("binding packet queue {}", queue));
  NetlinkMessage settings = queue_message(NFQNL_MSG_CONFIG, queue);
  settings
      .put(NFQA_CFG_PARAMS, nfqnl_msg_config_params{.copy_range = 0, .copy_mode = NFQNL_COPY_META})
      .put(NFQA_CFG_QUEUE_MAXLEN, htonl(kLongestQueue))
      .put(NFQA_CFG_FLAGS, htonl(NFQA_CFG_F_GSO))
      .put(NFQA_CFG_MASK, htonl(NFQA_CFG_F_GSO));
  socket.request(std::move(settings), fmt::format("setting up packet queue {}", queue));
}

struct Held {
  std::int64_t due_ns = 0;
  std::uint64_t order = 0;  ///< of arrival, for equal due times
  int queue = 0;
  std::uint32_t id = 0;
  bool operator>(const Held& other) const {
    return due_ns != other.due_ns ? due_ns > other.due_ns : order > other.order;
  }
};

/// What a queue tells of a packet.
struct Notice {
  int queue = 0;
  std::uint32_t id = 0;
  int in = 0;
  int out = 0;
};

template <typename T>
T read_as(std::span<const std::byte> bytes) {
  T value = {};
  if (bytes.size() >= sizeof value) std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

Notice read_notice(const nlmsghdr& message) {
  const auto attribute = [&](int type) {
    return os::value_of(os::find_attribute(message, sizeof(nfgenmsg), type));
  };
  const auto device = [&](int physical, int plain) {
    const auto value = attribute(physical);
    const auto index = read_as<std::uint32_t>(value.empty() ? attribute(plain) : value);
    return static_cast<int>(ntohl(index));
  };
  nfgenmsg header = {};
  std::memcpy(&header, &message + 1, sizeof header);
  const auto packet = read_as<nfqnl_msg_packet_hdr>(attribute(NFQA_PACKET_HDR));
  return {.queue = ntohs(header.res_id),
          .id = ntohl(packet.packet_id),
          .in = device(NFQA_IFINDEX_PHYSINDEV, NFQA_IFINDEX_INDEV),
          .out = device(NFQA_IFINDEX_PHYSOUTDEV, NFQA_IFINDEX_OUTDEV)};
}

class Engine {
 public:
  Engine(const network::NetPlan& plan, const std::vector<SwitchDevice>& devices,
         const std::vector<Hold>& holds, EngineCounters& counters)
      : plan_(plan), counters_(counters), socket_(NETLINK_NETFILTER), random_(plan.seed, "hold") {
    for (const network::Port& port : plan.ports) losses_.emplace_back(port, plan.seed);
    for (const SwitchDevice& device : devices) devices_.emplace(device.index, device);
    jitters_ = std::any_of(plan.ports.begin(), plan.ports.end(),
                           [](const network::Port& port) { return port.jitter > Duration(0); });
    prepare_socket();
    std::set<int> queues;
    for (const Hold& hold : holds) queues.insert(hold.queue);
    for (const int queue : queues) bind_queue(socket_, queue);
    // Verdicts are not answered and nobody waits for them.
    prepare_buffers();
  }

  void run(const os::FileDescriptor& stop) {
    std::array<pollfd, 2> waited{
        {{.fd = socket_.descriptor().get(), .events = POLLIN, .revents = 0},
         {.fd = stop.get(), .events = POLLIN, .revents = 0}}};
    while ((waited[1].revents & (POLLIN | POLLHUP)) == 0) {
      while (receive()) release();
      release();
      const timespec time = time_to_wait();
      if (::ppoll(waited.data(), waited.size(), held_.empty() ? nullptr : &time, nullptr) < 0 &&
          errno != EINTR) {
        throw os::errno_error("waiting for packets", errno);
      }
    }
  }

 private:
  void prepare_socket() {
    const int fd = socket_.descriptor().get();
    if (::setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &kReceiveBytes, sizeof kReceiveBytes) != 0) {
      ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &kReceiveBytes, sizeof kReceiveBytes);
    }
  }

  void prepare_buffers() {
    for (std::size_t i = 0; i < kBatch; ++i) {
      places_[i] = {.iov_base = buffers_[i].data(), .iov_len = kMessageBytes};
      headers_[i].msg_hdr.msg_iov = &places_[i];
      headers_[i].msg_hdr.msg_iovlen = 1;
    }
  }

  /// Reads what waits, up to a batch; false when there was less.
  bool receive() {
    const int count =
        ::recvmmsg(socket_.descriptor().get(), headers_.data(), kBatch, MSG_DONTWAIT, nullptr);
    if (count < 0) {
      // ENOBUFS: the kernel dropped notices, and with them their packets, which it counts itself.
      if (errno == EAGAIN || errno == EINTR || errno == ENOBUFS) return errno == ENOBUFS;
      throw os::errno_error("reading packet notices", errno);
    }
    const std::int64_t now = now_ns();
    for (int i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto* message = reinterpret_cast<const nlmsghdr*>(buffers_[at].data());
      const bool is_packet = message->nlmsg_type == ((NFNL_SUBSYS_QUEUE << 8) | NFQNL_MSG_PACKET);
      if (is_packet && headers_[at].msg_len >= message->nlmsg_len)
        accept(read_notice(*message), now);
    }
    send_verdicts();
    return count == static_cast<int>(kBatch);
  }

  void accept(const Notice& notice, std::int64_t now) {
    const auto in = devices_.find(notice.in);
    const auto out = devices_.find(notice.out);
    if (in == devices_.end() || out == devices_.end()) {
      add_verdict(NFQNL_MSG_VERDICT, notice.queue, notice.id, NF_ACCEPT);
      return;
    }
    if (is_lost(in->second, out->second)) {
      add_verdict(NFQNL_MSG_VERDICT, notice.queue, notice.id, NF_DROP);
      return;
    }
    held_.push({.due_ns = due(in->second, out->second, now),
                .order = ++order_,
                .queue = notice.queue,
                .id = notice.id});
  }

  bool is_lost(const SwitchDevice& in, const SwitchDevice& out) {
    const bool lost = lost_at(in.arriving);
    // Lost on its last link, a packet has passed the first.
    return lost || (faces_host(plan_, out) && lost_at(out.departing));
  }

  bool lost_at(int port) {
    const auto at = static_cast<std::size_t>(port);
    fabric::PortCounters& counts = counters_.ports()[at];
    counts.packets.fetch_add(1, std::memory_order_relaxed);
    const bool lost = losses_[at].loses_next(counts.orders.loss.load(std::memory_order_relaxed));
    if (lost) counts.lost.fetch_add(1, std::memory_order_relaxed);
    return lost;
  }

  std::int64_t due(const SwitchDevice& in, const SwitchDevice& out, std::int64_t now) {
    const std::int64_t time = hold_time(plan_, in, out).count();
    if (!jitters_) return now + time;
    const double extra = jitter(in.arriving) + (faces_host(plan_, out) ? jitter(out.departing) : 0);
    std::int64_t& last = last_due_[{in.index, out.index}];
    last = std::max(last, now + std::max<std::int64_t>(0, time + static_cast<std::int64_t>(extra)));
    return last;
  }

  double jitter(int port) {
    const Duration deviation = plan_.ports[static_cast<std::size_t>(port)].jitter;
    return deviation > Duration(0) ? static_cast<double>(deviation.count()) * random_.normal() : 0;
  }

  void release() {
    const std::int64_t now = now_ns();
    std::unordered_map<int, std::uint32_t> latest;  // id by queue
    while (!held_.empty() && held_.top().due_ns <= now + early_ns()) {
      const Held& packet = held_.top();
      counters_.lateness().add(now - packet.due_ns);
      if (jitters_) {
        add_verdict(NFQNL_MSG_VERDICT, packet.queue, packet.id, NF_ACCEPT);
      } else {
        latest[packet.queue] = packet.id;
      }
      held_.pop();
    }
    // Without jitter a queue is first in, first out: one verdict for all up to an id.
    for (const auto& [queue, id] : latest)
      add_verdict(NFQNL_MSG_VERDICT_BATCH, queue, id, NF_ACCEPT);
    send_verdicts();
  }

  void add_verdict(int type, int queue, std::uint32_t id, std::uint32_t verdict) {
    struct {
      nlmsghdr message;
      nfgenmsg header;
      nlattr attribute;
      nfqnl_msg_verdict_hdr verdict;
    } const whole{
        .message = {.nlmsg_len = sizeof whole,
                    .nlmsg_type = static_cast<std::uint16_t>((NFNL_SUBSYS_QUEUE << 8) | type),
                    .nlmsg_flags = NLM_F_REQUEST,
                    .nlmsg_seq = 0,
                    .nlmsg_pid = 0},
        .header = queue_header(queue),
        .attribute = {.nla_len = sizeof(nlattr) + sizeof(nfqnl_msg_verdict_hdr),
                      .nla_type = NFQA_VERDICT_HDR},
        .verdict = {.verdict = htonl(verdict), .id = htonl(id)}};
    const auto bytes = std::as_bytes(std::span(&whole, 1));
    verdicts_.insert(verdicts_.end(), bytes.begin(), bytes.end());
  }

  void send_verdicts() {
    constexpr std::size_t kMost = 16384;
    constexpr std::size_t kOne = 36;
    for (std::size_t at = 0; at < verdicts_.size(); at += kMost / kOne * kOne) {
      const std::size_t size = std::min(verdicts_.size() - at, kMost / kOne * kOne);
      if (::send(socket_.descriptor().get(), verdicts_.data() + at, size, 0) < 0 &&
          errno != ENOENT) {
        throw os::errno_error("releasing packets", errno);
      }
    }
    verdicts_.clear();
  }

  std::int64_t early_ns() const { return counters_.early_ns().load(std::memory_order_relaxed); }

  timespec time_to_wait() const {
    if (held_.empty()) return {};
    const std::int64_t left = std::max(held_.top().due_ns - early_ns() - now_ns(), kFinestWakeNs);
    return {.tv_sec = left / 1'000'000'000, .tv_nsec = left % 1'000'000'000};
  }

  struct PairHash {
    std::size_t operator()(const std::pair<int, int>& pair) const {
      return static_cast<std::size_t>(pair.first) * 65537U + static_cast<std::size_t>(pair.second);
    }
  };

  const network::NetPlan& plan_;
  EngineCounters& counters_;
  os::NetlinkSocket socket_;
  std::vector<fabric::LossModel> losses_;
  std::unordered_map<int, SwitchDevice> devices_;
  bool jitters_ = false;
  Random random_;
  std::unordered_map<std::pair<int, int>, std::int64_t, PairHash> last_due_;
  std::priority_queue<Held, std::vector<Held>, std::greater<>> held_;
  std::uint64_t order_ = 0;
  std::vector<std::byte> verdicts_;
  std::array<std::array<std::byte, kMessageBytes>, kBatch> buffers_ = {};
  std::array<iovec, kBatch> places_ = {};
  std::array<mmsghdr, kBatch> headers_ = {};
};

}  // namespace

void run_hold(const network::NetPlan& plan, const std::vector<SwitchDevice>& devices,
              const std::vector<Hold>& holds, EngineCounters& counters,
              const os::FileDescriptor& ready, const os::FileDescriptor& stop) {
  ::prctl(PR_SET_TIMERSLACK, 1);
  const auto engine = std::make_unique<Engine>(plan, devices, holds, counters);
  os::write_all(ready, std::as_bytes(std::span("r", 1)), "the pipe to the run");
  engine->run(stop);
}

}  // namespace tw::testbed
