// SPDX-License-Identifier: Apache-2.0
// Files that `trainwire reproduce -o DIR` leaves: reproductions.html, .csv and .tex, and of every
// artefact with numbers a CSV, an SVG and a PDF, named by its id.

#pragma once

#include "trainwire/reproduce/collection.h"
#include "trainwire/reproduce/judge.h"

#include <span>
#include <string>

namespace tw::reproduce {

/// Makes the folder where it is missing; replaces files of these names. Throws SystemError.
void write_documents(const std::string& folder, const Collection& collection,
                     std::span<const Outcome> outcomes);

}  // namespace tw::reproduce
