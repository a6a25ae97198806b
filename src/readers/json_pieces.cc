// SPDX-License-Identifier: Apache-2.0
#include "trainwire/readers/json_pieces.h"

#include "trainwire/readers/brackets.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace tw::readers {
namespace {

constexpr std::size_t kWindow = std::size_t{1} << 20;

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

std::string_view without_blanks(std::string_view text) {
  std::size_t i = 0;
  while (i < text.size() && is_blank(text[i])) ++i;
  return text.substr(i);
}

/// Behind the quote that ends the string which begins at text[0].
std::optional<std::size_t> string_end(std::string_view text) {
  std::size_t i = 1;
#if defined(__SSE2__)
  // Most strings are keys and short names: a call would take longer than they do.
  for (; i + 16 <= text.size(); i += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + i));
    const auto quotes =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('"'))));
    const auto escapes =
        static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(block, _mm_set1_epi8('\\'))));
    if (escapes != 0 && (quotes == 0 || __builtin_ctz(escapes) < __builtin_ctz(quotes))) break;
    if (quotes != 0) return i + static_cast<std::size_t>(__builtin_ctz(quotes)) + 1;
  }
#endif
  while (i < text.size()) {
    const void* quote = std::memchr(text.data() + i, '"', text.size() - i);
    if (quote == nullptr) return {};
    const auto end = static_cast<std::size_t>(static_cast<const char*>(quote) - text.data());
    std::size_t backslashes = 0;
    while (end - backslashes > 1 && text[end - backslashes - 1] == '\\') ++backslashes;
    if (backslashes % 2 == 0) return end + 1;
    i = end + 1;
  }
  return {};
}

}  // namespace

std::optional<std::size_t> value_end(std::string_view text) {
  if (text[0] == '{' || text[0] == '[') return closed_at(text);
  if (text[0] == '"') return string_end(text);
  const std::size_t end = text.find_first_of(",]} \t\r\n");
  return end == std::string_view::npos ? std::nullopt : std::optional(end);
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'n' || c == 't' || c == 'r') {
      plain += ' ';
    } else if (c == '"' || c == '\\' || c == '/') {
      plain += c;
    } else {
      plain += '\\';
      plain += c;
    }
  }
  return plain;
}

bool Members::next() {
  if (!begun_) {
    if (rest_.empty() || rest_[0] != '{') return false;
    begun_ = true;
    rest_.remove_prefix(1);
  }
  rest_ = without_blanks(rest_);
  if (!rest_.empty() && rest_[0] == ',') rest_ = without_blanks(rest_.substr(1));
  if (rest_.empty() || rest_[0] != '"') return false;
  const auto key = string_end(rest_);
  if (!key) return false;
  key_ = rest_.substr(1, *key - 2);
  rest_ = without_blanks(rest_.substr(*key));
  if (rest_.empty() || rest_[0] != ':') return false;
  rest_ = without_blanks(rest_.substr(1));
  if (rest_.empty()) return false;
  const auto end = value_end(rest_);
  if (!end || *end == 0) return false;
  value_ = rest_.substr(0, *end);
  rest_.remove_prefix(*end);
  return true;
}

bool Elements::next() {
  if (!begun_) {
    if (rest_.empty() || rest_[0] != '[') return false;
    begun_ = true;
    rest_.remove_prefix(1);
  }
  rest_ = without_blanks(rest_);
  if (!rest_.empty() && rest_[0] == ',') rest_ = without_blanks(rest_.substr(1));
  if (rest_.empty()) return false;
  const auto end = value_end(rest_);
  if (!end || *end == 0) return false;
  value_ = rest_.substr(0, *end);
  rest_.remove_prefix(*end);
  return true;
}

std::string_view string_of(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return {};
  return value.substr(1, value.size() - 2);
}

std::optional<std::int64_t> whole_of(std::string_view value) {
  if (!value.empty() && value.front() == '"') value = string_of(value);
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size()) return {};
  return number;
}

std::optional<double> number_of(std::string_view value) {
  if (!value.empty() && value.front() == '"') value = string_of(value);
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  if (error != std::errc() || end != value.data() + value.size() || !std::isfinite(number)) {
    return {};
  }
  return number;
}

std::optional<std::int64_t> micros_of(std::string_view value) {
  constexpr std::int64_t kMostMicros = std::int64_t{1} << 52;
  std::int64_t whole = 0;
  const char* const last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, whole);
  const bool is_plain = error == std::errc() && whole > -kMostMicros && whole < kMostMicros &&
                        (end == last || *end == '.');
  if (is_plain) {
    std::int64_t nanos = 0;
    int digits = 0;
    const char* at = end == last ? end : end + 1;
    for (; at != last && *at >= '0' && *at <= '9'; ++at) {
      if (digits < 3) nanos = 10 * nanos + (*at - '0');
      ++digits;
    }
    for (; digits < 3; ++digits) nanos *= 10;
    const bool negative = value.front() == '-';
    if (at == last) return whole * 1000 + (negative ? -nanos : nanos);
  }
  const auto number = number_of(value);
  if (!number || std::abs(*number) >= static_cast<double>(kMostMicros)) return {};
  return static_cast<std::int64_t>(std::llround(*number * 1000));
}

Pieces::Pieces(capture::ByteSource& source, std::string_view array)
    : source_(source), array_(array) {}

bool Pieces::refill(std::size_t wanted) {
  const std::size_t left = window_.size() - at_;
  const auto bytes = source_.advance(at_, std::max(wanted, kWindow));
  window_ = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  at_ = 0;
  return window_.size() > left;
}

bool Pieces::skip_blanks(bool and_commas) {
  while (true) {
    while (at_ < window_.size() &&
           (is_blank(window_[at_]) || (and_commas && window_[at_] == ','))) {
      ++at_;
    }
    if (at_ < window_.size()) return true;
    if (!refill(1)) return false;
  }
}

std::optional<std::string_view> Pieces::take_value() {
  while (true) {
    const std::string_view rest = window_.substr(at_);
    if (const auto end = value_end(rest); end && *end > 0) {
      at_ += *end;
      return rest.substr(0, *end);
    }
    if (rest.size() >= kMostPiece || !refill(2 * rest.size())) return {};
  }
}

bool Pieces::stop(bool early) {
  ended_early_ = early;
  place_ = Place::Behind;
  return false;
}

bool Pieces::next_element() {
  is_element_ = true;
  if (!skip_blanks(true)) return stop(true);
  if (window_[at_] == ']') {
    ++at_;
    if (!in_object_) return stop(false);
    place_ = Place::Object;
    return next_member();
  }
  const auto value = take_value();
  if (!value) return stop(true);
  value_ = *value;
  return true;
}

bool Pieces::next_member() {
  is_element_ = false;
  if (!skip_blanks(true)) return stop(true);
  if (window_[at_] == '}') return stop(false);
  if (window_[at_] != '"') return stop(true);
  const auto key = take_value();
  if (!key) return stop(true);
  key_ = string_of(*key);
  if (!skip_blanks(false) || window_[at_] != ':') return stop(true);
  ++at_;
  if (!skip_blanks(false)) return stop(true);
  if (key_ == array_ && window_[at_] == '[') {
    ++at_;
    place_ = Place::Array;
    in_object_ = true;
    return next_element();
  }
  const auto value = take_value();
  if (!value) return stop(true);
  value_ = *value;
  return true;
}

bool Pieces::next() {
  if (place_ == Place::Behind) return false;
  if (place_ == Place::Before) {
    if (!skip_blanks(false)) return stop(true);
    const char first = window_[at_];
    if (first != '{' && first != '[') return stop(true);
    ++at_;
    place_ = first == '{' ? Place::Object : Place::Array;
  }
  return place_ == Place::Object ? next_member() : next_element();
}

}  // namespace tw::readers
