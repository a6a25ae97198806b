// SPDX-License-Identifier: Apache-2.0
#include "trainwire/imports/stamp.h"

#include <array>
#include <charconv>
#include <chrono>
#include <cmath>
#include <utility>

namespace tw::imports {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Reads a text from its beginning; a reader that fails has taken nothing it can give back, so each
/// attempt starts with a new one.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : rest_(text) {}

  std::string_view rest() const { return rest_; }
  bool take(std::string_view any_of) {
    if (rest_.empty() || any_of.find(rest_.front()) == std::string_view::npos) return false;
    rest_.remove_prefix(1);
    return true;
  }
  /// Exactly `count` digits.
  std::optional<int> number(std::size_t count) {
    if (rest_.size() < count) return {};
    int value = 0;
    for (const char c : rest_.substr(0, count)) {
      if (!is_digit(c)) return {};
      value = 10 * value + (c - '0');
    }
    rest_.remove_prefix(count);
    return value;
  }
  /// Digits behind a decimal point in billionths, rounded down; there may be none.
  std::int64_t fraction() {
    std::int64_t value = 0;
    std::int64_t scale = kSecond;
    for (; !rest_.empty() && is_digit(rest_.front()); rest_.remove_prefix(1)) {
      scale /= 10;
      value += scale * (rest_.front() - '0');
    }
    return value;
  }

 private:
  std::string_view rest_;
};

std::optional<std::int64_t> days_since_1970(int year, int month, int day) {
  const std::chrono::year_month_day date{std::chrono::year(year),
                                         std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!date.ok()) return {};
  return std::chrono::sys_days(date).time_since_epoch().count();
}

/// "05/01/2024" or "05/01/24", month first, as Python's programs write it; day first where it can be no other.
std::optional<std::int64_t> days_month_first(Scanner& in) {
  auto month = in.number(2);
  if (!month || !in.take("/")) return {};
  auto day = in.number(2);
  if (!day || !in.take("/")) return {};
  auto year = in.number(4);
  if (!year) {
    year = in.number(2);
    if (!year) return {};
    *year += 2000;
  }
  if (*year < 1970 || *year > 2199) return {};
  if (*month > 12) std::swap(month, day);
  return days_since_1970(*year, *month, *day);
}

std::optional<std::int64_t> days_of(Scanner& in) {
  Scanner ahead = in;
  if (const auto days = days_month_first(ahead)) {
    in = ahead;
    return days;
  }
  const auto year = in.number(4);
  if (!year || *year < 1970 || *year > 2199 || !in.take("-/")) return {};
  const auto month = in.number(2);
  if (!month || !in.take("-/")) return {};
  const auto day = in.number(2);
  if (!day) return {};
  return days_since_1970(*year, *month, *day);
}

/// Seconds of "05:16:39"; 60 is a leap second.
std::optional<std::int64_t> clock_of(Scanner& in) {
  const auto hour = in.number(2);
  if (!hour || *hour > 23 || !in.take(":")) return {};
  const auto minute = in.number(2);
  if (!minute || *minute > 59 || !in.take(":")) return {};
  const auto second = in.number(2);
  if (!second || *second > 60) return {};
  return 3600 * *hour + 60 * *minute + *second;
}

/// Seconds east of Greenwich of "Z", "+01:00", "+0100", "+01"; 0 without a zone.
std::int64_t zone_of(Scanner& in) {
  Scanner ahead = in;
  const bool west = ahead.rest().starts_with('-');
  if (in.take("Z")) return 0;
  if (!ahead.take("+-")) return 0;
  const auto hours = ahead.number(2);
  if (!hours || *hours > 14) return 0;
  ahead.take(":");
  const int minutes = ahead.number(2).value_or(0);
  if (minutes > 59) return 0;
  in = ahead;
  const int seconds = 3600 * *hours + 60 * minutes;
  return west ? -seconds : seconds;
}

std::optional<std::int64_t> take_date_time(Scanner& in) {
  const auto days = days_of(in);
  if (!days || !in.take(" T_")) return {};
  const auto clock = clock_of(in);
  if (!clock) return {};
  Scanner ahead = in;
  std::int64_t fraction = 0;
  if (ahead.take(".,") && !ahead.rest().empty() && is_digit(ahead.rest().front())) {
    fraction = ahead.fraction();
    in = ahead;
  }
  return (*days * 86'400 + *clock - zone_of(in)) * kSecond + fraction;
}

std::int64_t nanoseconds_in(StampUnit unit) {
  static constexpr std::array<std::int64_t, 4> kScale{kSecond, 1'000'000, 1'000, 1};
  return kScale[static_cast<std::size_t>(unit)];
}

StampUnit likely_unit(double value) {
  const double size = std::abs(value);
  if (size >= 1e17) return StampUnit::Nanoseconds;
  if (size >= 1e14) return StampUnit::Microseconds;
  if (size >= 1e11) return StampUnit::Milliseconds;
  return StampUnit::Seconds;
}

std::optional<std::int64_t> rounded(double nanoseconds) {
  if (!(std::abs(nanoseconds) < 9.2e18)) return {};
  return std::llround(nanoseconds);
}

/// Number of characters of the number that `text` starts with: digits, and a fraction.
std::size_t number_length(std::string_view text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length])) ++length;
  if (length + 1 >= text.size() || text[length] != '.' || !is_digit(text[length + 1]))
    return length;
  ++length;
  while (length < text.size() && is_digit(text[length])) ++length;
  return length;
}

/// A time since the epoch by its number of whole digits: 10 for seconds to 19 for nanoseconds.
std::optional<std::int64_t> recent_epoch(std::string_view number) {
  const std::size_t digits = number.substr(0, number.find('.')).size();
  if (digits != 10 && digits != 13 && digits != 16 && digits != 19) return {};
  if (number.front() == '0') return {};
  return parse_epoch(number);
}

}  // namespace

std::optional<std::int64_t> parse_epoch(std::string_view text, std::optional<StampUnit> unit) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(value)) return {};
  const std::int64_t scale = nanoseconds_in(unit.value_or(likely_unit(value)));
  const auto approximate = rounded(value * static_cast<double>(scale));
  if (!approximate) return {};
  // A double holds 16 digits, a stamp in nanoseconds has 19: plain decimals are read digit by
  // digit.
  std::int64_t whole = 0;
  const auto integer = std::from_chars(text.data(), end, whole);
  if (integer.ec != std::errc{} ||
      std::abs(static_cast<double>(whole)) > 9.2e18 / static_cast<double>(scale))
    return approximate;
  if (integer.ptr == end) return whole * scale;
  Scanner in(std::string_view(integer.ptr, static_cast<std::size_t>(end - integer.ptr)));
  if (!in.take(".")) return approximate;
  const std::int64_t part = in.fraction() / (kSecond / scale);
  if (!in.rest().empty()) return approximate;
  return whole * scale + (text.front() == '-' ? -part : part);
}

std::optional<std::int64_t> parse_date_time(std::string_view text) {
  Scanner in(text);
  const auto stamp = take_date_time(in);
  if (!stamp || !in.rest().empty()) return {};
  return stamp;
}

std::optional<std::int64_t> find_stamp(std::string_view line) {
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (!is_digit(line[i])) continue;
    Scanner in(line.substr(i));
    if (const auto stamp = take_date_time(in)) return stamp;
    const std::size_t length = number_length(line.substr(i));
    const bool alone = (i == 0 || !is_word(line[i - 1])) &&
                       (i + length == line.size() || !is_word(line[i + length]));
    if (alone) {
      if (const auto stamp = recent_epoch(line.substr(i, length))) return stamp;
    }
    i += length;
  }
  return {};
}

}  // namespace tw::imports
