// SPDX-License-Identifier: Apache-2.0
// Two kinds of files that tell of the same job are two independent counts: do they tell of the same bytes?
//
// A trace covers some steps, a log all of them. So sizes that one kind tells for a rank and operation, in order, must
// stand in that order, without a gap, in what the other kind tells.
//
// A step of a program ends with what it computes last, one of packets with the last exchange. So a single step may differ by what that varies, which the
// next one makes good: the mean of the steps that both tell of is what is to agree.
//
// Steps are compared from the end of one to the end of the next, which packets show as well: what a program does between two
// steps (a checkpoint, a profiler that starts) is then in both counts. A step whose predecessor is not told counts from its start;
// one that ranks leave at different times is left out, and so is the next.

#pragma once

#include "trainwire/operations/told.h"

#include <cstdint>
#include <string>
#include <vector>

namespace tw::operations {

struct Agreement {
  std::string one = {};  ///< kind that tells of fewer
  std::string other = {};
  std::uint64_t compared = 0;  ///< operations of ranks
  std::uint64_t bytes = 0;
  bool agrees = true;
  std::string difference = {};  ///< of the first that differs
};

/// One for each pair of kinds that have a rank and an operation in common.
std::vector<Agreement> agreements(const std::vector<Told>& told);

struct StepAgreement {
  std::string one = {};  ///< kind that tells of fewer
  std::string other = {};
  std::size_t compared = 0;
  double one_s = 0;    ///< mean of the steps that both tell of
  double other_s = 0;  ///< the same, as the other has it
  double median = 0;   ///< of the steps' differences, in parts of a step
  double largest = 0;
};

/// One for each pair of kinds, "packets" among them, whose steps end at about the same times.
std::vector<StepAgreement> step_agreements(const std::vector<Told>& told,
                                           const std::vector<Span>& of_packets);

/// What a program does before a step, after the one before it.
struct StepPause {
  std::int64_t number = 0;
  double seconds = 0;
};

/// Those that take more than a twentieth of a step, of the kind of file that tells of most steps with their times; in order.
std::vector<StepPause> step_pauses(const std::vector<Told>& told);

}  // namespace tw::operations
