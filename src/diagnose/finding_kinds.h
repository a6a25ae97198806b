// SPDX-License-Identifier: Apache-2.0
// The kinds of findings, in words: what each claims, how it is known, what to do. The sentence of
// one capture is in its analysis (Finding).

#pragma once

#include <span>
#include <string_view>

namespace tw::diagnose {

struct FindingKind {
  std::string_view name;
  std::string_view claim;
  std::string_view known_by;
  std::string_view remedy;
};

inline constexpr std::string_view kSlowLink = "slow_link";
inline constexpr std::string_view kStraggler = "straggler";
inline constexpr std::string_view kSteps = "steps";
inline constexpr std::string_view kNoTraining = "no_training";
inline constexpr std::string_view kOtherReading = "other_reading";
inline constexpr std::string_view kExchangeShare = "exchange_share";
inline constexpr std::string_view kSentAgain = "sent_again";
inline constexpr std::string_view kOtherTraffic = "other_traffic";
inline constexpr std::string_view kFirstModel = "first_model";
inline constexpr std::string_view kFirstStep = "first_step";

/// Trouble first, as findings are.
std::span<const FindingKind> finding_kinds();

}  // namespace tw::diagnose
