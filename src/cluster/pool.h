// SPDX-License-Identifier: Apache-2.0
// Independent pieces of work on the processors of many machines.
//
// Every machine has as many workers as processors; each gets a few pieces ahead, so that none waits
// for the way there and back. Pieces of a machine that is lost go to the others; one that two machines
// were lost with is given up. Pieces and answers are documents, so machines share no folder.

#pragma once

#include "trainwire/fleet/launch.h"
#include "trainwire/os/file_descriptor.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::cluster {

/// How far it is.
struct PoolState {
  std::size_t done = 0;
  std::size_t all = 0;
  std::size_t workers = 0;
};

struct PoolRequest {
  fleet::Launch launch;
  int machines = 1;
  std::string command = {};  ///< `trainwire COMMAND` is a worker
  nlohmann::json task = {};  ///< what each is told first
  std::function<void(const PoolState&)> tell = {};
  std::function<void(const std::string&)> tell_start = {};  ///< while machines join
  std::function<bool()> stop = {};
};

struct PoolEnd {
  bool interrupted = false;
  std::optional<std::string> failure = {};  ///< of the first machine that was lost
  std::size_t given_up = 0;                 ///< pieces without an answer
};

using Answered = std::function<void(std::size_t item, nlohmann::ordered_json answer)>;
/// Calls `answered` once for every piece that is answered, in this thread. Throws Error when the
/// machines cannot be started.
PoolEnd spread(const PoolRequest& request, const std::vector<nlohmann::json>& items,
               const Answered& answered);

/// A worker: answers one piece after the other. What it throws ends it.
using Work = std::function<nlohmann::ordered_json(const nlohmann::json& item)>;
/// The worker's side. `begin` gets the task.
int run_worker(os::FileDescriptor control,
               const std::function<Work(const nlohmann::json& task)>& begin);

}  // namespace tw::cluster
