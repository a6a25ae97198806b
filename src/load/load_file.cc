// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/load_file.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace tw::load {
namespace {

constexpr std::string_view kHeader = "start_s,destination,bytes";
constexpr std::string_view kDuration = "# duration_s,";
constexpr std::int64_t kSecond = 1'000'000'000;
/// A century, far within the nanoseconds that fit.
constexpr std::int64_t kMostSeconds = 3'155'760'000;
constexpr std::int64_t kMostBytes = 1'000'000'000'000'000;

std::optional<std::int64_t> whole_number(std::string_view text, std::int64_t most) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return {};
  if (value < 0 || value > most) return {};
  return value;
}

/// Decimal seconds, exactly: a double would lose nanoseconds after 100 days.
std::optional<Duration> decimal_seconds(std::string_view text) {
  const std::size_t point = text.find('.');
  const auto whole = whole_number(text.substr(0, point), kMostSeconds);
  if (!whole) return {};
  if (point == text.npos) return Duration(*whole * kSecond);
  std::string digits(text.substr(point + 1));
  if (digits.empty() || digits.size() > 9 || digits.front() == '-') return {};
  digits.append(9 - digits.size(), '0');
  const auto part = whole_number(digits, kSecond - 1);
  if (!part) return {};
  return Duration(*whole * kSecond + *part);
}

std::string decimal_text(Duration time) {
  return fmt::format("{}.{:09}", time.count() / kSecond, time.count() % kSecond);
}

class LoadReader {
 public:
  LoadReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  Load read() {
    while (!text_.empty()) take(next_line());
    if (!seen_header_) fail(fmt::format("the header \"{}\" is missing", kHeader));
    return std::move(load_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw DataError(fmt::format("{}:{}: {}", name_, line_, what));
  }

  std::string_view next_line() {
    const std::size_t end = text_.find('\n');
    std::string_view line = text_.substr(0, end);
    text_.remove_prefix(end == text_.npos ? text_.size() : end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    ++line_;
    return line;
  }

  void take(std::string_view line) {
    if (line.starts_with(kDuration)) {
      load_.duration = decimal_seconds(line.substr(kDuration.size()));
      if (!load_.duration) fail("the duration is no number of seconds");
      return;
    }
    if (line.empty() || line.starts_with('#')) return;
    if (seen_header_) {
      load_.flows.push_back(flow(line));
    } else if (line != kHeader) {
      fail(fmt::format("the first line of a load is \"{}\"", kHeader));
    }
    seen_header_ = true;
  }

  Flow flow(std::string_view line) const {
    const std::size_t first = line.find(',');
    const std::size_t second = first == line.npos ? first : line.find(',', first + 1);
    if (second == line.npos || line.find(',', second + 1) != line.npos) {
      fail("a flow is three values: start in seconds, destination, bytes");
    }
    const auto start = decimal_seconds(line.substr(0, first));
    if (!start) {
      fail(fmt::format("\"{}\" is no start; write seconds with at most 9 decimals",
                       line.substr(0, std::min<std::size_t>(first, 40))));
    }
    const std::string_view size_text = line.substr(second + 1);
    const auto size = whole_number(size_text, kMostBytes);
    if (!size) fail(fmt::format("\"{}\" is no whole number of bytes", size_text.substr(0, 40)));
    if (!load_.flows.empty() && *start < load_.flows.back().start) {
      fail("this flow starts before the one above it; sort the flows by start");
    }
    return {.start = *start,
            .destination = std::string(line.substr(first + 1, second - first - 1)),
            .size = Bytes(*size)};
  }

  std::string_view text_;
  std::string_view name_;
  int line_ = 0;
  bool seen_header_ = false;
  Load load_ = {};
};

}  // namespace

Bytes Load::total() const {
  Bytes sum;
  for (const Flow& flow : flows) sum += flow.size;
  return sum;
}

Duration Load::span() const {
  if (duration) return *duration;
  return flows.empty() ? Duration() : flows.back().start;
}

BitRate Load::mean_rate() const { return span() > Duration() ? total() / span() : BitRate(); }

Load parse_load(std::string_view text, std::string_view name) {
  return LoadReader(text, name).read();
}

std::string load_text(const Load& load) {
  std::string text;
  if (load.duration) text += fmt::format("{}{}\n", kDuration, decimal_text(*load.duration));
  text += fmt::format("{}\n", kHeader);
  for (const Flow& flow : load.flows) {
    check(flow.destination.find_first_of(",\"\r\n") == flow.destination.npos,
          "a destination has no commas, quotes and line ends");
    fmt::format_to(std::back_inserter(text), "{},{},{}\n", decimal_text(flow.start),
                   flow.destination, flow.size.count());
  }
  return text;
}

}  // namespace tw::load
