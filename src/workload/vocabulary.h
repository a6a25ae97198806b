// SPDX-License-Identifier: Apache-2.0
// The names that an experiment may use: of models, strategies and devices. `spec` stands below all
// three and is handed them.

#pragma once

#include "trainwire/spec/parse.h"

namespace tw::workload {

spec::Vocabulary vocabulary();

}  // namespace tw::workload
