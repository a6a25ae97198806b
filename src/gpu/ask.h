// SPDX-License-Identifier: Apache-2.0
// A short question to another program: started, listened to, ended when it takes too long.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/os/child.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::gpu {

struct Answer {
  std::optional<os::Ending> ending = {};  ///< nothing when it took too long and was ended
  std::string output = {};                ///< of standard output and error, the first 64 KiB

  bool is_good() const { return ending && ending->succeeded(); }
  /// The first line that is not empty, or how it ended.
  std::string reason() const;
};

/// Standard input is empty. Throws SpecError when there is no such program, SystemError when it
/// cannot be started.
Answer ask(const std::vector<std::string>& words, Duration longest);

}  // namespace tw::gpu
