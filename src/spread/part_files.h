// SPDX-License-Identifier: Apache-2.0
// Parts of an analysis as files: made of captures here, or on the machines that have them.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/fleet/launch.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::spread {

struct PartOrder {
  std::vector<std::string> files = {};  ///< captures, or parts
  std::string filter = {};
  std::int64_t window_ns = 0;
  bool replaces = false;
  bool tells = true;
  bool shows_progress = true;
};

/// Reads the files into one part: views, not yet combined. The exit code. Throws Error.
int write_part(const PartOrder& order, const std::string& path, command::Streams streams);

/// Has the files read where they lie. The parts that have come, in `folder`; nothing when it was
/// interrupted. Throws Error when a machine failed, with how to merge what the others brought.
std::optional<std::vector<std::string>> fetch_parts(const PartOrder& order,
                                                    const fleet::Launch& launch, int machines,
                                                    const std::string& folder,
                                                    command::Streams streams);

}  // namespace tw::spread
