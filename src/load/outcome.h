// SPDX-License-Identifier: Apache-2.0
// What became of a load: asked for, offered, achieved; how late flows were started; how long they
// took, by size. Flows that had not finished are counted as such (their times are censored), never
// left out.

#pragma once

#include "trainwire/base/units.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace tw::load {

/// Completion times, start to acknowledgement by the sink, of the flows larger than `from` and not
/// larger than `to`. Quantiles and mean are of the n that finished, and too short when many others
/// did not.
struct CompletionClass {
  Bytes from = {};
  std::optional<Bytes> to = {};  ///< no limit when absent
  std::int64_t n = 0;
  std::int64_t censored = 0;
  double p50_s = 0;
  double p99_s = 0;
  double mean_s = 0;
  bool operator==(const CompletionClass&) const = default;
};

struct Outcome {
  std::optional<BitRate> requested = {};  ///< payload; nothing when as much as goes through
  BitRate offered = {};                   ///< of the flows that were due
  BitRate achieved = {};                  ///< payload that the other end's kernel has acknowledged
  Bytes sent = {};                        ///< payload handed to the kernel
  Bytes acknowledged = {};
  Bytes framing = {};    ///< our own headers, handed to the kernel besides
  double elapsed_s = 0;  ///< what the rates are over
  double drain_s = 0;    ///< that unfinished flows were then waited for
  std::int64_t started = 0;
  std::int64_t finished = 0;
  std::int64_t unfinished = 0;
  std::int64_t unstarted = 0;    ///< due, but all connections were busy
  std::int64_t connections = 0;  ///< opened
  double lateness_p50_s = 0;     ///< of starts behind their time
  double lateness_p99_s = 0;
  std::vector<CompletionClass> completion = {};
  std::optional<std::int64_t> datagrams_sent = {};      ///< constant only, as is the next
  std::optional<std::int64_t> datagrams_received = {};  ///< by the sink
  bool operator==(const Outcome&) const = default;
};

}  // namespace tw::load
