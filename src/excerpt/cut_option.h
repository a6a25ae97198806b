// SPDX-License-Identifier: Apache-2.0
// "finding:2=x.pcapng", "step:12=y.pcapng": what is to be cut out of captures, in words.

#pragma once

#include "trainwire/diagnose/analysis.h"
#include "trainwire/excerpt/selection.h"
#include "trainwire/gather/captured.h"

#include <cstddef>
#include <string>

namespace tw::excerpt {

/// What is to be cut out, and where to.
struct CutOption {
  bool is_step;
  std::size_t number;  ///< findings count from 1, as they are printed; steps from 0, as in tables
  std::string path;
};

/// Throws SpecError.
CutOption cut_option(const std::string& text);

/// Throws SpecError when there is none of that number.
Selection selection_of(const CutOption& cut, const diagnose::Analysis& analysis,
                       const gather::Captured& traffic);

}  // namespace tw::excerpt
