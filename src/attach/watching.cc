// SPDX-License-Identifier: Apache-2.0
#include "trainwire/attach/watching.h"

#include "trainwire/attach/judged.h"
#include "trainwire/base/error.h"
#include "trainwire/os/namespace.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

namespace tw::attach {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kPatience = 100ms;      ///< until an interrupt is noticed
constexpr auto kBetweenLooks = 100ms;  ///< at connections
constexpr auto kBetweenRolls = 1s;     ///< at who belongs to the job

/// Of the network devices of our own namespace, in bit/s; the kernel says -1 where it does not know.
std::map<std::string, double> own_rates() {
  std::map<std::string, double> rates = rdma_rates(kRdmaRoot);
  for (const auto& [address, device] : devices_by_address()) {
    std::ifstream file(fmt::format("/sys/class/net/{}/speed", device));
    double megabits = 0;
    if (file >> megabits && megabits > 0) rates[device] = 1e6 * megabits;
  }
  return rates;
}

}  // namespace

Watching::Watching(WatchingOptions options) : options_(std::move(options)) {
  find_members();
  rates_ = own_rates();
}

void Watching::find_members() {
  const std::vector<int> family = family_of(options_.process);
  owners_ = socket_owners(family);
  const auto found = networks_of(family);
  std::size_t closed = closed_among(family);
  std::erase_if(networks_, [&](const auto& each) { return !found.contains(each.first); });
  for (const auto& [number, process] : found) {
    const auto known = networks_.find(number);
    if (known != networks_.end()) {
      known->second.process = process;
      continue;
    }
    try {
      const os::InNetwork inside(os::open_to_read(fmt::format("/proc/{}/ns/net", process)));
      networks_.emplace(number, Network{.process = process,
                                        .diagnosis = open_diagnosis(process),
                                        .devices_by_address = devices_by_address()});
    } catch (const SystemError&) {
      if (process == options_.process) throw;
      // One that has just ended is none of ours any more; of the others it is told that they are not seen.
      if (std::filesystem::exists(fmt::format("/proc/{}", process))) ++closed;
    }
  }
  closed_ = closed;
}

std::vector<Connection> Watching::connections_now() {
  std::vector<Connection> made;
  for (auto& [number, network] : networks_) {
    std::vector<Connection> own;
    for (Connection& each : connections(network.diagnosis)) {
      const auto owner = owners_.find(each.inode);
      if (owner == owners_.end()) continue;
      if (packets_) port_owners_[each.local_port] = owner->second;
      own.push_back(std::move(each));
    }
    network.devices_in_use.merge(devices_of(own, network.devices_by_address));
    made.insert(made.end(), own.begin(), own.end());
  }
  return made;
}

std::string Watching::device_name(const Network& network, const std::string& device) const {
  if (networks_.size() == 1) return device;
  for (const auto& [address, name] : network.devices_by_address) {
    if (name == device) return fmt::format("{} {}", address, device);
  }
  return device;
}

Devices Watching::devices_now() const {
  Devices devices = rdma_ports(kRdmaRoot);
  for (const auto& [number, network] : networks_) {
    const std::string text = text_of(fmt::format("/proc/{}/net/dev", network.process));
    for (const auto& [name, counts] : parse_devices(text)) {
      devices.try_emplace(device_name(network, name), counts);
    }
  }
  return devices;
}

void Watching::begin_packets(const std::vector<Connection>& connections) {
  if (options_.packets_in.empty() || packets_ || !packets_outcome_.text.empty()) return;
  std::vector<CapturePlace> places;
  for (const auto& [number, network] : networks_) {
    if (!network.devices_in_use.empty()) {
      places.push_back({.process = network.process, .devices = network.devices_in_use});
    }
  }
  if (places.empty()) return;  // there may be connections later
  try {
    packets_.emplace(places, options_.packets_in, options_.packet_limit);
    packets_->add(connections);
  } catch (const SystemError& error) {
    packets_outcome_.text = fmt::format("no packets: {}", error.what());
  }
}

void Watching::look() {
  const std::vector<Connection> now = connections_now();
  begin_packets(now);
  if (packets_) packets_->add(now);
  const auto counters = rdma_counters(kRdmaRoot);
  const std::lock_guard lock(mutex_);
  tally_.look(now);
  tally_.rdma(counters);
}

void Watching::end_window() {
  record::Verdict found;
  {
    const std::lock_guard lock(mutex_);
    Sums window = difference(tally_.sums(), window_began_);
    window.closed = closed_;
    found = judged(window);
    latest_ = found;
    window_began_ = tally_.sums();
    tally_.forget_peaks();
  }
  if (options_.tell) options_.tell(found);
}

void Watching::go() {
  const auto is_stopped = [&] { return options_.stop && options_.stop(); };
  began_s_ =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  const auto begin = Clock::now();
  auto next_look = begin;
  auto next_roll = begin + kBetweenRolls;
  auto next_window = begin + options_.window;
  for (auto next = begin; !has_ended_ && !is_stopped(); next += options_.every) {
    if (options_.length && next - begin > *options_.length) break;
    // After a pause of the machine's nothing is made up for.
    next = std::max<Clock::time_point>(next, Clock::now() - options_.every);
    while (Clock::now() < next && !is_stopped()) {
      std::this_thread::sleep_until(std::min<Clock::time_point>(next, Clock::now() + kPatience));
    }
    const double time_s = std::chrono::duration<double>(Clock::now() - begin).count();
    const Devices devices = devices_now();
    series_.add(time_s, devices);
    {
      const std::lock_guard lock(mutex_);
      tally_.sample(time_s, devices, rates_);
    }
    if (next < next_look) continue;
    next_look = next + kBetweenLooks;
    if (next >= next_roll) {
      next_roll = next + kBetweenRolls;
      try {
        find_members();
      } catch (const SystemError&) {
        has_ended_ = true;
      }
    }
    look();
    if (!options_.length && next >= next_window) {
      next_window = next + options_.window;
      end_window();
    }
  }
  if (packets_) packets_outcome_ = packets_->stop();
}

Sums Watching::sums() const {
  const std::lock_guard lock(mutex_);
  Sums made = tally_.sums();
  made.closed = closed_;
  return made;
}

record::Verdict Watching::verdict() const {
  const std::lock_guard lock(mutex_);
  if (latest_) return *latest_;
  Sums now = tally_.sums();
  now.closed = closed_;
  return judged(now);
}

}  // namespace tw::attach
