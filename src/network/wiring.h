// SPDX-License-Identifier: Apache-2.0
// Who is joined to whom, as arithmetic: a topology answers for any switch, link or host without
// holding one of them, so that a tree of a million hosts costs nothing until it is walked.
//
// Hosts, switches and core links are numbered from 0, each kind for itself. A host hangs on one
// switch. A core link joins two switches, a lower and an upper one. From a switch towards a host
// there may be several equally short *ways* on. A *zone* is a part of the network that one group of
// core links joins to the rest: whatever enters or leaves it must share them.
//
//   spine0   spine1     A packet from h0 to h3 has two ways on at leaf0, one at the spine that it
//     | \   / |         got to, and none to choose at leaf1, where h3 hangs. leaf0 with h0 and h1
//     |  \ /  |         is a zone: its two upper links carry all between {h0, h1} and the rest.
//     |  / \  |
//   leaf0   leaf1
//   h0 h1   h2 h3
//
// Limits: every link of a topology is there, also those that no host makes use of. Ways are
// shortest ones only; a broken link is not gone around.

#pragma once

#include "trainwire/spec/experiment.h"

#include <memory>
#include <string>
#include <vector>

namespace tw::network {

using spec::Direction;

/// The switches that a core link joins.
struct Ends {
  int lower;
  int upper;
  bool operator==(const Ends&) const = default;
};

/// Equally short ways on: the core links first, first + stride, ..., all taken in one direction.
struct Ways {
  int first;
  int stride;
  int count;
  Direction direction;  ///< FromHost: upwards
  int level;            ///< choices that lie below this one: 0 at a leaf, 1 above it
};

struct Zone {
  std::string name;        ///< "leaf0", "pod1", "left"
  std::vector<int> links;  ///< core links, each with its lower end inside
};

class Wiring {
 public:
  /// REQUIRES: hosts >= 1.
  explicit Wiring(int hosts);
  virtual ~Wiring() = default;

  int hosts() const { return hosts_; }
  virtual int switches() const = 0;
  virtual std::string switch_name(int number) const = 0;
  virtual int switch_of(int host) const = 0;
  virtual int core_links() const = 0;
  virtual Ends ends(int link) const = 0;
  virtual std::string link_name(int link) const;  ///< "leaf0-spine1"
  /// REQUIRES: the host does not hang on that switch.
  virtual Ways ways(int from_switch, int host) const = 0;
  /// Whether the link carries broadcasts. Links that do make no circle and reach every host.
  virtual bool floods(int link) const = 0;
  /// The zones that a host is in, from the smallest to the largest.
  virtual std::vector<int> zones_of(int host) const = 0;
  virtual Zone zone(int number) const = 0;

 private:
  int hosts_;
};

/// The wiring that an experiment's network names. REQUIRES: it is resolved.
std::shared_ptr<const Wiring> wiring_of(const spec::Network& network);

}  // namespace tw::network
