// SPDX-License-Identifier: Apache-2.0
// What the trace of a rank says where no other's is there to compare it with: how long it was in collectives, not why.

#pragma once

#include "trainwire/operations/imported.h"
#include "trainwire/record/account.h"

#include <optional>

namespace tw::operations {

/// Nothing where no file tells when its rank was in collectives.
std::optional<record::Verdict> verdict_of_one(const Imported& imported);

}  // namespace tw::operations
