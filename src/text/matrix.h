// SPDX-License-Identifier: Apache-2.0
// A traffic matrix drawn with block characters: rows send, columns receive, shade is bytes.

#pragma once

#include "trainwire/predict/plan.h"

#include <span>
#include <string>
#include <vector>

namespace tw::text {

/// Lines of text, at most 100 columns wide and 20 lines high. Up to 7 hosts: a shaded cell with its
/// bytes; more: one shaded cell for each host or for a block of neighbouring hosts.
std::vector<std::string> draw_matrix(std::span<const predict::PairBytes> pairs, int hosts);

}  // namespace tw::text
