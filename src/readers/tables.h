// SPDX-License-Identifier: Apache-2.0
// Tables of other programs (tables/) as what a file tells.

#pragma once

#include "trainwire/operations/told.h"

#include <string>

namespace tw::readers {

/// Every size is an operation that took a time; `kind` becomes the program's name.
void read_benchmark(const std::string& text, operations::Told& told);

/// Who sent how much to whom; `kind` becomes the program's name.
void read_flow_records(const std::string& text, operations::Told& told);

}  // namespace tw::readers
