// SPDX-License-Identifier: Apache-2.0
// One rank's part of a schedule, transfer by transfer, and what each waits for: the one place that
// says in which order a rank does things.
//
// Order: by round; within a round sends before receives, then by peer and chunk, so that both ends
// of a pair list the transfers between them alike and a connection needs no headers.
//
// Waits: a transfer may touch a chunk only after every transfer of an earlier round, of the same
// rank, that touches it too, unless both only read it (a send reads, a receive writes). Saying so
// takes less: the last round that wrote the chunk, and for a receive the rounds that read it since;
// those before are waited for by these. Whether "after" means whole transfers or byte by byte is
// the strategy's passing (strategies.h).
//
// Nothing is materialised: memory is O(strands of the rank), a step costs O(log strands), and its
// waits O(strands) once for all transfers of a round that touch the same chunks. A ring of 100,000
// ranks is walked in the memory of four strands.
//
// Limits: a transfer of several chunks, or among such, waits for all earlier rounds that touch any
// of them: there are few of these, and none in long strands.

#pragma once

#include "trainwire/collective/schedule.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tw::collective {

/// All transfers of the rank in `round` that it sends, or that it receives, and that share chunks
/// with the one that waits.
struct Wait {
  std::int64_t round = 0;
  bool sends = false;
  auto operator<=>(const Wait&) const = default;
};

class Cursor {
 public:
  /// At the rank's first transfer. REQUIRES: the rank is the schedule's.
  Cursor(const Schedule& schedule, int rank);
  /// Over the transfers with one peer alone, which wait for each other alone: what a server does
  /// that answers each worker for itself.
  Cursor(const Schedule& schedule, int rank, int peer);

  bool done() const { return heads_.empty(); }
  /// REQUIRES, as all below: not done.
  const Transfer& transfer() const { return heads_.front().transfer; }
  bool sends() const { return transfer().from == rank_; }
  int peer() const { return sends() ? transfer().to : transfer().from; }
  /// By round, without repeats; valid until the next call of advance().
  std::span<const Wait> waits();
  void advance();
  /// What it holds, whatever the transfers.
  std::size_t memory_bytes() const;

 private:
  /// first + k * step modulo some values, and which k comes to a value.
  struct Progression {
    Progression(std::int64_t first_value, std::int64_t value_step, int values);
    /// The least k that comes to it; -1: none.
    std::int64_t find(int value) const;

    std::int64_t first;
    std::int64_t modulus;
    std::int64_t divisor = 1;
    std::int64_t period = 1;  ///< steps after which values repeat
    std::int64_t inverse = 0;
  };
  /// Transfers first + k * step of a strand, 0 <= k < count, that are in order.
  struct Run {
    Strand strand;
    bool sends;
    std::int64_t first;
    std::int64_t step;
    std::int64_t count;
    Progression chunks;
  };
  /// The next transfer of a run.
  struct Head {
    Transfer transfer;
    std::size_t run;
    std::int64_t next;  ///< the number of the one behind it
  };

  void add(const Strand& strand, int peer);
  void add_in_order(const Strand& strand, std::int64_t first, std::int64_t step,
                    std::int64_t count);
  void add_run(const Strand& strand, std::int64_t first, std::int64_t step, std::int64_t count);
  Transfer transfer_of(const Run& run, std::int64_t k) const;
  bool later(const Transfer& a, const Transfer& b) const;
  std::int64_t earlier(const Run& run) const;
  std::int64_t last_sharing(const Run& run, std::int64_t end) const;
  void wait_for_chunk();
  void wait_for_reads(std::int64_t since);
  void wait_for_range();

  int rank_;
  int ranks_;
  int chunks_;
  std::vector<Run> runs_ = {};
  std::vector<Head> heads_ = {};  ///< a heap, the next transfer first
  std::vector<Wait> waits_ = {};
  Transfer waiting_ = {};  ///< whose waits these are; of no width: nobody's
};

}  // namespace tw::collective
