// SPDX-License-Identifier: Apache-2.0
// A chain of captures (chains.h), read in order into a table for each point of view.
//
// Threading: chains are read at the same time, each by one thread; what they share is a Reading.

#pragma once

#include "trainwire/gather/captured.h"
#include "trainwire/gather/chains.h"
#include "trainwire/gather/filter.h"
#include "trainwire/gather/glimpse.h"
#include "trainwire/gather/numbering.h"
#include "trainwire/gather/partial.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

namespace tw::gather {

/// For combining them here, or elsewhere, with others (partial.h).
enum class Purpose { Whole, Parts };

/// What all chains are read with, and how far they are.
class Reading {
 public:
  /// Looks at all files. REQUIRES: options outlive it.
  Reading(std::span<const std::string> paths, const ReadOptions& options, Purpose purpose);

  const ReadOptions& options() const { return options_; }
  Purpose purpose() const { return purpose_; }
  std::vector<Glimpse>& files() { return files_; }
  /// By file. Each is written by the one that reads it.
  std::vector<FileSummary>& summaries() { return summaries_; }

  void advance(std::int64_t bytes);
  /// On the thread that made this; others' bytes are told with its own.
  void tell_progress() const;
  /// Whether somebody wants it to; from then on it has.
  bool ends();
  bool has_ended() const { return ended_; }
  /// Of a flow that is only counted: not those that another file, captured at their source, tells
  /// as well.
  void retire(const flow::Flow& flow, const std::vector<packet::Address>& addresses,
              const Glimpse& in);

  /// Whether no file ended earlier than it seemed to when it was looked at.
  bool lasted_as_seen() const;
  /// As if nothing had been read; but flows that were told as retired are not told again.
  void begin_anew();

 private:
  const ReadOptions& options_;
  const Purpose purpose_;
  const std::thread::id maker_ = std::this_thread::get_id();
  std::vector<Glimpse> files_ = {};
  std::vector<FileSummary> summaries_ = {};
  std::int64_t all_bytes_ = 0;  ///< -1: unknown
  std::atomic<std::int64_t> done_bytes_ = 0;
  std::atomic<bool> ended_ = false;
  std::mutex retiring_ = {};
  bool tells_retired_ = true;
};

/// A point of view.
struct ReadView {
  PartialView part = {};  ///< without files, and addresses, which its chain has
  Chain files = {};
};

struct ReadChain {
  std::vector<packet::Address> addresses = {};
  std::vector<ReadView> views = {};
};

/// `before`: chains before it, which have points of view of their own; `processors`: for it alone.
ReadChain read_chain(Reading& reading, const Chain& chain, std::size_t before,
                     std::size_t processors);

}  // namespace tw::gather
