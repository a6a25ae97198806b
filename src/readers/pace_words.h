// SPDX-License-Identifier: Apache-2.0
// What lines of training logs are made of: numbers with their units, numbers of steps, times.

#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace tw::readers {

/// The number at the beginning, behind blanks, colons, equal signs and quotes; 25.3K is 25,300. Nothing below 0.
std::optional<double> real(std::string_view text);

/// "nan", "inf", "-5", or cut off behind the colon: where a number should be.
bool is_no_number(std::string_view text);

/// The number at the end, before blanks.
std::optional<double> real_before(std::string_view text);

/// Seconds of the unit behind the number at the beginning, as far as it is one of time: "ms", "s", "sec/step".
std::optional<double> unit_behind(std::string_view text);

/// Whether a line speaks of something else than a step of training.
bool is_of_other_work(std::string_view text);

/// "iteration 100/ 5000", "iteration=  100/ 5000", "global_step=10", "step 7", "steps: 10".
std::optional<std::int64_t> number_of_step(std::string_view text);

/// "[1][  50/7330]", "[  50/1251 (  4%)]", "Epoch: [0/300]  [  50/1251]": of the epoch.
std::optional<std::int64_t> number_in_brackets(std::string_view text);

/// The number and images a second of "Iter #3: 334.1 img/sec per GPU" of Horovod's benchmarks, "30	images/sec: 345.6 +/- 0.1" of
/// TensorFlow's.
std::optional<std::pair<std::int64_t, double>> images_of(std::string_view text);

/// "00:12", "1:02:03" in seconds.
std::optional<double> elapsed_s(std::string_view text);

}  // namespace tw::readers
