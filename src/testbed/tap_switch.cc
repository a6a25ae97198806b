// SPDX-License-Identifier: Apache-2.0
#include "trainwire/testbed/tap_switch.h"

#include "trainwire/base/error.h"
#include "trainwire/fabric/fabric.h"
#include "trainwire/os/errno_error.h"

#include <sys/epoll.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <optional>

namespace tw::testbed {
namespace {

constexpr std::size_t kMostHeldBytes = std::size_t{512} << 20;
constexpr std::size_t kLargest = fabric::BufferPool::kClasses.back();
/// Smaller packets are copied into a buffer of their size, larger ones keep the one read into.
constexpr std::size_t kCopied =
    fabric::BufferPool::kClasses[fabric::BufferPool::kClasses.size() - 2];
/// A timer costs about 20 us of processor: finer ones would be most of the work.
constexpr std::int64_t kShortestWaitNs = 50'000;
/// Packets read from one device before the others and what is due get their turn.
constexpr int kReadBatch = 64;
constexpr std::uint64_t kStop = ~std::uint64_t{0};

class TapSwitch {
 public:
  TapSwitch(const network::NetPlan& plan, std::span<const os::FileDescriptor> taps,
            EngineCounters& counters, const os::FileDescriptor& stop)
      : taps_(taps),
        counters_(counters),
        pool_(kMostHeldBytes),
        fabric_(plan, counters.ports(), pool_),
        landing_(*pool_.take(kLargest)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (!epoll_.is_open()) throw os::errno_error("starting the TAP switch", errno);
    watch(stop, kStop);
    for (std::size_t i = 0; i < taps.size(); ++i) watch(taps[i], i);
  }

  void run() {
    while (wait_and_read()) release();
  }

 private:
  /// Since the begin, as the fabric wants it.
  std::int64_t now_ns() const {
    const auto since = std::chrono::steady_clock::now() - begin_;
    return std::chrono::duration_cast<std::chrono::nanoseconds>(since).count();
  }

  std::int64_t early_ns() const { return counters_.early_ns().load(std::memory_order_relaxed); }

  void watch(const os::FileDescriptor& fd, std::uint64_t number) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = number;
    if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd.get(), &event) != 0) {
      throw os::errno_error("watching a TAP device", errno);
    }
  }

  /// False when the switch is to stop.
  bool wait_and_read() {
    std::array<epoll_event, 64> events = {};
    const int ready = wait(events);
    bool goes_on = true;
    for (const epoll_event& event : std::span(events).first(static_cast<std::size_t>(ready))) {
      if (event.data.u64 == kStop) {
        goes_on = false;
      } else {
        read_batch(static_cast<int>(event.data.u64));
      }
    }
    return goes_on;
  }

  int wait(std::span<epoll_event> events) {
    timespec time = {};
    const std::optional<std::int64_t> next = fabric_.next_ns();
    if (next) {
      const std::int64_t ns = std::max(*next - early_ns() - now_ns(), kShortestWaitNs);
      time = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
    }
    const int ready = ::epoll_pwait2(epoll_.get(), events.data(), static_cast<int>(events.size()),
                                     next ? &time : nullptr, nullptr);
    if (ready < 0 && errno != EINTR) {
      throw os::errno_error("waiting for packets", errno,
                            "the exact switch needs Linux 5.11 or later; use another engine");
    }
    return std::max(ready, 0);
  }

  void read_batch(int host) {
    const os::FileDescriptor& tap = taps_[static_cast<std::size_t>(host)];
    const std::int64_t now = now_ns();
    for (int i = 0; i < kReadBatch; ++i) {
      landing_.shrink(kLargest);
      const ssize_t got = ::read(tap.get(), landing_.bytes().data(), kLargest);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        if (got == 0 || errno != EAGAIN) forget(tap);
        return;
      }
      landing_.shrink(static_cast<std::size_t>(got));
      enter(host, now);
    }
  }

  /// The device is gone: its host sends nothing more.
  void forget(const os::FileDescriptor& tap) {
    ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, tap.get(), nullptr);
  }

  void enter(int host, std::int64_t now) {
    const bool is_copied = landing_.size() <= kCopied;
    std::optional<fabric::Buffer> other =
        is_copied ? pool_.copy(landing_.bytes()) : pool_.take(kLargest);
    if (!other) {
      fabric_.refuse(host, landing_.bytes());
      return;
    }
    if (!is_copied) std::swap(*other, landing_);
    fabric_.enter(host, *std::move(other), now);
  }

  void release() {
    while (std::optional<fabric::Arrival> arrival = fabric_.next_arrival(now_ns() + early_ns())) {
      counters_.lateness().add(now_ns() - arrival->frame.time_ns);
      const std::span<const std::uint8_t> packet = arrival->frame.packet.bytes();
      const int tap = taps_[static_cast<std::size_t>(arrival->host)].get();
      if (::write(tap, packet.data(), packet.size()) < 0) {
        counters_.ports()[static_cast<std::size_t>(arrival->port)].dropped.fetch_add(
            static_cast<std::uint64_t>(arrival->frame.segments.count), std::memory_order_relaxed);
      }
    }
  }

  std::span<const os::FileDescriptor> taps_;
  EngineCounters& counters_;
  fabric::BufferPool pool_;
  fabric::Fabric fabric_;
  fabric::Buffer landing_;  ///< what is read next goes here
  os::FileDescriptor epoll_;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace

void run_tap_switch(const network::NetPlan& plan, std::span<const os::FileDescriptor> taps,
                    EngineCounters& counters, const os::FileDescriptor& stop) {
  check(taps.size() == plan.hosts.size(), "each host has its TAP device");
  // By default the kernel may wake us 50 us late to save energy. If it refuses, it does so.
  ::prctl(PR_SET_TIMERSLACK, 1UL);
  TapSwitch(plan, taps, counters, stop).run();
}

}  // namespace tw::testbed
