// SPDX-License-Identifier: Apache-2.0
// One HTML page of all papers: of every artefact the plot, the sentence, the verdict and how to
// compute it alone. It needs nothing beside it: no script, no file, no network.

#pragma once

#include "trainwire/reproduce/collection.h"
#include "trainwire/reproduce/judge.h"

#include <span>
#include <string>

namespace tw::reproduce {

std::string page_of(const Collection& collection, std::span<const Outcome> outcomes);

}  // namespace tw::reproduce
