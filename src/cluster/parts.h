// SPDX-License-Identifier: Apache-2.0
// Captures that lie on many machines, each read where it is: a part of each machine's (gather/
// partial.h) comes back, the captures do not.
//
// Files are named as the machines have them; {host} stands for a machine's name, and what no file is
// called is a pattern as shells have it, matched there.

#pragma once

#include "trainwire/fleet/launch.h"
#include "trainwire/os/file_descriptor.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::cluster {

struct PartsRequest {
  fleet::Launch launch;
  int machines = 1;
  std::vector<std::string> files = {};
  std::int64_t window_ns = 0;
  std::string filter = {};
  std::string folder = {};                            ///< where parts go, as HOST.part
  std::function<void(const std::string&)> tell = {};  ///< how far it is
  std::function<bool()> stop = {};
};

struct Parts {
  std::vector<std::string> paths = {};  ///< of those that came
  std::optional<std::string> failure =
      {};                  ///< of the first machine whose part did not, with its name
  std::size_t failed = 0;  ///< machines
  bool interrupted = false;
};

/// Throws Error when the machines cannot be started.
Parts make_parts(const PartsRequest& request);

/// The machine's side, its channel to the command that asks for the part.
int run_part(os::FileDescriptor control);

/// The files of this machine that are meant. Throws SpecError when a pattern fits none.
std::vector<std::string> files_here(const std::vector<std::string>& named, const std::string& host);

}  // namespace tw::cluster
