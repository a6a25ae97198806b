// SPDX-License-Identifier: Apache-2.0
// Sizes, rates and times as types, written and read as iperf3 and tc write them.
//
// Sizes: "64MiB" is binary, "64MB" and "64M" are decimal; a bare number counts bytes. Rates are
// decimal bits per second: "25Gbit", "25Gbps" and "25G" are the same. Times: "100us", "10ms",
// "1.5s", "2m", "1h"; a time always carries its unit. Only the operators that physics allows exist:
// Bytes / BitRate is a time.
//
// Limits: whole bytes up to 2^63-1, rates in bit/s as a double, times in whole nanoseconds.

#pragma once

#include <chrono>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tw {

using Duration = std::chrono::nanoseconds;

/// A number of bytes; never negative in an experiment, but differences may be.
class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }

  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes& operator+=(Bytes other) { return *this = Bytes(count_ + other.count_); }
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.count_ - b.count_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t n) { return Bytes(a.count_ * n); }
  friend constexpr Bytes operator*(std::int64_t n, Bytes a) { return a * n; }

 private:
  std::int64_t count_ = 0;
};

/// Bits per second.
class BitRate {
 public:
  constexpr BitRate() = default;
  constexpr explicit BitRate(double bits_per_second) : bps_(bits_per_second) {}
  constexpr double bits_per_second() const { return bps_; }

  constexpr auto operator<=>(const BitRate&) const = default;
  friend constexpr BitRate operator*(BitRate r, double factor) { return BitRate(r.bps_ * factor); }
  friend constexpr BitRate operator/(BitRate r, double factor) { return BitRate(r.bps_ / factor); }
  friend constexpr double operator/(BitRate a, BitRate b) { return a.bps_ / b.bps_; }

 private:
  double bps_ = 0;
};

constexpr double seconds(Duration d) { return std::chrono::duration<double>(d).count(); }

/// The nearest whole nanosecond. REQUIRES: |s| < 9.2e9.
Duration from_seconds(double s);

/// Time to put `size` on a line of `rate`. REQUIRES: rate > 0.
Duration operator/(Bytes size, BitRate rate);
/// The rate that moves `size` in `time`. REQUIRES: time > 0.
BitRate operator/(Bytes size, Duration time);
/// What a line of `rate` carries in `time`, rounded down.
Bytes operator*(BitRate rate, Duration time);

/// Readers: nothing when the text is not a value of that kind, negative, not finite or too large.
std::optional<Bytes> parse_bytes(std::string_view text);
std::optional<BitRate> parse_rate(std::string_view text);
std::optional<Duration> parse_duration(std::string_view text);
/// "0.1%" or a plain fraction "0.001", within 0..1.
std::optional<double> parse_fraction(std::string_view text);

/// Exact texts that the readers above turn back into the same value: "64MiB", "1.25Gbit", "50us".
std::string exact(Bytes size);
std::string exact(BitRate rate);
std::string exact(Duration time);

/// For people: three to four significant digits, a blank before the unit: "102.5 MB", "2011 MB",
/// "1.25 Gbit/s".
std::string readable(Bytes size);
std::string readable(BitRate rate);
std::string readable(Duration time);
/// "25,557,032".
std::string grouped(std::int64_t number);

inline namespace literals {
constexpr Bytes operator""_B(unsigned long long n) { return Bytes(static_cast<std::int64_t>(n)); }
constexpr Bytes operator""_KiB(unsigned long long n) {
  return 1024_B * static_cast<std::int64_t>(n);
}
constexpr Bytes operator""_MiB(unsigned long long n) {
  return 1024_KiB * static_cast<std::int64_t>(n);
}
constexpr Bytes operator""_MB(unsigned long long n) {
  return 1000000_B * static_cast<std::int64_t>(n);
}
constexpr BitRate operator""_Mbit(unsigned long long n) {
  return BitRate(1e6 * static_cast<double>(n));
}
constexpr BitRate operator""_Gbit(unsigned long long n) {
  return BitRate(1e9 * static_cast<double>(n));
}
}  // namespace literals

}  // namespace tw
