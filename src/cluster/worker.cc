// SPDX-License-Identifier: Apache-2.0
#include "trainwire/cluster/worker.h"

#include <nlohmann/json.hpp>

#include <utility>

namespace tw::cluster {

Worker::Worker(fleet::Fleet& fleet, int host, const std::string& command, const std::string& file)
    : Worker(fleet, host, {.own = true, .words = {command}, .file = file},
             transport::make_control_sockets()) {}

Worker::Worker(fleet::Fleet& fleet, int host, fleet::Orders orders,
               std::pair<os::FileDescriptor, os::FileDescriptor> sockets)
    : host_(host),
      control_(std::move(sockets.first)),
      process_(fleet.start(host, std::move(orders), sockets.second.get())) {}

void Worker::tell(const nlohmann::json& message) const { control_.send(message); }

std::optional<nlohmann::json> Worker::hear() const {
  return control_.wait(0) ? control_.poll() : std::nullopt;
}

}  // namespace tw::cluster
