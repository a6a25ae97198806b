// SPDX-License-Identifier: Apache-2.0
// The [[traffic]] of an experiment on its network: from which host to which, and how much of what
// the way between them carries. Whoever plays it, over sockets or in virtual time, begins here.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/load/load_file.h"
#include "trainwire/load/make.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tw::load {

/// What flows from one host to another.
struct Entry {
  std::size_t number = 0;  ///< of its [[traffic]]
  std::string name = {};   ///< "websearch from host3 to host0"
  spec::TrafficKind kind = spec::TrafficKind::WebSearch;
  int from = 0;
  int to = 0;
  BitRate capacity = {};     ///< of the narrowest link on the way
  BitRate requested = {};    ///< as frames on that link
  double payload_share = 1;  ///< of a full frame
  std::optional<Duration> duration = {};
  std::vector<Flow> list = {};  ///< kind file

  bool is_silent() const { return requested.bits_per_second() == 0; }
  /// What applications ask for.
  BitRate payload_rate() const { return requested * payload_share; }
};

/// Rate of the narrowest link on the way from one host to another.
using Narrowest = std::function<BitRate(int from, int to)>;

/// A list of flows gives one entry for each of its destinations. Throws SpecError for what cannot
/// be: more than the way carries, a host that is not there; DataError, SystemError for a file.
/// REQUIRES: the experiment is resolved.
std::vector<Entry> entries(const spec::Experiment& experiment, const Narrowest& narrowest);

/// What the entry asks for. REQUIRES: its kind is computed, and it is not silent.
Demand demand_of(const Entry& entry, const spec::Experiment& experiment);
/// Names the random stream of an entry's flows.
std::string stream_of(const Entry& entry);

}  // namespace tw::load
