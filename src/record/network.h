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
  double rate_bps = 0;
  std::vector<std::string> path = {};  ///< from and to
  double path_round_trip_s = 0;
  double path_loss = 0;
  bool operator==(const EffectiveLink&) const = default;
};

struct Link {
  std::string name = {};
  std::string direction = {};  ///< from_host, to_host
  RequestedLink requested = {};
  std::optional<EffectiveLink> effective = {};  ///< nothing where nothing was measured
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
