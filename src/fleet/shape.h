// SPDX-License-Identifier: Apache-2.0
// A machine's network device made as slow as the experiment asks, for the time of a run: a token
// bucket for what leaves, one for what arrives (in front of which the kernel puts a device of its
// own, ifb), with delay and loss inside them where the kernel has netem.
//
// It is taken back when the object goes; by a guard, a process of its own, when this one is killed;
// and by the ledger, with the next command, when the guard is killed too. A device whose queues
// somebody else has set is refused.
//
// Limits: everything that goes through the device is shaped. Captures see what arrives before its
// bucket does. Losses are of single packets only where the device's offloads are off, so that is
// asked for.

#pragma once

#include "trainwire/ledger/ledger.h"
#include "trainwire/network/plan.h"
#include "trainwire/os/file_descriptor.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tw::fleet {

/// What a link does in one direction.
struct Shape {
  double rate_bps = 0;
  std::int64_t burst_bytes = 0;  ///< what may leave at once
  std::int64_t limit_bytes = 0;  ///< what may wait, the burst included
  std::int64_t delay_ns = 0;
  std::int64_t jitter_ns = 0;
  double loss = 0;
  double loss_burst = 1;
  std::int64_t packets = 0;  ///< that are on their way at most, with a delay
  bool operator==(const Shape&) const = default;

  bool needs_netem() const { return delay_ns > 0 || jitter_ns > 0 || loss > 0; }
};

/// Both of a host's.
struct DeviceShape {
  Shape out;
  Shape in;
  bool operator==(const DeviceShape&) const = default;
};
/// What every host's has to do so that the machines' network is like the plan. Throws SpecError for
/// one with links between switches: a host has a hand in its own link alone.
std::vector<DeviceShape> shapes_of(const network::NetPlan& plan);

nlohmann::json to_json(const DeviceShape& shape);
/// Throws DataError.
DeviceShape shape_from(const nlohmann::json& document);

class Shaping {
 public:
  /// To be made before this process has threads. Throws SystemError.
  Shaping(std::string device, const DeviceShape& shape, ledger::Ledger& ledger);
  ~Shaping();
  Shaping(const Shaping&) = delete;
  Shaping& operator=(const Shaping&) = delete;

  /// Whether nobody has changed it. Throws SystemError.
  bool is_there() const;

 private:
  void start_guard();
  void apply(const DeviceShape& shape) const;
  void take_back() noexcept;

  std::string device_;
  os::FileDescriptor alive_;        ///< closes with this process
  os::FileDescriptor guard_ended_;  ///< closes with the guard
};

}  // namespace tw::fleet
