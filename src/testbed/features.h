// SPDX-License-Identifier: Apache-2.0
// What this kernel lets this user do, found by doing it: each feature is tried in a process and in
// namespaces of its own, which vanish with the attempt. An engine is tried by building the smallest
// network on it and sending a packet there and back.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/spec/experiment.h"

#include <string>
#include <vector>

namespace tw::testbed {

struct Feature {
  bool works = false;
  std::string reason = {};  ///< why not, in the kernel's words; what was found where it works
  bool operator==(const Feature&) const = default;
};

/// As whom networks are made here.
enum class Privilege {
  None,           ///< they cannot be made
  Root,           ///< the user's own right
  UserNamespace,  ///< as root of a user namespace
};

/// How late the processor is given back after a sleep.
struct TimerQuality {
  Duration median = {};
  Duration p99 = {};
  double steal = 0;  ///< share of the time that the hypervisor took away meanwhile
};

struct Features {
  Privilege privilege = Privilege::None;
  Feature root_networks = {};    ///< network namespaces by the user's own right
  Feature user_namespaces = {};  ///< the same for users who are not root
  Feature links = {};            ///< pairs of virtual devices, and switches
  Feature shaping = {};          ///< the token bucket (tbf)
  Feature segment_limit = {};    ///< gso_max_size
  Feature netem = {};
  Feature nfqueue = {};
  Feature tap = {};
  Feature pid_namespaces = {};
  Feature capture = {};                               ///< packet sockets with a ring
  Feature run_queue = {};                             ///< /proc/PID/schedstat
  std::vector<std::string> congestion_controls = {};  ///< that a route accepts
  int processors = 1;
  TimerQuality timer = {};

  const Feature& of(spec::Engine engine) const;
};

/// Everything; takes about half a second. REQUIRES: this process has one thread.
Features find_features();

/// Only what decides about engines, asked for one by one: each is tried once, when it is first
/// asked for. REQUIRES: this process has one thread.
class EngineFeatures {
 public:
  /// Throws SystemError when this user can make no networks at all.
  EngineFeatures();
  const Feature& of(spec::Engine engine);

 private:
  Features found_;
  std::vector<spec::Engine> tried_;
};

}  // namespace tw::testbed
