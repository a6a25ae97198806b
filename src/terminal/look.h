// SPDX-License-Identifier: Apache-2.0
// Text as a terminal shows it best: as wide as it is, with marks in colour. Files and pipes get
// text as it was written.

#pragma once

#include <cstddef>
#include <ostream>
#include <streambuf>
#include <string>
#include <string_view>

namespace tw::terminal {

struct Look {
  std::size_t width = 0;  ///< 0: lines are as long as they are
  bool colour = false;

  bool changes_nothing() const { return width == 0 && !colour; }
};

/// Of the process's own standard output where that is a terminal: its width (COLUMNS, or what the
/// terminal says), and colour unless NO_COLOR is set or TERM is "dumb". Nothing for other streams.
Look look_of(const std::ostream& out);

/// One line, without its end, as the look has it; may become several. A line that is too long is
/// broken at blanks and goes on below its own text; rows of tables stay whole. The marks "ok",
/// "warn" and "FAIL" that begin or end a line get a colour.
std::string fitted(std::string_view line, const Look& look);

/// Gives each line that is written to it, fitted, to another stream.
class FittedStream : public std::ostream {
 public:
  /// REQUIRES: `to` outlives it.
  FittedStream(std::ostream& to, const Look& look) : std::ostream(nullptr), buffer_(to, look) {
    rdbuf(&buffer_);
  }

 private:
  class Buffer : public std::streambuf {
   public:
    Buffer(std::ostream& to, const Look& look) : to_(to), look_(look) {}

   protected:
    int_type overflow(int_type c) override;
    std::streamsize xsputn(const char* text, std::streamsize count) override;
    int sync() override;

   private:
    void take(char c);

    std::ostream& to_;
    Look look_;
    std::string line_;
  };

  Buffer buffer_;
};

}  // namespace tw::terminal
