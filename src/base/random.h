// SPDX-License-Identifier: Apache-2.0
// Named random streams: the same seed and name give the same numbers on every machine, and two
// names give independent streams, so that adding a consumer of chance changes no other one.
//
// Own generator and own distributions because the standard library's distributions differ between
// implementations; SplitMix64 seeds xoshiro256** (Blackman & Vigna 2021, 10.1145/3460772).

#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tw {

class Random {
 public:
  Random(std::uint64_t seed, std::string_view stream);

  std::uint64_t next();
  /// Uniform in [0, bound), without bias. REQUIRES: bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1) with 53 random bits.
  double uniform();
  /// Exponential with the given mean.
  double exponential(double mean);
  /// Normal with mean 0 and standard deviation 1.
  double normal();

 private:
  std::array<std::uint64_t, 4> state_;
};

}  // namespace tw
