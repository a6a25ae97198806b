// SPDX-License-Identifier: Apache-2.0
// The largest gradients travel, the rest is kept and added to the next ones (error feedback, Stich et
// al. 2018, arXiv:1809.07599).
//
// Sums over ranks need gradients of the same parameters on all of them. So one worker's choice holds
// for all, another worker's in each step (cyclic local top-k: Chen et al. 2020, ScaleCom,
// arXiv:2104.11125). Here the choice travels one step ahead, in the same exchange: the payload is
//
//   k values, of the parameters that were chosen last | k numbers that are to travel next
//
// where all workers but the one whose turn it is send zeros for numbers, so that their sum is its
// choice, whatever strategy sums. In the first step evenly spread parameters travel.
//
// Limits: a choice is a step old, where ScaleCom sends it first, in a message of its own. Numbers are
// sent as floats: up to 2^24 parameters.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tw::learn {

class TopK {
 public:
  /// Of a bucket of gradients. REQUIRES: 1 <= kept <= parameters <= 2^24.
  TopK(std::int64_t parameters, std::int64_t kept);

  /// Adds the gradients to what was kept and writes what is to travel; `chooses`: it is this
  /// worker's turn. REQUIRES: payload.size() == 2 * kept.
  void send(std::span<const float> gradients, bool chooses, std::span<float> payload);
  /// From the sum over all workers: the gradients that travelled, others zero, and what is next.
  /// Numbers that cannot be meant are as if they were 0.
  void receive(std::span<const float> payload, std::span<float> gradients);

  /// What makes it go on where it was: what was kept, and the numbers of what travels next.
  std::span<float> kept() { return kept_; }
  std::span<float> next() { return next_; }
  std::span<const float> kept() const { return kept_; }
  std::span<const float> next() const { return next_; }

 private:
  std::vector<float> largest();

  std::vector<float> kept_;  ///< of each parameter
  std::vector<float> next_;  ///< numbers of parameters
  std::vector<std::uint32_t> numbers_;
};

}  // namespace tw::learn
