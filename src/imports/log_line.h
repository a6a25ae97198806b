// SPDX-License-Identifier: Apache-2.0
// The pieces of a line of a log: fields, numbers, and the words around them.

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tw::imports {

/// Without blanks, tabs and carriage returns at both ends.
std::string_view trimmed(std::string_view text);
/// ASCII letters.
std::string lower_case(std::string_view text);
/// At most 40 characters, without any that a terminal could obey.
std::string excerpt(std::string_view text);
/// The whole text as a decimal number.
std::optional<std::int64_t> parse_whole(std::string_view text);

/// The comma-separated fields of a line, without blanks around them and without their quotes
/// (RFC 4180; a doubled quote inside stays doubled). False when a quoted field does not end.
bool split_csv(std::string_view line, std::vector<std::string_view>& cells);

/// The number behind "iteration", "iter", "step" or "batch" in a line of text, the first of these
/// that is followed by one: "Step #12", "global_step=12", "[Batch 12]"; not "batch size 32", "step
/// 0.35 s", "img/iter 12".
std::optional<std::int64_t> step_number(std::string_view line);

/// The number of "0/2650, SamplesPerSec=13.2", as DeepSpeed before 2022-12 counts its steps.
std::optional<std::int64_t> sampled_step(std::string_view line);

/// The step of "Epoch: [1/120][180/3368]", which counts from the beginning of its epoch. Lines of "Epoch: [1][180/3368]"
/// tell what a step took themselves.
std::optional<std::int64_t> step_of_epoch(std::string_view line);

/// The rank that a line of text names: "rank 3", or the prefix that launchers put before a rank's
/// output, "[1,3]<stdout>:" or "[3]<stdout>:".
std::optional<std::int64_t> rank_number(std::string_view line);

}  // namespace tw::imports
