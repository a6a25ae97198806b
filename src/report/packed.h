// SPDX-License-Identifier: Apache-2.0
// Numbers in few bytes of a page.
//
// A series is stored as 16-bit steps between 0 and its largest value, little-endian, in base64: a
// third of the bytes of decimal text, at an error of at most 1/131,068 of the largest value, which
// is less than a pixel.

#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::report {

/// Base64 (RFC 4648, section 4).
std::string base64(std::span<const std::uint8_t> bytes);

/// {"n": values, "step": what 1 stands for, "data": base64}; the code 65535 is "no value". Values
/// below 0 and those that are not finite are none.
nlohmann::ordered_json packed(std::span<const double> values);

/// `value` to six significant digits, so that it takes few characters.
double short_number(double value);
std::vector<double> short_numbers(std::vector<double> values);

/// A number as JSON; null for nothing and for what is not finite.
nlohmann::ordered_json number_or_null(std::optional<double> value);

}  // namespace tw::report
