// SPDX-License-Identifier: Apache-2.0
// Chakra execution traces (.et): what one rank does, as nodes that wait for one another; the input of ASTRA-sim.
//
// A file is a sequence of protobuf messages, each behind its length: GlobalMetadata, then a Node each (et_def.proto of
// mlcommons/chakra, versions 0.0.1 to 0.0.4). Fields that are not used here are passed over.
//
// Limits: attributes other than those of Node are dropped; a message of more than kMostMessage bytes, or a file of more than
// kMostNodes nodes, is refused.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::chakra {

inline constexpr std::size_t kMostMessage = std::size_t{64} << 20;
inline constexpr std::size_t kMostNodes = 10'000'000;

/// Numbers of the format.
enum class NodeType : std::uint8_t {
  Invalid = 0,
  Metadata = 1,
  MemoryLoad = 2,
  MemoryStore = 3,
  Compute = 4,
  Send = 5,
  Receive = 6,
  Collective = 7,
};

enum class CollectiveType : std::uint8_t {
  AllReduce = 0,
  Reduce = 1,
  AllGather = 2,
  Gather = 3,
  Scatter = 4,
  Broadcast = 5,
  AllToAll = 6,
  ReduceScatter = 7,
  ReduceScatterBlock = 8,
  Barrier = 9,
};

struct Node {
  std::uint64_t id = 0;
  std::string name = {};
  NodeType type = NodeType::Invalid;
  std::vector<std::uint64_t> waits_for = {};  ///< data dependencies
  std::uint64_t start_us = 0;
  std::uint64_t duration_us = 0;
  std::optional<std::int64_t> collective = {};  ///< CollectiveType
  std::optional<std::int64_t> bytes = {};       ///< comm_size
  std::optional<std::int64_t> from = {};        ///< comm_src
  std::optional<std::int64_t> to = {};          ///< comm_dst
  std::optional<std::int64_t> tag = {};         ///< comm_tag
  std::string group = {};                       ///< pg_name
  std::optional<bool> on_host = {};             ///< is_cpu_op
  bool operator==(const Node&) const = default;
};

struct EtFile {
  std::string version = {};
  std::vector<Node> nodes = {};
  bool cut_off = false;  ///< the last message is not whole; what is before was read
};

/// By its first bytes.
bool is_et(std::string_view beginning);

/// Throws DataError naming `name` and the place when it is no such file, or a message is none.
EtFile parse_et(std::string_view bytes, std::string_view name);

/// A whole file, of version 0.0.4.
std::string et_bytes(const std::vector<Node>& nodes);

}  // namespace tw::chakra
