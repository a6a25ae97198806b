// SPDX-License-Identifier: Apache-2.0
// The hosts of a run that are machines: started, met, watched, and sent home.
//
// A host is silent when nothing has come from it for ten seconds, although it would speak every
// second; then, or when its connection ends, the run cannot go on. Hosts' clocks are compared with
// this machine's when they have joined: of several questions the one that was answered soonest
// counts, half its time is the uncertainty.
//
// To be used by one thread.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/capture/live.h"
#include "trainwire/fleet/handshake.h"
#include "trainwire/fleet/host_process.h"
#include "trainwire/fleet/launch.h"
#include "trainwire/fleet/link.h"
#include "trainwire/fleet/process.h"
#include "trainwire/fleet/shape.h"
#include "trainwire/ledger/ledger.h"
#include "trainwire/ledger/scratch.h"
#include "trainwire/os/child.h"
#include "trainwire/transport/tcp/hello.h"
#include "trainwire/watch/counters.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tw::fleet {

struct FleetOptions {
  Launch launch;
  int hosts = 1;
  Duration longest_start = std::chrono::minutes(10);    ///< until the first host joins
  Duration longest_joining = std::chrono::seconds(30);  ///< then, until all have
  std::function<void(const std::string&)> tell = {};
  std::function<bool()> stop = {};
};

/// A host as it introduced itself.
struct JoinedHost {
  std::string name;
  std::string address;
  std::string interface;
  std::int64_t clock_ns = 0;        ///< that its clock is ahead of this machine's
  std::int64_t uncertainty_ns = 0;  ///< of that
};

/// What a host captured, and what its device counted: the least and the most that can have passed
/// during the capture.
struct HostResult {
  std::optional<capture::LiveResult> capture = {};
  watch::LinkCounters least = {};
  watch::LinkCounters most = {};
};

struct Member;   ///< members.h
struct Running;  ///< the same

class Fleet {
 public:
  /// Starts them and waits until all have joined. Throws Error: who has not come and why, as far as
  /// the launcher says; SpecError for a file of hosts that is none, and when hosts are waited for
  /// without a token (token.h).
  explicit Fleet(FleetOptions options);
  /// Sends everybody home, and ends the launcher when that takes long.
  ~Fleet();
  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  bool interrupted() const { return interrupted_; }  ///< before all had joined
  const std::vector<JoinedHost>& hosts() const { return joined_; }
  const Launch& launch() const { return options_.launch; }
  /// Where hosts reach the run.
  std::uint16_t port() const { return port_; }

  struct BeginOptions {
    std::string folder;  ///< the run's: hosts have one of their own in its place
    bool captures = true;
    int snap_length = 128;
    std::vector<DeviceShape> shapes = {};  ///< of each host's device; empty: as they are
  };
  /// Every host captures from here on. Throws Error.
  void begin(const BeginOptions& options);
  /// `control` becomes the process's standard input, or is -1. The fleet outlives what is returned.
  std::unique_ptr<Process> start(int host, Orders orders, int control);
  /// Passes on what has come; never waits.
  void attend();
  /// Why the run cannot go on: a host is gone or silent, or could not do what it was told.
  const std::optional<std::string>& failure() const { return failure_; }
  /// Files go to the folder of begin(), captures as NAME.pcap. A host that is gone has none.
  /// A file that cannot be written is a failure().
  std::vector<HostResult> finish();

 private:
  class Remote;
  struct Stranger;

  void launch_all();
  void accept();
  void meet(Stranger& stranger, const Frame& frame);
  void join();
  void compare_clocks();
  std::string absent() const;
  std::optional<std::string> launcher_trouble();
  std::string launcher_words() const;
  void look_at(Member& member);
  void take(Member& member, const Frame& frame);
  void relay(Running& running);
  void fail(const Member& member, const std::string& why);
  bool wait_for_all(const std::function<bool(const Member&)>& done, Duration longest);

  FleetOptions options_;
  transport::tcp::Token token_;
  ledger::Ledger ledger_;
  ledger::Scratch scratch_;
  std::string folder_;
  os::FileDescriptor listener_;
  std::uint16_t port_ = 0;
  struct Stranger {  ///< that has not yet proven that it knows the token
    Link link;
    Nonce nonce;
  };
  std::vector<Stranger> strangers_;
  std::vector<std::unique_ptr<Member>> members_;  ///< by number
  std::vector<JoinedHost> joined_;
  std::vector<std::unique_ptr<Running>> running_;
  struct Launcher {
    std::string label;
    std::string output;
    os::Child child;
  };
  std::vector<Launcher> launchers_;
  std::string refused_;  ///< why the last one was
  std::optional<std::string> failure_;
  std::string room_ = std::string(std::size_t{1} << 20, '\0');  ///< for a message
  std::int64_t told_ns_ = 0;
  bool interrupted_ = false;
};

}  // namespace tw::fleet
