// SPDX-License-Identifier: Apache-2.0
// A load as a list: which flow starts when, to where, and how large it is.
//
//   # duration_s,10
//   start_s,destination,bytes
//   0.000412730,sink,81244
//
// Times are seconds after the start, to the nanosecond; flows are in the order in which they start.
// "#" begins a comment line; the one shown tells how long the load lasts, which its last start
// does not.

#pragma once

#include "trainwire/base/units.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::load {

struct Flow {
  Duration start = {};  ///< after the load's start
  std::string destination = {};
  Bytes size = {};
  bool operator==(const Flow&) const = default;
};

struct Load {
  std::optional<Duration> duration = {};
  std::vector<Flow> flows = {};
  bool operator==(const Load&) const = default;

  Bytes total() const;
  /// As long as it says, or until its last start.
  Duration span() const;
  /// What it asks for on average over span(); 0 when that is no time.
  BitRate mean_rate() const;
};

/// Throws DataError that names `name` and the line.
Load parse_load(std::string_view text, std::string_view name);
/// What parse_load() turns back into the same load. REQUIRES: destinations without commas, quotes
/// and line ends.
std::string load_text(const Load& load);

}  // namespace tw::load
