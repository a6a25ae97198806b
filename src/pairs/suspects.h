// SPDX-License-Identifier: Apache-2.0
// Which host, or which way between two, is worse than the others: a robust outlier test.
//
// What is measured of each ordered pair is a badness: larger is worse, differences count alike at all
// levels (the logarithm of a time, the root of a count). A host is as bad as the median of the better
// half of its pairs, sending and receiving apart: what is bad with one partner alone is not its own.
// Hosts are compared by the modified z-score (Iglewicz & Hoaglin 1993): the distance from the median
// in units of 1.4826 times the median absolute deviation, which half of the hosts may be bad without
// moving. Then pairs are, by what they exceed the worse of their ends by, without those of hosts that
// were found. The bound is 3.5, and more where so many are compared that chance would pass that.
//
// Limits: of two hosts nobody can say which it is. Where more than half are bad, the good stand out
// and nobody is found. Rates that differ by design (two kinds of hosts) are to be tested apart.

#pragma once

#include <cstddef>
#include <optional>
#include <vector>

namespace tw::pairs {

/// Badness of ordered pairs; the diagonal is not looked at.
struct Badness {
  std::size_t hosts = 0;
  std::vector<double> values = {};  ///< [from * hosts + to]
  /// Noise of a measurement that is not taken for a spread of zero.
  double least_spread = 0;
  /// Less than that is nothing that anybody would change a cable for.
  double least_difference = 0;

  double at(std::size_t from, std::size_t to) const { return values[from * hosts + to]; }
};

/// A host that sends (`from` alone) or receives (`to` alone) worse than others, or a pair.
struct Suspect {
  std::optional<std::size_t> from = {};
  std::optional<std::size_t> to = {};
  double value = 0;  ///< badness
  double usual = 0;  ///< of the others
  double score = 0;
  bool operator==(const Suspect&) const = default;
};

/// The worst first. REQUIRES: hosts squared values, finite.
std::vector<Suspect> suspects(const Badness& badness);

}  // namespace tw::pairs
