// SPDX-License-Identifier: Apache-2.0
// The machine that verify.h executes schedules on: copies are not numbers but who is in them.

#pragma once

#include "trainwire/collective/schedule.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tw::collective {

/// Faults in words. More than the first 20 would only repeat what is wrong.
class Findings {
 public:
  void add(const std::string& text);
  /// Put before each text from now on.
  void set_prefix(std::string text) { prefix_ = std::move(text); }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  std::string prefix_ = {};
  std::vector<std::string> texts_ = {};
};

/// "round 3: chunk 2 from rank 0 to rank 1".
std::string text_of(const Transfer& t);

/// One rank's copy of one chunk: the sum of weight[w] times worker w's contribution, divided by
/// 2^halvings. Weights stop at 255, which no goal asks for.
struct Copy {
  std::vector<std::uint8_t> weight;
  int halvings = 0;
  /// A server's copy, or one taken from a server and left as it was.
  bool served = false;
  /// Transfers on the longest chain that led to it.
  std::int64_t chain = 0;
};

/// Holds every rank's copy of every chunk. At the start a worker's copies are its own
/// contributions, and a server's are empty. Keeps references: both arguments must outlive it.
class Machine {
 public:
  Machine(const Schedule& schedule, Findings& findings);

  /// Applies `transfers`, which are sorted. Adds a finding for each copy that is written twice in
  /// one round, other than by sums, or read in the round that sums into it or replaces it, other
  /// than by those who exchange it.
  void run(std::span<const Transfer> transfers);

  const Copy& copy(int rank, int chunk) const { return copies_[index(rank, chunk)]; }
  std::int64_t longest_chain() const { return longest_chain_; }

 private:
  /// What the present round has done to a copy so far.
  struct Use {
    std::int64_t round_read = -1;
    int reads = 0;  ///< in that round
    std::int64_t round_written = -1;
    Combine written_by = Combine::Sum;
  };

  std::size_t index(int rank, int chunk) const;
  void run_round(std::span<const Transfer> round);
  void check_uses(std::span<const Transfer> round);
  void check_write(const Transfer& t, bool is_exchanged, Use& use);
  std::vector<Copy> sent_copies(const Transfer& t);
  void receive(const Transfer& t, std::vector<Copy> sent);

  const Schedule& schedule_;
  Findings& findings_;
  std::vector<Copy> copies_ = {};
  std::vector<Use> used_ = {};
  std::int64_t longest_chain_ = 0;
};

}  // namespace tw::collective
