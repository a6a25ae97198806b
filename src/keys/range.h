// SPDX-License-Identifier: Apache-2.0
// Ranges of values, written short:
//
//   "2..8"                    2, 3, ... 8: whole numbers without a unit
//   "2..64 x2"                2, 4, 8, ... 64: each the one before times 2
//   "0..0.9 step 0.3"         0, 0.3, 0.6, 0.9
//   "100Mbit..1Gbit in 4"     100Mbit, 400Mbit, 700Mbit, 1000Mbit: so many, evenly
//   "0.01%..1% in 3 log"      0.01%, 0.1%, 1%: so many, by equal factors
//
// Both ends belong to it; with x and step the last value is the last one not beyond the end. Units
// may differ when they are of one kind; values then have the first one's.

#pragma once

#include "trainwire/keys/tree.h"

#include <optional>
#include <string>
#include <string_view>

namespace tw::keys {

/// Whether `text` is meant as a range: a number, "..", a number.
bool is_range(std::string_view text);

/// Its values, each at `place`; or what is wrong, with what to do. REQUIRES: is_range(text).
struct Range {
  List values = {};
  std::string problem = {};
};
Range expand_range(std::string_view text, Place place);

}  // namespace tw::keys
