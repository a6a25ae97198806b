// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/name.h"

#include "trainwire/base/printable.h"

#include <fmt/format.h>

#include <charconv>

namespace tw {
namespace {

constexpr std::size_t kLongestName = 120;
/// With tabs and carriage returns, which some spreadsheets pass over.
constexpr std::string_view kFormulaStarts = "=+-@\t\r";

/// "-3", "+0.5", "-1e-9", "-2%".
bool is_number(std::string_view text) {
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  if (text.ends_with('%')) text.remove_suffix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && !text.starts_with('-');
}

}  // namespace

std::string name_problem(std::string_view name) {
  if (name.empty()) return "it is empty; write a name";
  if (name.size() > kLongestName) {
    return fmt::format("it has {} bytes; write at most {}", name.size(), kLongestName);
  }
  if (printable(name) != name) return "it has characters that cannot be shown; leave them out";
  if (name.find_first_of("/\\") != name.npos) return "it has a slash; leave it out";
  if (name == "." || name == "..") return "it means a folder; write another name";
  if (kFormulaStarts.find(name.front()) != kFormulaStarts.npos) {
    return fmt::format("it begins with {}, like a formula; begin with a letter or a digit",
                       name.front());
  }
  return {};
}

bool is_formula(std::string_view text) {
  return text.size() > 1 && kFormulaStarts.find(text.front()) != kFormulaStarts.npos &&
         !is_number(text);
}

}  // namespace tw
