// SPDX-License-Identifier: Apache-2.0
// The network of a run as it was asked for and as it was measured, and what of it was used.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::record {

/// What an experiment asks of one direction of a link; rates and bytes as scaled.
struct RequestedLink {
  double rate_bps = 0;
  double delay_s = 0;
  double jitter_s = 0;
  double loss = 0;
  double loss_burst = 1;
  std::int64_t queue_bytes = 0;
  std::optional<std::int64_t> ecn_bytes = {};
  bool operator==(const RequestedLink&) const = default;
};

/// What was measured on a path over it.
struct EffectiveLink {
  std::optional<double> rate_bps = {};  ///< nothing where every path over it is limited elsewhere
  std::vector<std::string> path = {};   ///< from and to
  double path_round_trip_s = 0;
  double path_loss = 0;
  bool operator==(const EffectiveLink&) const = default;
};

/// What was counted while the run went on.
struct CountedLink {
  std::int64_t packets = 0;           ///< carried; a super-frame is one where the kernel counts
  std::int64_t bytes = 0;             ///< of those
  std::int64_t dropped_packets = 0;   ///< that found the queue full
  std::int64_t lost_packets = 0;      ///< as the experiment asks
  std::int64_t marked_packets = 0;    ///< by ECN
  std::int64_t queue_peak_bytes = 0;  ///< the most that waited, of all samples
  double rate_bps = 0;                ///< mean while steps were counted
  double share = 0;                   ///< of the rate asked for
  bool operator==(const CountedLink&) const = default;
};

/// What one job, or the cross traffic, sent over a link.
struct LinkShare {
  std::string of = {};
  std::int64_t bytes = 0;
  double share = 0;  ///< of all that was sent over it
  bool operator==(const LinkShare&) const = default;
};

struct Link {
  std::string name = {};
  std::string direction = {};  ///< from_host, to_host
  RequestedLink requested = {};
  std::optional<EffectiveLink> effective = {};  ///< nothing where nothing was measured
  std::optional<CountedLink> counted = {};
  std::vector<LinkShare> shares = {};  ///< the largest first; empty where nobody shares
  bool operator==(const Link&) const = default;
};

struct RequestedPath {
  double rate_bps = 0;
  double round_trip_s = 0;
  double loss = 0;
  bool operator==(const RequestedPath&) const = default;
};

struct EffectivePath {
  double rate_bps = 0;
  double round_trip_s = 0;
  double round_trip_p99_s = 0;
  double loss = 0;
  double loss_ci_low = 0;
  double loss_ci_high = 0;
  std::uint64_t loss_packets = 0;
  bool operator==(const EffectivePath&) const = default;
};

struct Path {
  std::string from = {};
  std::string to = {};
  std::string fitness = {};  ///< ok, warn, refused
  RequestedPath requested = {};
  EffectivePath effective = {};
  std::vector<std::string> problems = {};
  bool operator==(const Path&) const = default;
};

struct Network {
  std::vector<Link> links = {};
  std::vector<Path> paths = {};
  bool operator==(const Network&) const = default;
};

/// The fullest direction of a link while steps were counted.
struct Utilisation {
  std::string link = {};
  std::string direction = {};  ///< from_host, to_host
  double share = 0;
  double rate_bps = 0;
  bool operator==(const Utilisation&) const = default;
};

}  // namespace tw::record
