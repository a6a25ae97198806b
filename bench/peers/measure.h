// SPDX-License-Identifier: Apache-2.0
// Times a library's all-reduce the way bench/exchange wants it, whatever the library.
//
// Every rank calls the same functions in the same order. Operations work in place on float32 and
// follow one another without a pause, as buckets do in training. Nothing is refilled between them:
// P ranks turn a sum S into P*S, so the value after the last operation says whether all were right.

#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tw::peers {

/// What a library offers here. `sum` replaces the values by their sums over all ranks.
struct Peer {
  int rank;
  int ranks;
  std::function<void(std::span<float>)> sum;
};

struct Request {
  std::vector<std::string> sizes;  ///< as experiments write them: 64KiB, 100MB
  int repeats = 5;                 ///< timed operations of each size, after one that is not
};

/// One size. The members are floats because ranks exchange them by the very operation that is
/// measured; seven digits are more than the times are worth.
struct Row {
  float time_s = 0;  ///< mean of an operation, on the slowest rank
  float cpu_s = 0;   ///< user and system time of an operation, over all ranks
  float wrong = 0;   ///< elements that are not the sum, over all ranks
};

/// Operations after which values are filled in anew, lest they outgrow a float.
/// REQUIRES: ranks >= 2.
int operations_until_refill(int ranks);

/// The same on every rank.
Row measure(const Peer& peer, std::size_t elements, int repeats);

/// Measures all sizes; rank 0 prints one JSON document with the columns of `trainwire bench
/// exchange`. Throws SpecError for a size that is none or no multiple of a float.
void measure_and_print(const Peer& peer, const Request& request);

/// Reads the request from the command line, has `run` carry it out and returns the exit code of a
/// program: 0, 1 after an error, which is printed. `argument` names a positional that `run` also
/// gets; none when empty.
int run_program(int argc, char** argv, const std::string& argument,
                const std::function<void(const Request&, const std::string&)>& run);

}  // namespace tw::peers
