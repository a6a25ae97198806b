// SPDX-License-Identifier: Apache-2.0
// Time stamps as programs write them into their logs.
//
// A number counts from the epoch, in the unit that makes it a date of our time: 1794719799.5 is in
// seconds, 1794719799500 in milliseconds, and so on to nanoseconds. A date-time is ISO 8601's
// ("2026-11-15T05:16:39.907973+01:00"), also with a blank for the T, slashes in the date and a
// comma before the fraction, as logging libraries write it.
//
// Limits: a date-time without a zone is taken as UTC, for a log does not say where it was written;
// a number below 1e11 is in seconds, also when it counts from the start of a program.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace tw::imports {

enum class StampUnit { Seconds, Milliseconds, Microseconds, Nanoseconds };

/// A decimal number of `unit`, or of the unit that its size suggests, in nanoseconds. Exact for
/// plain decimals; nothing for what is no number, not finite or outside of +-292 years.
std::optional<std::int64_t> parse_epoch(std::string_view text, std::optional<StampUnit> unit = {});

/// A whole text that is a date-time, in nanoseconds since the epoch; 1970 to 2199.
std::optional<std::int64_t> parse_date_time(std::string_view text);

/// The first date-time inside a line, or the first number that is a time since the epoch between
/// 2001 and 2286.
std::optional<std::int64_t> find_stamp(std::string_view line);

}  // namespace tw::imports
