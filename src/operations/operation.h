// SPDX-License-Identifier: Apache-2.0
// One rank's part in one collective or message, whoever tells of it: the row that every reader fills.
//
// `bytes` has one meaning, the size of nccl-tests: the buffer of an all-reduce, broadcast or reduce;
// of all-gather and reduce-scatter the large side; of all-to-all what one rank holds; of send and
// recv the message. Files differ and are converted when they are read (message_bytes).
//
// Times are nanoseconds. Of clock Epoch they count from 1970; of clock Process from the start of the
// process; of clock Alone `start` is 0 and only the duration means something.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tw::operations {

enum class Clock { Epoch, Process, Alone };
/// "epoch", "process", "alone".
std::string_view name_of(Clock clock);

enum class State { Untold, Scheduled, Started, Completed };
/// "" where it is not told.
std::string_view name_of(State state);

struct Operation {
  std::optional<int> rank = {};
  int teller =
      0;  ///< which of the file's processes tells it, where it does not say the rank; 0 where that is not told either
  std::string host = {};
  std::string group = {};  ///< the same for all ranks of a group
  int group_size = 0;      ///< 0 where it is not told
  std::string op = {};     ///< canonical_op
  std::optional<std::int64_t> sequence = {};
  std::optional<std::int64_t> bytes = {};
  std::optional<std::int64_t> elements = {};  ///< only where no type is told that gives bytes
  std::string dtype = {};
  std::string algorithm = {};
  std::string protocol = {};
  int channels = 0;  ///< 0 where it is not told
  std::optional<int> peer = {};
  std::optional<std::int64_t> enqueue_ns = {};
  std::optional<std::int64_t> start_ns = {};
  std::optional<std::int64_t> end_ns = {};
  State state = State::Untold;
  Clock clock = Clock::Epoch;
  bool operator==(const Operation&) const = default;
};

/// all_reduce, all_gather, reduce_scatter, broadcast, reduce, all_to_all, gather, scatter, send, recv,
/// sendrecv or barrier, from any of the names that frameworks, NCCL and its kernels have for them
/// ("nccl:_allgather_base", "AllReduce", "reduce_scatter_tensor_coalesced"); empty for another.
std::string canonical_op(std::string_view name);

/// Whether it is between two ranks: send, recv, sendrecv.
bool is_message(std::string_view op);

/// Whether a rank was in it from a time to a later one that other ranks' times can be laid beside.
bool is_timed(const Operation& each);

/// Whether every rank of the group waits in it for every other.
bool waits_for_all(std::string_view op);

/// Bus bandwidth over algorithm bandwidth, as nccl-tests has it; 1 for what it does not know.
double bus_factor(std::string_view op, int ranks);

/// Bytes of an element, by PyTorch's, NCCL's or nccl-tests' name for its type ("BFloat16", "half",
/// "ncclFloat32", "c10::Half"); nothing for another name.
std::optional<int> element_bytes(std::string_view dtype);

/// Elements that a rank puts in and gets out, in a group, as nccl-tests' size in elements. Nothing
/// where it does not fit into 62 bits.
std::optional<std::int64_t> message_elements(std::string_view op, std::int64_t in, std::int64_t out,
                                             int ranks);

/// a * b, both not negative; nothing where it does not fit into 62 bits.
std::optional<std::int64_t> product(std::int64_t a, std::int64_t b);

}  // namespace tw::operations
