// SPDX-License-Identifier: Apache-2.0
// A process of this program on a host, spoken with by messages. To be used by one thread; the fleet
// outlives it.

#pragma once

#include "trainwire/fleet/fleet.h"
#include "trainwire/transport/control.h"

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tw::cluster {

class Worker {
 public:
  /// `trainwire COMMAND` with the channel as its standard input; what it prints goes to FILE.txt of
  /// the fleet's folder. REQUIRES: the fleet has begun.
  Worker(fleet::Fleet& fleet, int host, const std::string& command, const std::string& file);

  int host() const { return host_; }
  void tell(const nlohmann::json& message) const;
  /// The next message that has come.
  std::optional<nlohmann::json> hear() const;
  /// How it ended, if it has and nothing is left to be heard.
  std::optional<os::Ending> ending() const { return process_->poll(); }

 private:
  Worker(fleet::Fleet& fleet, int host, fleet::Orders orders,
         std::pair<os::FileDescriptor, os::FileDescriptor> sockets);

  int host_;
  transport::Control control_;
  std::unique_ptr<fleet::Process> process_;
};

}  // namespace tw::cluster
