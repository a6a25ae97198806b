// SPDX-License-Identifier: Apache-2.0
// A JSON file of any size, piece by piece: members of its top object, and elements of the one array that
// makes it large, each as its text.
//
// Traces are an object with a few members and one array of millions of events. Most events are of no
// interest, so that a piece is found by its brackets alone, 64 bytes at a time, and only what a reader
// asks for is looked at further. Memory is one window: a piece of more than kMostPiece ends the reading.
// What stands behind the last whole piece (a file that was cut off) is left, and ended_early() says so.
//
// Limits: brackets must match, strings must end; beyond that, what is inside a piece is not checked here.

#pragma once

#include "trainwire/capture/byte_source.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tw::readers {

inline constexpr std::size_t kMostPiece = std::size_t{64} << 20;

/// Where the value that begins at text[0] ends; nothing when the text ends before. REQUIRES: text is not
/// empty and begins with the value.
std::optional<std::size_t> value_end(std::string_view text);

/// What a string's text between its quotes means. Escapes that are none stay as they are.
std::string unescaped(std::string_view text);

/// Members of an object whose text is whole, one after the other; stops at what is no member.
class Members {
 public:
  explicit Members(std::string_view object) : rest_(object) {}
  bool next();
  std::string_view key() const { return key_; }      ///< as it stands, without quotes
  std::string_view value() const { return value_; }  ///< as it stands; strings with their quotes

 private:
  std::string_view rest_;
  std::string_view key_;
  std::string_view value_;
  bool begun_ = false;
};

/// Elements of an array whose text is whole.
class Elements {
 public:
  explicit Elements(std::string_view array) : rest_(array) {}
  bool next();
  std::string_view value() const { return value_; }

 private:
  std::string_view rest_;
  std::string_view value_;
  bool begun_ = false;
};

/// The text of a string value without its quotes, not unescaped; empty for what is no string.
std::string_view string_of(std::string_view value);
/// A whole number, also one that stands in quotes.
std::optional<std::int64_t> whole_of(std::string_view value);
std::optional<double> number_of(std::string_view value);
/// A time in microseconds with up to three decimals, in nanoseconds, exactly.
std::optional<std::int64_t> micros_of(std::string_view value);

class Pieces {
 public:
  /// Elements of the top object's member `array`, or of a top array, are given one by one. REQUIRES:
  /// the source outlives it.
  Pieces(capture::ByteSource& source, std::string_view array);

  /// The next piece; the one before is invalid then. False at the end.
  bool next();
  bool is_element() const { return is_element_; }
  std::string_view key() const { return key_; }  ///< of a member
  std::string_view value() const { return value_; }
  bool ended_early() const { return ended_early_; }

 private:
  enum class Place { Before, Object, Array, Behind };
  bool refill(std::size_t wanted);
  bool skip_blanks(bool and_commas);
  std::optional<std::string_view> take_value();
  bool next_member();
  bool next_element();
  bool stop(bool early);

  capture::ByteSource& source_;
  std::string array_;
  std::string_view window_;
  std::size_t at_ = 0;
  Place place_ = Place::Before;
  bool in_object_ = false;  ///< the array is a member
  bool is_element_ = false;
  bool ended_early_ = false;
  std::string key_;
  std::string_view value_;
};

}  // namespace tw::readers
