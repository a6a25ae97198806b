// SPDX-License-Identifier: Apache-2.0
// A plan made real: hosts are network namespaces, joined by switches in a namespace of their own,
// with no way out. Nothing has a name outside this process, so nothing can outlive it.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/os/child.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/testbed/engine_counters.h"
#include "trainwire/testbed/hold_rules.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::testbed {

/// What the network device of every host is called.
inline constexpr const char* kHostDevice = "eth0";

/// Two pipe ends of the engine's process.
struct EngineProcess {
  os::Child child = {};
  os::FileDescriptor stop = {};  ///< closed to end it
};

class Cluster {
 public:
  /// Builds everything and starts the engine. To be called before this process has threads. Throws
  /// SystemError when the kernel refuses, SpecError when the engine cannot do what the plan asks.
  /// REQUIRES: engine != Engine::Auto.
  Cluster(network::NetPlan plan, spec::Engine engine);
  /// Stops the engine; the kernel removes the rest once nobody uses it.
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  const network::NetPlan& plan() const { return plan_; }
  spec::Engine engine() const { return engine_; }
  const os::FileDescriptor& host(int number) const;
  /// Of the switches; nothing but the engine lives there.
  const os::FileDescriptor& switches() const { return switches_; }
  /// Name of the switches' device that sends what the port carries, or "" when user space does.
  std::string device_of(int port) const;
  /// What a port is to be from now on; what it was asked to be otherwise is undone.
  struct Change {
    std::optional<BitRate> rate = {};  ///< nothing: the plan's
    double loss = 0;                   ///< besides the plan's; 1: nothing gets through
  };
  /// While packets pass. Throws SystemError. REQUIRES: a plan that breaks, or will lose, where loss
  /// is above 0.
  void alter(int port, const Change& change);
  EngineCounters& counters() { return counters_; }
  const EngineCounters& counters() const { return counters_; }
  /// How the engine ended, if it did although it should not have.
  std::optional<std::string> engine_failure();
  std::vector<os::ProcessIdentity> processes() const;

 private:
  void build_switches();
  void join_host(int host);
  void join_core(int port);
  void set_up_host(int host);
  void start_hold();
  void start_tap();

  network::NetPlan plan_;
  spec::Engine engine_;
  EngineCounters counters_;
  os::FileDescriptor switches_;
  std::vector<os::FileDescriptor> hosts_;
  std::vector<os::FileDescriptor> taps_;
  std::vector<SwitchDevice> devices_;
  std::vector<std::string> device_names_;  ///< by port
  EngineProcess engine_process_;
};

/// Throws SpecError with what to do when the engine cannot emulate the plan.
void require_possible(const network::NetPlan& plan, spec::Engine engine);

}  // namespace tw::testbed
