// SPDX-License-Identifier: Apache-2.0
// Flags that stand for a whole section: a link that differs, a cross traffic.

#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tw::sketch {

/// Keys with the values that they were given, as typed.
using Settings = std::vector<std::pair<std::string, std::string>>;

inline constexpr std::string_view kLinkForm = "NAME[:to|from|both]:RATE[,KEY=VALUE...]";
inline constexpr std::string_view kTrafficForm = "FROM:TO:LOAD[:KIND]";

/// "host1:to:120Mbit", "core:100Mbit,delay=2ms", "host0:from:loss=1%": a [[network.link]]. Throws
/// SpecError; names and values are the experiment's business.
Settings link_of(std::string_view text);

/// "host2:host0:0.8", "host2:host0:500Mbit:websearch": a [[traffic]]. Throws SpecError.
Settings traffic_of(std::string_view text);

}  // namespace tw::sketch
