// SPDX-License-Identifier: Apache-2.0
// What files of other programs show of a run: the operations of its ranks, kind by kind, and the files;
// and what was seen of a job from outside while it ran.
//
// Names of fields are those of the documents. The operations themselves, one for each rank, are the
// table `operations`. Sizes are as nccl-tests means them (operations/operation.h).

#pragma once

#include "trainwire/record/captured.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tw::record {

/// All operations of one kind: each is counted once, however many ranks tell of it. Times are of
/// those that all ranks of a group tell the times of, `timed`; without any there is none.
struct OperationKind {
  std::string op = {};
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< their sizes together
  std::uint64_t timed = 0;
  std::optional<double> busbw_bps = {};        ///< by transfer alone, after the last rank has come
  std::optional<double> busbw_whole_bps = {};  ///< from the first rank's arrival on
  std::optional<double> wait_s = {};           ///< of the mean rank for the last, all together
  std::optional<double> transfer_s = {};       ///< from the last arrival to the end, all together
  bool operator==(const OperationKind&) const = default;
};

/// Operations of one kind in one group of ranks, by the kind of file that tells of most.
struct OperationGroup {
  std::string group = {};        ///< as that file names it
  std::uint64_t group_size = 0;  ///< 0 where it is not told
  std::string op = {};
  std::uint64_t count = 0;
  std::uint64_t bytes = 0;  ///< their sizes together
  bool operator==(const OperationGroup&) const = default;
};

struct Operations {
  std::uint64_t count = 0;  ///< each once
  std::uint64_t rows = 0;   ///< of the table: each for every rank that tells of it
  std::uint64_t ranks = 0;
  std::vector<OperationKind> by_op = {};      ///< most bytes first
  std::vector<OperationGroup> by_group = {};  ///< most bytes first
  bool operator==(const Operations&) const = default;
};

/// A file that was read.
struct Source {
  std::string path = {};
  std::string kind = {};      ///< "capture", "nccl_log", "kineto"...: readers/kind.h
  std::uint64_t records = 0;  ///< that were used
  std::uint64_t skipped = 0;
  std::vector<std::string> reasons = {};           ///< why, with how many; and what was not there
  std::optional<double> clock_offset_s = {};       ///< subtracted from its times
  std::optional<double> clock_uncertainty_s = {};  ///< what is left between ranks' ends
  bool operator==(const Source&) const = default;
};

/// What TCP knew of a job's connections between two addresses; the table `ways` has the same.
struct WatchedWay {
  std::string local = {};
  std::string remote = {};
  std::uint64_t connections = 0;
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t sent_segments = 0;
  std::uint64_t sent_again = 0;  ///< segments
  double round_trip_s = 0;
  double least_round_trip_s = 0;
  double busy_s = 0;            ///< had something to send
  double peer_limited_s = 0;    ///< of these: the peer's window was full
  double buffer_limited_s = 0;  ///< of these: its own send buffer was
  bool operator==(const WatchedWay&) const = default;
};

struct WatchedDevice {
  std::string name = {};
  std::uint64_t sent_bytes = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t dropped_packets = 0;
  std::uint64_t errors = 0;
  double peak_sent_bps = 0;
  std::optional<double> rate_bps = {};  ///< of its link
  bool operator==(const WatchedDevice&) const = default;
};

/// By `watch`.
struct Watched {
  std::int64_t process = 0;
  double seconds = 0;
  std::string packets = {};           ///< where they were captured, or why not
  std::vector<WatchedWay> ways = {};  ///< busiest first
  std::vector<WatchedDevice> devices = {};
  std::vector<Count> rdma_counters = {};
  bool operator==(const Watched&) const = default;
};

}  // namespace tw::record
