// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/error.h"
#include "trainwire/cli/command.h"

namespace tw::cli {

Body declare_serve(CommandLine&) {
  return [](Streams) -> int { throw SpecError("serve: not there yet"); };
}

}  // namespace tw::cli
