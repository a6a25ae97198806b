// SPDX-License-Identifier: Apache-2.0
// The parts of NCCL's log lines, and its numbers for types, algorithms and protocols.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tw::readers {

/// "host:pid:tid [0] NCCL INFO text", before NCCL 2.3 "host:pid:tid [0] INFO text", wherever it stands in a line.
struct NcclLine {
  std::string host;              ///< empty where it was cut off
  std::string process;           ///< "host:pid"
  std::string_view device = {};  ///< "0": of the GPU that the thread had
  bool warns = false;
  std::string_view text = {};
};

/// Nothing where there is none. Where several are glued together, the last.
std::optional<NcclLine> nccl_line(std::string_view line);

struct NcclType {
  std::string_view name;
  int bytes;
};
/// By ncclDataType_t.
std::optional<NcclType> nccl_type(std::int64_t number);

/// "ring" of "RING", "Ring" or "1"; other words in lower case.
std::string algorithm_name(std::string_view word);
/// "simple" of "SIMPLE" or "2".
std::string protocol_name(std::string_view word);

}  // namespace tw::readers
