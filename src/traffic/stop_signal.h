// SPDX-License-Identifier: Apache-2.0
// How threads that play or take traffic are told to end, and how one of them tells why.

#pragma once

#include "trainwire/os/file_descriptor.h"

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

namespace tw::traffic {

/// Raised once, by any thread; its descriptor is readable from then on. Who sees it raised sees
/// what was done before.
class StopSignal {
 public:
  /// Throws SystemError.
  StopSignal();
  void raise();
  /// Raises it for a reason; the first one is kept.
  void fail(const std::string& why);
  bool is_raised() const { return raised_.load(std::memory_order_acquire); }
  std::optional<std::string> failure() const;
  int descriptor() const { return event_.get(); }

 private:
  os::FileDescriptor event_;
  std::atomic<bool> raised_ = false;
  mutable std::mutex mutex_;
  std::optional<std::string> failure_ = {};
};

}  // namespace tw::traffic
