// SPDX-License-Identifier: Apache-2.0
// Published numbers and ours in one plot.
//
// Curves are drawn over each other, published ones dashed, with what they are beside the plot. Single
// numbers have a line each, the published one above ours, so that neither hides the other; numbers of
// different units get panels of their own, and an axis of powers of ten where they span more than a
// factor of 30.

#pragma once

#include "trainwire/reproduce/drawing.h"
#include "trainwire/reproduce/judge.h"

#include <optional>

namespace tw::reproduce {

inline constexpr const char* kPublishedColour = "#b45309";
inline constexpr const char* kOursColour = "#1d4ed8";

/// Nothing where there is nothing to draw.
std::optional<Drawing> drawing_of(const Outcome& outcome);

}  // namespace tw::reproduce
