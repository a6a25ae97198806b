// SPDX-License-Identifier: Apache-2.0
// Looks at a running job: at its devices every 10 ms, at what TCP knows of its connections ten times a second, at its packets
// where that is permitted; which processes belong to it is asked once a second. Nothing of the job is stopped or changed.
//
// The job's processes may live in several network namespaces (containers, emulated hosts): each is looked into.

#pragma once

#include "trainwire/attach/packets.h"
#include "trainwire/attach/series.h"
#include "trainwire/attach/tally.h"
#include "trainwire/base/units.h"
#include "trainwire/gather/ports.h"
#include "trainwire/record/run.h"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tw::attach {

struct WatchingOptions {
  int process = 0;
  std::optional<Duration> length = {};  ///< nothing: until it is stopped or the job has ended
  Duration every = std::chrono::milliseconds(10);
  Duration window = std::chrono::seconds(30);  ///< after which there is a new verdict
  std::string packets_in = {};                 ///< folder; empty: packets are not captured
  Bytes packet_limit = Bytes(1'000'000'000);   ///< of a file
  std::function<bool()> stop = {};
  /// Called with the verdict of each window, where there is no length.
  std::function<void(const record::Verdict&)> tell = {};
};

class Watching {
 public:
  /// Throws SystemError when there is no such process, or it may not be looked into.
  explicit Watching(WatchingOptions options);

  /// Looks until the end. Once.
  void go();

  /// Any thread may ask while it goes on.
  Sums sums() const;
  record::Verdict verdict() const;  ///< of the latest window, or of all until there is one

  /// When it has ended:
  const Series& series() const { return series_; }
  double began_s() const { return began_s_; }  ///< since 1970
  const Packets::Outcome& packets() const { return packets_outcome_; }
  const gather::PortOwners& port_owners() const { return port_owners_; }

 private:
  struct Network {
    int process;  ///< that lives in it
    os::NetlinkSocket diagnosis;
    std::map<std::string, std::string> devices_by_address;
    std::set<std::string> devices_in_use = {};
  };

  void find_members();
  std::vector<Connection> connections_now();
  Devices devices_now() const;
  std::string device_name(const Network& network, const std::string& device) const;
  void begin_packets(const std::vector<Connection>& connections);
  void look();
  void end_window();

  WatchingOptions options_;
  std::map<std::uint64_t, Network> networks_;
  std::atomic<std::size_t> closed_ =
      0;  ///< processes that may not be looked into, or whose network may not
  std::map<std::uint64_t, int> owners_;  ///< of sockets, by inode
  gather::PortOwners port_owners_;
  std::map<std::string, double> rates_;
  Series series_;
  double began_s_ = 0;
  std::optional<Packets> packets_;
  Packets::Outcome packets_outcome_;
  bool has_ended_ = false;

  mutable std::mutex mutex_;  ///< of those below
  Tally tally_;
  Sums window_began_;
  std::optional<record::Verdict> latest_;
};

}  // namespace tw::attach
