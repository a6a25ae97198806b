// SPDX-License-Identifier: Apache-2.0
// A document as `--json` prints it.

#pragma once

#include "trainwire/record/json.h"

#include <nlohmann/json.hpp>

namespace tw::cli {

using record::dumped;

}  // namespace tw::cli
