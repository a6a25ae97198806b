// SPDX-License-Identifier: Apache-2.0
// Which link of an experiment is to blame, before anything is simulated: links slower than their
// peers, a core that cannot carry what hosts send, links that lose packets.
//
// Peers are the links of the job's other hosts, in the same direction; for a link between switches
// the other links between switches. The peers' rate is the middle one, of two the faster.
//
// Limits: what differs by less than a tenth is alike. A core counts as narrow where it is slower
// than the host links that all hosts of one side, or of one leaf, have together.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace tw::account {

/// Up to so much of the peers' rate is slower.
inline constexpr double kSlower = 0.9;

struct SlowLink {
  std::string link = {};
  spec::Direction direction = {};
  BitRate rate = {};
  BitRate peers = {};
  bool operator==(const SlowLink&) const = default;
};

/// The slowest, by the peers' rate, first. REQUIRES, as below: the experiment is resolved.
std::vector<SlowLink> slow_links(const spec::Experiment& experiment, std::size_t job);

struct NarrowCore {
  BitRate rate = {};    ///< of a core link
  BitRate needed = {};  ///< with which it would carry everything
  bool operator==(const NarrowCore&) const = default;
};

/// Nothing where the topology has no core, the job stays on one side, or the core is wide enough.
std::optional<NarrowCore> narrow_core(const spec::Experiment& experiment, std::size_t job);

/// "host1's way in", "host1's way out", "core".
std::string place_words(const std::string& link, spec::Direction direction, bool is_core);
/// "host1 to_host": as verdicts name a place for programs.
std::string place_name(const std::string& link, spec::Direction direction);

/// Hosts of a job, each once, in order.
std::vector<int> hosts_of(const spec::Experiment& experiment, std::size_t job);

/// The link that loses most packets of all that lose any; nothing where all lose alike, or none does.
struct LossyLink {
  std::string link = {};
  std::optional<spec::Direction> direction = {};  ///< both when absent
  double loss = 0;
};
std::optional<LossyLink> lossiest(const spec::Experiment& experiment);

/// Of the job's host links and those between switches the one with the longest delay of its own, beyond its peers'.
struct FarLink {
  std::string link = {};
  std::optional<spec::Direction> direction = {};  ///< both when absent
  Duration delay = {};
  Duration others = {};
};
std::optional<FarLink> farthest(const spec::Experiment& experiment, std::size_t job);

}  // namespace tw::account
