// SPDX-License-Identifier: Apache-2.0
#include "trainwire/base/units.h"

#include "trainwire/base/error.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <span>

namespace tw {
namespace {

struct Unit {
  std::string_view name;
  double factor;
};

// Longest names first where one ends another: the first match from the table wins on equality only.
constexpr std::array kSizeUnits{
    Unit{"", 1},         Unit{"B", 1},        Unit{"K", 1e3},      Unit{"kB", 1e3},
    Unit{"KB", 1e3},     Unit{"M", 1e6},      Unit{"MB", 1e6},     Unit{"G", 1e9},
    Unit{"GB", 1e9},     Unit{"T", 1e12},     Unit{"TB", 1e12},    Unit{"k", 1e3},
    Unit{"KiB", 0x1p10}, Unit{"MiB", 0x1p20}, Unit{"GiB", 0x1p30}, Unit{"TiB", 0x1p40},
    Unit{"Ki", 0x1p10},  Unit{"Mi", 0x1p20},  Unit{"Gi", 0x1p30},
};
constexpr std::array kRateUnits{
    Unit{"bit", 1},       Unit{"bps", 1},    Unit{"bit/s", 1},   Unit{"Kbit", 1e3},
    Unit{"kbit", 1e3},    Unit{"Kbps", 1e3}, Unit{"kbps", 1e3},  Unit{"kbit/s", 1e3},
    Unit{"K", 1e3},       Unit{"k", 1e3},    Unit{"Mbit", 1e6},  Unit{"Mbps", 1e6},
    Unit{"Mbit/s", 1e6},  Unit{"M", 1e6},    Unit{"Gbit", 1e9},  Unit{"Gbps", 1e9},
    Unit{"Gbit/s", 1e9},  Unit{"G", 1e9},    Unit{"Tbit", 1e12}, Unit{"Tbps", 1e12},
    Unit{"Tbit/s", 1e12}, Unit{"T", 1e12},
};
constexpr std::array kTimeUnits{
    Unit{"ns", 1},  Unit{"us", 1e3}, Unit{"µs", 1e3},   Unit{"ms", 1e6},
    Unit{"s", 1e9}, Unit{"m", 6e10}, Unit{"min", 6e10}, Unit{"h", 3.6e12},
};

/// Number followed by one of `units`, in the units' common base; nothing if it is neither.
std::optional<double> parse_scaled(std::string_view text, std::span<const Unit> units) {
  double number = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number, std::chars_format::fixed);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return {};
  std::string_view unit(rest, static_cast<std::size_t>(end - rest));
  while (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const Unit& known : units) {
    if (known.name == unit) return number * known.factor;
  }
  return {};
}

std::optional<std::int64_t> to_whole(std::optional<double> value) {
  // 2^63 itself does not fit.
  if (!value || *value >= 0x1p63) return {};
  return static_cast<std::int64_t>(std::llround(*value));
}

/// The largest unit that divides `count` without remainder.
std::string exact_whole(std::int64_t count,
                        std::span<const std::pair<std::int64_t, const char*>> units) {
  for (const auto& [size, name] : units) {
    if (count != 0 && count % size == 0) return fmt::format("{}{}", count / size, name);
  }
  return fmt::format("{}{}", count, units.back().second);
}

/// Four significant digits without trailing zeros past the point.
std::string digits(double value) {
  const double magnitude = std::fabs(value);
  const int decimals = magnitude >= 999.95   ? 0
                       : magnitude >= 99.995 ? 1
                       : magnitude >= 9.9995 ? 2
                                             : 3;
  std::string text = fmt::format("{:.{}f}", value, decimals);
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

std::string readable_in(double value, std::span<const Unit> units) {
  for (const Unit& unit : units) {
    if (std::fabs(value) >= unit.factor * 0.99995) {
      return fmt::format("{} {}", digits(value / unit.factor), unit.name);
    }
  }
  return fmt::format("{} {}", digits(value / units.back().factor), units.back().name);
}

}  // namespace

Duration from_seconds(double s) {
  check(std::fabs(s) < 9.2e9, "a time fits in 64 bits of nanoseconds");
  return Duration(std::llround(s * 1e9));
}

Duration operator/(Bytes size, BitRate rate) {
  check(rate.bits_per_second() > 0, "only a positive rate moves bytes in finite time");
  return from_seconds(static_cast<double>(size.count()) * 8 / rate.bits_per_second());
}

BitRate operator/(Bytes size, Duration time) {
  check(time > Duration::zero(), "a rate needs a positive time");
  return BitRate(static_cast<double>(size.count()) * 8 / seconds(time));
}

Bytes operator*(BitRate rate, Duration time) {
  return Bytes(static_cast<std::int64_t>(rate.bits_per_second() * seconds(time) / 8));
}

std::optional<Bytes> parse_bytes(std::string_view text) {
  const auto whole = to_whole(parse_scaled(text, kSizeUnits));
  return whole ? std::optional(Bytes(*whole)) : std::nullopt;
}

std::optional<BitRate> parse_rate(std::string_view text) {
  const auto bps = parse_scaled(text, kRateUnits);
  return bps ? std::optional(BitRate(*bps)) : std::nullopt;
}

std::optional<Duration> parse_duration(std::string_view text) {
  const auto whole = to_whole(parse_scaled(text, kTimeUnits));
  return whole ? std::optional(Duration(*whole)) : std::nullopt;
}

std::optional<double> parse_fraction(std::string_view text) {
  constexpr std::array kUnits{Unit{"", 1}, Unit{"%", 0.01}};
  const auto value = parse_scaled(text, kUnits);
  return value && *value <= 1 ? value : std::nullopt;
}

std::string exact(Bytes size) {
  static constexpr std::array<std::pair<std::int64_t, const char*>, 8> kUnits{{
      {1LL << 40, "TiB"},
      {1LL << 30, "GiB"},
      {1LL << 20, "MiB"},
      {1000000000, "GB"},
      {1000000, "MB"},
      {1LL << 10, "KiB"},
      {1000, "kB"},
      {1, "B"},
  }};
  return exact_whole(size.count(), kUnits);
}

std::string exact(BitRate rate) {
  const double bps = rate.bits_per_second();
  for (const Unit& unit : {Unit{"Gbit", 1e9}, Unit{"Mbit", 1e6}, Unit{"kbit", 1e3}}) {
    // Dividing may round: then a smaller unit tells it.
    std::string text = fmt::format("{}{}", bps / unit.factor, unit.name);
    if (bps >= unit.factor && parse_rate(text) == rate) return text;
  }
  return fmt::format("{}bit", bps);
}

std::string exact(Duration time) {
  static constexpr std::array<std::pair<std::int64_t, const char*>, 4> kUnits{
      {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}}};
  if (time == Duration::zero()) return "0s";
  return exact_whole(time.count(), kUnits);
}

std::string readable(Bytes size) {
  // Papers on this subject speak of thousands of MB and GB: a larger unit starts at 10,000 of the
  // smaller.
  static constexpr std::array kUnits{Unit{"PB", 1e15}, Unit{"TB", 1e12}, Unit{"GB", 1e9},
                                     Unit{"MB", 1e6},  Unit{"kB", 1e3},  Unit{"B", 1}};
  const double value = static_cast<double>(size.count());
  for (const Unit& unit : kUnits) {
    if (std::fabs(value) >= unit.factor * 9.9995)
      return fmt::format("{} {}", digits(value / unit.factor), unit.name);
  }
  return fmt::format("{} B", size.count());
}

std::string readable(BitRate rate) {
  static constexpr std::array kUnits{Unit{"Tbit/s", 1e12}, Unit{"Gbit/s", 1e9}, Unit{"Mbit/s", 1e6},
                                     Unit{"kbit/s", 1e3}, Unit{"bit/s", 1}};
  return readable_in(rate.bits_per_second(), kUnits);
}

std::string readable(Duration time) {
  static constexpr std::array kUnits{Unit{"h", 3.6e12}, Unit{"min", 6e10}, Unit{"s", 1e9},
                                     Unit{"ms", 1e6},   Unit{"us", 1e3},   Unit{"ns", 1}};
  return readable_in(static_cast<double>(time.count()), kUnits);
}

std::string grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) text.insert(at -= 3, 1, ',');
  return text;
}

}  // namespace tw
