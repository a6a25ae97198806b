// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/natural.h"

#include <algorithm>
#include <compare>
#include <cstddef>

namespace tw {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// The digits that `text` begins with; without leading zeros, and taken off.
std::string_view take_number(std::string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  std::string_view digits = text.substr(0, length);
  text.remove_prefix(length);
  while (digits.size() > 1 && digits.front() == '0') digits.remove_prefix(1);
  return digits;
}

std::strong_ordering compare_numbers(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return a.size() <=> b.size();
  return a <=> b;
}

}  // namespace

bool NaturalLess::operator()(std::string_view a, std::string_view b) const {
  std::string_view rest_a = a;
  std::string_view rest_b = b;
  while (!rest_a.empty() && !rest_b.empty()) {
    std::strong_ordering order = rest_a.front() <=> rest_b.front();
    if (is_digit(rest_a.front()) && is_digit(rest_b.front())) {
      const std::string_view number_a = take_number(rest_a);
      order = compare_numbers(number_a, take_number(rest_b));
    } else {
      rest_a.remove_prefix(1);
      rest_b.remove_prefix(1);
    }
    if (order != std::strong_ordering::equal) return order == std::strong_ordering::less;
  }
  if (rest_a.empty() != rest_b.empty()) return rest_a.empty();
  return a < b;  // host01 and host1
}

}  // namespace tw
