// SPDX-License-Identifier: Apache-2.0
// A machine's network device made as slow as the experiment asks, for the time of a run: a token
// bucket where packets leave, with delay and loss inside it where the kernel has netem.
//
// It is taken back when the object goes; by a guard, a process of its own, when this one is killed;
// and by the ledger, with the next command, when the guard is killed too. A device whose queue
// somebody else has set is refused.
//
// Limits: what a machine receives is shaped by those who send it; where several send to one at once
// it may get more than its link would carry. Everything that leaves by the device is shaped.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/ledger/ledger.h"

#include <nlohmann/json_fwd.hpp>
#include <sys/types.h>

#include <cstdint>
#include <string>

namespace tw::fleet {

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
nlohmann::json to_json(const Shape& shape);
/// Throws DataError.
Shape shape_from(const nlohmann::json& document);

class Shaping {
 public:
  /// To be made before this process has threads. Throws SystemError.
  Shaping(std::string device, const Shape& shape, ledger::Ledger& ledger);
  ~Shaping();
  Shaping(const Shaping&) = delete;
  Shaping& operator=(const Shaping&) = delete;

 private:
  void start_guard();
  void take_back() noexcept;

  std::string device_;
  os::FileDescriptor alive_;  ///< closes with this process
  pid_t guard_ = 0;
};

}  // namespace tw::fleet
