// SPDX-License-Identifier: Apache-2.0
#include "trainwire/capture/live.h"

#include "trainwire/base/error.h"
#include "trainwire/capture/live_ring.h"
#include "trainwire/os/errno_error.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

namespace tw::capture {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// What the formats call "no limit"; larger than any frame.
constexpr std::uint32_t kWholeFrame = 262144;
constexpr std::uint64_t kStop = ~std::uint64_t{0};
constexpr std::size_t kRecordHeader = 16;  ///< of a packet in a pcap file

/// The kernel looks at every ring once in this time, whether packets come or not. Nobody waits for
/// them before stop(), so many rings share a budget of 800 looks a second.
Duration hand_over(std::size_t rings) {
  return 10ms * std::max<std::int64_t>(1, static_cast<std::int64_t>(rings) / 8);
}

std::uint32_t bytes_kept(const LiveOptions& options) {
  return options.snap_length == 0 ? kWholeFrame : options.snap_length;
}

Writer writer_of(const LiveInterface& interface, const LiveOptions& options) {
  return {
      file_sink(interface.file),
      {.format = options.format,
       .interfaces = {{.link_type = 1, .snaplen = bytes_kept(options), .name = interface.name}}}};
}

/// One interface, its ring and its file.
class Lane {
 public:
  Lane(const LiveInterface& interface, const LiveOptions& options, Duration latest)
      : writer_(writer_of(interface, options)),
        ring_(interface.network, interface.name,
              {.snap_length = bytes_kept(options), .size = options.ring, .hand_over = latest}),
        interface_(interface.name),
        keep_(options.keep),
        most_(options.most.count()) {
    result_.file = interface.file;
  }

  int descriptor() const { return ring_.descriptor(); }

  /// Number of packets that were there.
  std::size_t serve() {
    if (const auto code = ring_.trouble()) {
      fail(os::errno_error(fmt::format("capturing on {}", interface_), *code).what());
    }
    return ring_.drain([this](const packet::Record& record) { take(record); });
  }
  void close() { count_ = ring_.close(); }
  /// REQUIRES: closed.
  bool is_drained() const { return missing() <= 0; }
  LiveResult finish() {
    result_.dropped = count_.dropped;
    if (!is_drained()) {
      fail(fmt::format("capturing on {}: the kernel kept {} packets", interface_, missing()));
    }
    try {
      writer_.statistics(0, result_.packets + result_.dropped, result_.dropped);
      writer_.finish();
    } catch (const SystemError& error) {
      fail(error.what());
    }
    return result_;
  }

 private:
  /// Packets in the ring. The kernel counts in 32 bits, hence a difference in 32 bits.
  std::int32_t missing() const {
    return static_cast<std::int32_t>(count_.entered - static_cast<std::uint32_t>(result_.packets));
  }
  void take(const packet::Record& record) {
    ++result_.packets;
    result_.bytes += record.original_bytes;
    if (!writes_ || (keep_ && !keep_(record))) return;
    try {
      writer_.write(record);
      ++result_.written;
      bytes_ += static_cast<std::int64_t>(record.bytes.size() + kRecordHeader);
      result_.is_full = most_ > 0 && bytes_ >= most_;
      writes_ = !result_.is_full;
    } catch (const SystemError& error) {
      writes_ = false;
      fail(error.what());
    }
  }
  /// The first failure is the one that explains the others.
  void fail(std::string what) {
    if (!result_.failure.has_value()) result_.failure = std::move(what);
  }

  Writer writer_;
  PacketRing ring_;
  std::string interface_;
  LiveResult result_;
  RingCount count_ = {};
  std::function<bool(const packet::Record&)> keep_;
  std::int64_t most_;
  std::int64_t bytes_ = 0;  ///< of the file
  bool writes_ = true;
};

void watch(int epoll, int descriptor, std::uint64_t number) {
  epoll_event event = {};
  event.events = EPOLLIN;
  event.data.u64 = number;
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event) != 0) {
    throw os::errno_error("waiting for packets", errno);
  }
}

}  // namespace

class LiveCapture::Session {
 public:
  Session(const std::vector<LiveInterface>& interfaces, const LiveOptions& options)
      : latest_(hand_over(interfaces.size())),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)),
        stop_(::eventfd(0, EFD_CLOEXEC)) {
    if (!epoll_.is_open() || !stop_.is_open()) throw os::errno_error("waiting for packets", errno);
    watch(epoll_.get(), stop_.get(), kStop);
    for (const LiveInterface& interface : interfaces) {
      lanes_.push_back(std::make_unique<Lane>(interface, options, latest_));
      watch(epoll_.get(), lanes_.back()->descriptor(), lanes_.size() - 1);
    }
    thread_ = std::thread([this] { run(); });
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;
  ~Session() { end_thread(); }

  std::vector<LiveResult> stop() {
    check(thread_.joinable(), "a capture is stopped once");
    end_thread();
    if (error_) std::rethrow_exception(error_);
    return std::move(results_);
  }

 private:
  void end_thread() {
    if (!thread_.joinable()) return;
    const std::uint64_t one = 1;
    // An event counter takes a one at any time.
    [[maybe_unused]] const auto written = ::write(stop_.get(), &one, sizeof one);
    thread_.join();
  }

  void run() {
    try {
      while (serve()) {
      }
      drain();
      for (const auto& lane : lanes_) results_.push_back(lane->finish());
    } catch (...) {
      error_ = std::current_exception();
    }
  }

  /// Waits and empties what was handed over; false once stop was asked for.
  bool serve() {
    std::array<epoll_event, 64> events;
    const int count = ::epoll_wait(epoll_.get(), events.data(), events.size(), -1);
    if (count < 0 && errno != EINTR) throw os::errno_error("waiting for packets", errno);
    bool goes_on = true;
    for (int i = 0; i < count; ++i) {
      const std::uint64_t number = events[static_cast<std::size_t>(i)].data.u64;
      number == kStop ? void(goes_on = false) : void(lanes_[number]->serve());
    }
    return goes_on;
  }

  /// Everything that entered the rings, whose last blocks the kernel hands over in its own time.
  void drain() {
    for (const auto& lane : lanes_) lane->close();
    const auto is_drained = [](const auto& lane) { return lane->is_drained(); };
    auto last_packet = Clock::now();
    while (!std::all_of(lanes_.begin(), lanes_.end(), is_drained) &&
           Clock::now() < last_packet + 20 * latest_ + 1s) {
      for (const auto& lane : lanes_) {
        if (lane->serve() > 0) last_packet = Clock::now();
      }
      std::this_thread::sleep_for(2ms);
    }
  }

  Duration latest_;
  os::FileDescriptor epoll_;
  os::FileDescriptor stop_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<LiveResult> results_;
  std::exception_ptr error_;
  std::thread thread_;
};

LiveCapture::LiveCapture(const std::vector<LiveInterface>& interfaces, const LiveOptions& options)
    : session_(std::make_unique<Session>(interfaces, options)) {}
LiveCapture::LiveCapture(LiveCapture&&) noexcept = default;
LiveCapture& LiveCapture::operator=(LiveCapture&&) noexcept = default;
LiveCapture::~LiveCapture() = default;

std::vector<LiveResult> LiveCapture::stop() {
  check(session_ != nullptr, "a capture that was moved away is not stopped");
  return session_->stop();
}

}  // namespace tw::capture
