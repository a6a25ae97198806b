// SPDX-License-Identifier: Apache-2.0
// What `analyze` prints of files of other programs: at most some 30 lines.

#pragma once

#include "trainwire/operations/imported.h"

#include <string>

namespace tw::operations {

/// The files: kind, how many records were used, skipped, and why. One line for each kind, and for each reason.
std::string sources_text(const Imported& imported);

/// Beside packets: the files, and what was found in them.
std::string beside_packets_text(const record::Run& run, const Imported& imported);

/// All of it where there are no packets; `folder` is where the tables are, "" when they were not written, `verdict` comes
/// first.
std::string imported_text(const record::Run& run, const Imported& imported,
                          const std::string& folder, const std::string& verdict);

}  // namespace tw::operations
