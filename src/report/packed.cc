// SPDX-License-Identifier: Apache-2.0
#include "trainwire/report/packed.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace tw::report {
namespace {

constexpr std::uint16_t kNoValue = 65535;
constexpr double kLargestCode = 65534;

bool is_value(double value) { return std::isfinite(value) && value >= 0; }

double step_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) {
    if (is_value(value)) largest = std::max(largest, value);
  }
  return largest > 0 ? largest / kLargestCode : 1;
}

}  // namespace

std::string base64(std::span<const std::uint8_t> bytes) {
  static constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < there ? bytes[i + k] : 0U);
    for (std::size_t k = 0; k < 4; ++k) {
      text += k <= there ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
  }
  return text;
}

nlohmann::ordered_json packed(std::span<const double> values) {
  const double step = step_of(values);
  std::vector<std::uint8_t> bytes;
  bytes.reserve(values.size() * 2);
  for (const double value : values) {
    const auto code =
        is_value(value) ? static_cast<std::uint16_t>(std::lround(value / step)) : kNoValue;
    bytes.push_back(static_cast<std::uint8_t>(code & 0xff));
    bytes.push_back(static_cast<std::uint8_t>(code >> 8));
  }
  return {{"n", values.size()}, {"step", step}, {"data", base64(bytes)}};
}

double short_number(double value) {
  return std::isfinite(value) ? std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr) : value;
}

std::vector<double> short_numbers(std::vector<double> values) {
  std::transform(values.begin(), values.end(), values.begin(), short_number);
  return values;
}

nlohmann::ordered_json number_or_null(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  return short_number(*value);
}

}  // namespace tw::report
