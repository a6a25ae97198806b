// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/command.h"
#include "trainwire/attach/judged.h"
#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"
#include "trainwire/base/units.h"
#include "trainwire/command/command_line.h"
#include "trainwire/record/json.h"
#include "trainwire/terminal/interrupt.h"

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <thread>
#include <tuple>

namespace tw::attach {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::ordered_json;

constexpr std::size_t kMostShown = 8;
constexpr std::chrono::milliseconds kPatience(100);  ///< until an interrupt is noticed

struct WatchOptions {
  std::string process;
  std::string length = "30s";
  std::string every = "10ms";
  bool json = false;
};

Duration time_of(const std::string& text, std::string_view option, Duration least) {
  const auto time = parse_duration(text);
  if (!time || *time < least || *time > std::chrono::hours(24)) {
    throw SpecError(fmt::format("{} {}: expected a time from {} to 24h with its unit", option,
                                printable(text), readable(least)));
  }
  return *time;
}

int process_of(const std::string& text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1) {
    throw SpecError(
        fmt::format("watching {}: expected a process's number; `pgrep -f train.py` finds a job's",
                    printable(text)));
  }
  return number;
}

/// The process's own view: devices of its network namespace, and the machine's RDMA ports.
std::map<std::string, DeviceBytes> devices_now(int process) {
  std::ifstream file(fmt::format("/proc/{}/net/dev", process));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  auto devices = parse_devices(text);
  devices.merge(rdma_ports());
  return devices;
}

class Watching {
 public:
  explicit Watching(int process) : process_(process), diagnosis_(open_diagnosis(process)) {}

  Watched go(Duration length, Duration every) {
    Watched made;
    const terminal::InterruptGuard guard;
    const auto begin = Clock::now();
    look(made.before);
    auto next_sockets = begin;
    for (auto next = begin; next - begin <= length && !guard.interrupted(); next += every) {
      while (Clock::now() < next && !guard.interrupted()) {
        std::this_thread::sleep_until(std::min<Clock::time_point>(next, Clock::now() + kPatience));
      }
      const double time_s = std::chrono::duration<double>(Clock::now() - begin).count();
      made.samples.push_back({time_s, devices_now(process_)});
      if (next < next_sockets) continue;
      std::vector<Connection> now;
      look(now);
      if (now.empty() && !std::ifstream(fmt::format("/proc/{}/stat", process_))) break;
      for (Connection& each : now)
        last_[{each.inode, each.local_port, each.remote_port}] = std::move(each);
      next_sockets = next + std::chrono::milliseconds(100);
    }
    made.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    for (auto& [key, each] : last_) made.after.push_back(std::move(each));
    return made;
  }

 private:
  void look(std::vector<Connection>& into) {
    std::set<std::uint64_t> inodes;
    try {
      inodes = socket_inodes(family_of(process_));
    } catch (const SystemError&) {
      if (last_.empty()) throw;
      return;  // the job has ended
    }
    for (Connection& each : connections(diagnosis_)) {
      if (inodes.contains(each.inode)) into.push_back(std::move(each));
    }
  }

  int process_;
  os::NetlinkSocket diagnosis_;
  std::map<std::tuple<std::uint64_t, std::uint16_t, std::uint16_t>, Connection> last_;
};

ordered_json document_of(const Watched& watched, const Judged& found) {
  ordered_json peers = ordered_json::array();
  for (const Peer& each : found.peers) {
    peers.push_back({{"address", each.address},
                     {"connections", each.connections},
                     {"sent_bytes", each.sent_bytes},
                     {"received_bytes", each.received_bytes},
                     {"sent_segments", each.sent_segments},
                     {"sent_again", each.sent_again},
                     {"round_trip_s", each.round_trip_s},
                     {"least_round_trip_s", each.least_round_trip_s},
                     {"busy_s", each.busy_s},
                     {"peer_limited_s", each.peer_limited_s},
                     {"buffer_limited_s", each.buffer_limited_s}});
  }
  ordered_json devices = ordered_json::array();
  for (const Device& each : found.devices) {
    devices.push_back({{"name", each.name},
                       {"sent_bps", each.sent_bps},
                       {"received_bps", each.received_bps},
                       {"peak_sent_bps", each.peak_sent_bps}});
  }
  return {{"schema", 1},
          {"command", "watch"},
          {"seconds", watched.seconds},
          {"peers", std::move(peers)},
          {"devices", std::move(devices)},
          {"verdict",
           {{"cause", found.cause},
            {"where", found.where},
            {"confidence", found.confidence},
            {"text", found.text}}}};
}

void print_text(const Watched& watched, const Judged& found, std::ostream& out) {
  fmt::print(out, "{}\n\nwatched {}, {} samples of the devices\n", found.text,
             readable(from_seconds(watched.seconds)), watched.samples.size());
  const auto size = [](std::uint64_t bytes) {
    return readable(Bytes(static_cast<std::int64_t>(bytes)));
  };
  if (!found.peers.empty()) {
    fmt::print(out, "{:<26}{:>10}{:>11}{:>8}{:>12}{:>7}{:>12}\n", "peer", "sent", "received",
               "again", "round trip", "busy", "peer full");
  }
  for (std::size_t i = 0; i < std::min(kMostShown, found.peers.size()); ++i) {
    const Peer& each = found.peers[i];
    fmt::print(out, "{:<26}{:>10}{:>11}{:>8}{:>12}{:>5.0f} %{:>10.0f} %\n", printable(each.address),
               size(each.sent_bytes), size(each.received_bytes), each.sent_again,
               readable(from_seconds(each.round_trip_s)), 100 * each.busy_s / watched.seconds,
               each.busy_s > 0 ? 100 * each.peer_limited_s / each.busy_s : 0.0);
  }
  for (std::size_t i = 0; i < std::min(kMostShown, found.devices.size()); ++i) {
    const Device& each = found.devices[i];
    fmt::print(out, "{}: sends {} (peak {}), receives {}\n", printable(each.name),
               readable(BitRate(each.sent_bps)), readable(BitRate(each.peak_sent_bps)),
               readable(BitRate(each.received_bps)));
  }
  fmt::print(out,
             "next: watch the other ranks too; `trainwire analyze` on packets of all hosts "
             "names the link\n");
}

int watch(const WatchOptions& options, command::Streams streams) {
  const Duration length = time_of(options.length, "--for", std::chrono::milliseconds(100));
  const Duration every = time_of(options.every, "--every", std::chrono::milliseconds(1));
  const int process = process_of(options.process);
  family_of(process);  // says what to do where there is none
  const Watched watched = Watching(process).go(length, every);
  const Judged found = judged(watched);
  if (options.json) {
    fmt::print(streams.out, "{}\n", record::dumped(document_of(watched, found)));
  } else {
    print_text(watched, found, streams.out);
  }
  streams.out.flush();
  return 0;
}

}  // namespace

command::Body declare_watch(command::CommandLine& app) {
  const auto options = std::make_shared<WatchOptions>();
  app.add_option("PID", options->process,
                 "a process of the running job; those that it has started are watched too")
      .type_name("")
      .required();
  app.add_option("--for", options->length, "how long, default 30s").type_name("TIME");
  app.add_option("--every", options->every, "between two looks at the devices, default 10ms")
      .type_name("TIME");
  app.add_flag("--json", options->json, "print one JSON document");
  return [options](command::Streams streams) { return watch(*options, streams); };
}

}  // namespace tw::attach
