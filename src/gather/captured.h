// SPDX-License-Identifier: Apache-2.0
// Everything that one or more captures say, each packet counted once: the input of all further
// analysis.
//
// Several files are one point of view each (a capture per host, as the studies did) unless they
// follow each other in time (a rotated capture), in which case they are read as one. A packet that
// was seen at its sender and at its receiver is counted at the sender (vantage.h). Times of all
// files are on the first file's clock: offsets are estimated from flows that two files saw in both
// directions, and stated with their uncertainty (comparison.h).
//
// Files that cannot follow each other (chains.h) are read at the same time, on all processors; what
// comes out is the same on any number of them.
//
// Memory: a table for each point of view (table.h), which share the budgets of windows and bursts,
// plus 40 bytes for each address.

#pragma once

#include "trainwire/capture/reader.h"
#include "trainwire/flow/flow.h"
#include "trainwire/flow/pair.h"
#include "trainwire/flow/table.h"
#include "trainwire/packet/address.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::gather {

/// One capture file and what reading it gave.
struct FileSummary {
  std::string path;
  capture::FileFacts facts;
  std::uint64_t packets;  ///< that passed the filter, without duplicates
  std::uint64_t wire_bytes;
  std::uint64_t duplicates;  ///< second records of one packet, left out everywhere: duplicates.h
  std::int64_t first_ns;     ///< as stamped; 0 without packets
  std::int64_t last_ns;
  std::optional<std::uint64_t> dropped;  ///< by the capturing kernel, where the file says
  std::optional<capture::Damage> damage;
  /// Subtracted from this file's times; 0 for the first. The true offset lies within +-
  /// uncertainty. Without common two-way flows there is no estimate: then `clock_known` is false
  /// and times are as stamped.
  std::int64_t clock_offset_ns;
  std::int64_t clock_uncertainty_ns;
  double clock_drift_ppm;  ///< 0 unless no constant offset fits; the offset is that at the start
  bool clock_known;
  std::size_t view;  ///< point of view: files that follow each other in time share one
};

struct Captured {
  std::vector<packet::Address> addresses;  ///< flows and pairs name hosts by number in here
  std::vector<flow::Flow>
      flows;  ///< each directed flow once, by first packet; small finished ones are only counted
  std::vector<flow::PairCount> pairs;  ///< every IP packet once
  flow::Totals totals;
  flow::Clock clock;                 ///< of all series
  std::int64_t burst_gap_ns;         ///< pause that separates bursts
  flow::Series series;               ///< wire bytes of everything counted
  std::uint64_t retired_flows;       ///< small finished flows that are not in `flows`
  std::uint64_t retired_tiny_flows;  ///< of these, the ones without payload or nearly so
  std::vector<FileSummary> files;
};

struct ReadOptions {
  flow::TableOptions table = {};
  std::string filter = {};  ///< BPF expression; empty takes everything
  /// All files were stamped by one clock, as those of one machine are: their times are compared as
  /// they are, which is exact, where an estimate from round trips is not.
  bool one_clock = false;
  /// Called now and then from the calling thread with bytes read and bytes in all (0: unknown).
  std::function<void(std::int64_t done, std::int64_t all)> progress = {};
  /// Gets every small finished flow that is not kept, with its addresses, from any thread that
  /// reads; one at a time.
  std::function<void(const flow::Flow&, const std::vector<packet::Address>&)> retired = {};
  /// When it returns true, reading ends and what was read is the result (Ctrl-C). Called by all
  /// threads that read.
  std::function<bool()> stop = {};
};

/// Throws what open_capture throws; damage inside a file is part of the result.
Captured read_traffic(std::span<const std::string> paths, const ReadOptions& options = {});

}  // namespace tw::gather
