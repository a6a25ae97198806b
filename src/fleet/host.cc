// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fleet/host.h"

#include "trainwire/base/error.h"
#include "trainwire/base/units.h"
#include "trainwire/capture/live.h"
#include "trainwire/fleet/device.h"
#include "trainwire/fleet/handshake.h"
#include "trainwire/fleet/host_process.h"
#include "trainwire/fleet/link.h"
#include "trainwire/fleet/shape.h"
#include "trainwire/ledger/folder.h"
#include "trainwire/ledger/ledger.h"
#include "trainwire/ledger/leftovers.h"
#include "trainwire/ledger/scratch.h"
#include "trainwire/os/clock.h"
#include "trainwire/watch/counters.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <filesystem>
#include <memory>
#include <span>
#include <thread>

namespace tw::fleet {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kLongestJoining = seconds(60);
constexpr std::int64_t kAliveNs = 1'000'000'000;
constexpr std::int64_t kLongestSilenceNs = 30'000'000'000;
constexpr int kLookMs = 10;
/// What is still on its way when the last process has ended.
constexpr auto kSettling = milliseconds(150);
constexpr std::size_t kChunk = 1 << 18;

volatile std::sig_atomic_t ended_by = 0;

void note_signal(int number) { ended_by = number; }

/// Launchers end their processes by signals: there is a folder to be removed first.
void watch_signals() {
  for (const int number : {SIGTERM, SIGINT, SIGHUP}) ::signal(number, note_signal);
}

void heed_signals() {
  if (ended_by != 0) throw Error(fmt::format("ended by signal {}", static_cast<int>(ended_by)));
}

std::string host_name() {
  std::array<char, 256> name = {};
  ::gethostname(name.data(), name.size() - 1);
  const std::string whole = name.data();
  return whole.substr(0, whole.find('.'));
}

json to_json(const watch::LinkCounters& counters) {
  return {{"received_bytes", counters.received_bytes},
          {"received_packets", counters.received_packets},
          {"received_dropped", counters.received_dropped},
          {"sent_bytes", counters.sent_bytes},
          {"sent_packets", counters.sent_packets},
          {"sent_dropped", counters.sent_dropped}};
}

/// Captures a device, and reads its counters as close to both ends of the capture as can be.
class Meter {
 public:
  Meter(const std::string& device, const std::string& file, int snap_length)
      : network_(os::open_to_read("/proc/self/ns/net")),
        reader_(std::array{watch::WatchedLink{.network = network_, .name = device}}) {
    before_ = read();
    capture_.emplace(
        std::vector<capture::LiveInterface>{{.network = network_, .name = device, .file = file}},
        capture::LiveOptions{.snap_length = static_cast<std::uint32_t>(snap_length)});
    begun_ = read();
  }

  json finish() {
    const watch::LinkCounters ending = read();
    const capture::LiveResult result = capture_->stop().front();
    const watch::LinkCounters after = read();
    capture_.reset();
    json told{{"packets", result.packets},  {"bytes", result.bytes},    {"dropped", result.dropped},
              {"before", to_json(before_)}, {"begun", to_json(begun_)}, {"ending", to_json(ending)},
              {"after", to_json(after)}};
    if (result.failure) told["failure"] = *result.failure;
    return told;
  }

 private:
  watch::LinkCounters read() {
    std::array<watch::LinkCounters, 1> counters = {};
    reader_.read(counters);
    return counters.front();
  }

  os::FileDescriptor network_;
  watch::CounterReader reader_;
  std::optional<capture::LiveCapture> capture_;
  watch::LinkCounters before_;
  watch::LinkCounters begun_;
};

class Host {
 public:
  explicit Host(const HostOptions& options)
      : options_(options),
        link_(connect_any(options.meetings, kLongestJoining), kMostHello),
        device_(device()),
        ledger_(ledger::state_folder(), "host"),
        scratch_("host", ledger_) {}

  void run() {
    meet_run(link_, options_.token,
             {{"number", options_.number},
              {"count", options_.count ? json(*options_.count) : json()},
              {"name", host_name()},
              {"address", device_.address},
              {"interface", device_.name}},
             Duration(kLongestSilenceNs), heed_signals);
    link_.set_most(kMostContent);
    while (!left_) {
      wait();
      link_.pump();
      while (const auto frame = link_.next()) take(*frame);
      if (left_) break;
      if (!link_.is_open()) throw Error("the run has ended; this host's processes end with it");
      if (os::monotonic_ns() - link_.heard_ns() > kLongestSilenceNs) {
        throw Error(fmt::format("the run has been silent for {}; this host's processes end",
                                readable(Duration(kLongestSilenceNs))));
      }
      heed_signals();
      look_at_processes();
      tell_alive();
      link_.pump();
    }
    link_.flush(seconds(5));
  }

 private:
  Device device() const {
    if (!options_.interface.empty()) return device_named(options_.interface);
    const std::string address = own_address(link_.descriptor());
    if (auto found = device_with(address)) return *found;
    throw SystemError(fmt::format(
        "no network device has the address {} that reaches the run; say which with --interface",
        address));
  }

  void wait() const {
    std::vector<pollfd> waited{{.fd = link_.descriptor(), .events = POLLIN, .revents = 0}};
    for (const auto& process : processes_) {
      if (process->descriptor() >= 0) {
        waited.push_back({.fd = process->descriptor(), .events = POLLIN, .revents = 0});
      }
    }
    ::poll(waited.data(), waited.size(), kLookMs);
  }

  void tell_alive() {
    const std::int64_t now = os::monotonic_ns();
    if (now - told_ns_ < kAliveNs) return;
    told_ns_ = now;
    link_.send(json{{"alive", true}});
  }

  void take(const Frame& frame) {
    if (frame.kind == FrameKind::Control) {
      if (HostProcess* const process = find(frame.channel)) process->tell(frame.content);
      return;
    }
    const json message = message_of(frame);
    if (message.contains("clock")) {
      link_.send(json{{"clock", message.at("clock")}, {"real_ns", os::real_time_ns()}});
      link_.pump();
    } else if (message.contains("begin")) {
      attempt([&] { begin(message.at("begin")); });
    } else if (message.contains("start")) {
      attempt([&] { start(frame.channel, message.at("start")); });
    } else if (message.contains("signal")) {
      if (HostProcess* const process = find(frame.channel)) {
        process->signal(message.at("signal").get<int>());
      }
    } else if (message.contains("finish")) {
      attempt([&] { finish(); });
    } else if (message.contains("leave")) {
      left_ = true;
    }
  }

  template <typename Act>
  void attempt(Act act) {
    try {
      act();
    } catch (const Error& error) {
      link_.send(json{{"failed", error.what()}});
    }
  }

  void begin(const json& orders) {
    folders_ = {.run = orders.at("folder").get<std::string>(), .here = scratch_.path()};
    if (orders.contains("shape")) {
      shaping_ = std::make_unique<Shaping>(device_.name, shape_from(orders.at("shape")), ledger_);
    }
    if (orders.at("captures").get<bool>()) {
      meter_ = std::make_unique<Meter>(device_.name, scratch_.file(kCapture),
                                       orders.at("snap_length").get<int>());
    }
    link_.send(json{{"begun", true}});
  }

  void start(std::uint32_t number, const json& document) {
    processes_.push_back(std::make_unique<HostProcess>(number, orders_from(document), folders_));
  }

  HostProcess* find(std::uint32_t number) const {
    for (const auto& process : processes_) {
      if (process->number() == number) return process.get();
    }
    return nullptr;
  }

  void look_at_processes() {
    for (auto& process : processes_) {
      const auto ending = process->poll();  // first: what it said before comes before its end
      while (auto text = process->hear()) {
        link_.send(Frame{
            .kind = FrameKind::Control, .channel = process->number(), .content = std::move(*text)});
      }
      if (!ending) continue;
      link_.send(Frame{.channel = process->number(),
                       .content = json{{"ended", {ending->exit_code, ending->signal}}}.dump()});
      process.reset();
    }
    std::erase(processes_, nullptr);
  }

  void finish() {
    processes_.clear();
    std::this_thread::sleep_for(kSettling);
    json told = meter_ ? meter_->finish() : json();
    meter_.reset();
    const bool changed = shaping_ && !shaping_->is_there();
    shaping_.reset();  // files go home at the device's own speed
    std::uint32_t number = 0;
    for (const auto& entry : std::filesystem::directory_iterator(scratch_.path())) {
      if (entry.is_regular_file()) send_file(entry.path().string(), number++);
    }
    json message{{"finished", told}};
    if (changed) {
      message["trouble"] =
          fmt::format("somebody has changed the queues of {} during the run", device_.name);
    }
    link_.send(message);
  }

  void send_file(const std::string& path, std::uint32_t number) {
    const os::FileDescriptor file = os::open_to_read(path);
    link_.send(
        Frame{.channel = number,
              .content = json{{"file", std::filesystem::path(path).filename().string()}}.dump()});
    std::string room(kChunk, '\0');
    for (;;) {
      const auto count = os::read_some(file, std::as_writable_bytes(std::span(room)));
      if (count < 0) throw SystemError("reading " + path);
      if (count == 0) break;
      link_.send(Frame{.kind = FrameKind::Bytes,
                       .channel = number,
                       .content = room.substr(0, static_cast<std::size_t>(count))});
      if (!link_.flush(seconds(30))) throw Error("the run takes no more files");
    }
  }

  static constexpr const char* kCapture = "capture.pcap";

  const HostOptions& options_;
  Link link_;
  Device device_;
  ledger::Ledger ledger_;
  ledger::Scratch scratch_;
  Folders folders_;
  std::unique_ptr<Shaping> shaping_;
  std::unique_ptr<Meter> meter_;
  std::vector<std::unique_ptr<HostProcess>> processes_;
  std::int64_t told_ns_ = os::monotonic_ns();
  bool left_ = false;
};

}  // namespace

void run_host(const HostOptions& options) {
  ledger::clear_leftovers(ledger::state_folder());
  watch_signals();
  Host(options).run();
}

}  // namespace tw::fleet
