// SPDX-License-Identifier: Apache-2.0
// Which cause an accounting speaks of, by a rule:
//
//   A step's excess is what it takes beyond computing. Bandwidth and latency are parts of every step
//   on every network; the other parts could be avoided.
//   1. Where more than a quarter of the step is unexplained, no cause is named.
//   2. The largest part that could be avoided is named when it is at least a tenth of the step and a
//      quarter of the excess, also at the low end of its interval three quarters of that, and 1.25
//      times the next such part.
//   3. Else, where the whole excess is less than a fifth of the step, it is computing.
//   4. Else bandwidth or latency is named, the larger, when it is at least 40 % of the excess.
//      Where a part that could be avoided is large enough and not sure enough for 2, it is told beside, and the
//      confidence is less than a half.
//   5. Otherwise no single cause explains enough, and that is said.
//
// A confidence is the named part's share: of all parts that could be avoided, of the excess, or for
// computing of the step; times what simulation and measurement agree in.

#pragma once

#include "trainwire/record/account.h"

#include <optional>
#include <string>
#include <vector>

namespace tw::account {

/// What the rule says.
struct Judged {
  std::string cause = {};  ///< a part's name, or "unknown"
  double cost_s = 0;
  double network_s = 0;  ///< all parts that are of the network
  double confidence = 0;
  std::vector<record::AccountPart> largest = {};  ///< of the excess, the largest first
  /// Could have been named too.
  std::optional<record::AccountPart> beside = {};
  bool is_hidden = false;  ///< without the cause alone another takes its place
  std::string hider = {};  ///< a part's name, where it is known
};

/// `disagreement`: of simulation and measurement, as a share of the step.
Judged judged(const record::Accounting& accounting, double disagreement);

/// The same, less sure, where without its cause alone a step gains less than half of what is to be expected: of what the part
/// costs, or of half of that where rates are doubled or delays halved. Then another part takes its place, the next one
/// (of a cause that could be avoided, the next of these).
Judged doubted(Judged found, double gain_s);

/// Whether a part is the network's: neither computing nor waiting for it, nor unexplained.
bool is_of_network(const std::string& part);

}  // namespace tw::account
