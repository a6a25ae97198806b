// SPDX-License-Identifier: Apache-2.0
// The sentences of verdicts.

#pragma once

#include "trainwire/account/judge.h"
#include "trainwire/record/account.h"

#include <string>

namespace tw::account {

/// What a cause is called where it acts, and what would be without it.
struct Cause {
  std::string where = {};   ///< for programs: "host1 to_host"
  std::string words = {};   ///< "host1's way in, 50 Mbit/s where its peers have 200 Mbit/s"
  std::string if_not = {};  ///< "At 200 Mbit/s"
  double step_s = 0;        ///< that a step would take then
  double low_s = 0;
  double high_s = 0;
};

/// "700 of 958 ms".
std::string part_of(double part_s, double whole_s);
/// "250 ms (230 to 280)".
std::string with_interval(double time_s, double low_s, double high_s);
std::string time_words(double time_s);

/// Verdict on a step: judged, with what is known of its cause.
record::Verdict verdict_of(const record::Accounting& accounting, const Judged& judged,
                           const Cause& cause);

/// Without a cause, for a reason: "No verdict: ...".
record::Verdict no_verdict(const std::string& why);

}  // namespace tw::account
