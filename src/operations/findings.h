// SPDX-License-Identifier: Apache-2.0
// What files of other programs show, as findings of the record.

#pragma once

#include "trainwire/operations/imported.h"

namespace tw::operations {

/// Who did not come, who was late, what is wrong with the wiring, who sent how much to whom; trouble first.
void add_findings(record::Run& run, const Imported& imported);

/// Bytes of NCCL's log as ring neighbours carry them, against the packets'.
void add_volume(record::Run& run, const Imported& imported);

/// What the plan of an experiment has for a step.
struct Planned {
  std::string name = {};  ///< of its job
  double gradient_bytes = 0;
  double exchange_bytes = 0;  ///< between hosts
};

/// Findings of kind "plan": what files and packets tell of a step against it, to the byte.
void add_plan(record::Run& run, const Planned& planned);

}  // namespace tw::operations
