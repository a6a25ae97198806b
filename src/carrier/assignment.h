// SPDX-License-Identifier: Apache-2.0
// What a carrier is told by its rank, and what it tells in the end: documents on their local
// channel.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/transport/tcp/hello.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tw::carrier {

/// One wire: the other end's rank, and which of the connections with it.
using Wire = transport::tcp::Hello;

struct Assignment {
  int rank = 0;
  int ranks = 1;
  std::string address;           ///< of this rank's host
  std::vector<Wire> wires = {};  ///< to be carried
  Duration patience = std::chrono::seconds(30);
  bool operator==(const Assignment&) const = default;
};

nlohmann::json to_json(const Assignment& assignment);
/// Throws DataError.
Assignment assignment_from(const nlohmann::json& document);

/// Where a rank is found: its host's address, and what its carrier says others must know.
struct Contact {
  std::string address;
  nlohmann::json carrier;
  bool operator==(const Contact&) const = default;
};

nlohmann::json to_json(const std::vector<Contact>& contacts);
/// Throws DataError.
std::vector<Contact> contacts_from(const nlohmann::json& document);

/// What the kernel counted of one TCP connection: bytes of the stream, repeated ones once.
struct TcpCount {
  std::string from;  ///< this end, "10.0.0.1:4711"
  std::string to;
  std::int64_t sent = 0;
  std::int64_t received = 0;
  bool operator==(const TcpCount&) const = default;
};

nlohmann::json to_json(const std::vector<TcpCount>& counts);
/// Throws DataError.
std::vector<TcpCount> tcp_counts_from(const nlohmann::json& document);

}  // namespace tw::carrier
