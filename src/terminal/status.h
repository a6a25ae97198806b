// SPDX-License-Identifier: Apache-2.0
// What is shown while a run lasts: one line of a terminal, wiped at the end; a line now and then
// where there is none.

#pragma once

#include <chrono>
#include <ostream>
#include <string>

namespace tw::terminal {

enum class Shown {
  Nothing,
  OneLine,  ///< each word in place of the one before
  Log,      ///< a line of its own, at most every 10 s, the first after as long
};

/// Nothing when `quiet`; one line where `err` is a terminal; a log elsewhere.
Shown shown_on(const std::ostream& err, bool quiet);

class Status {
 public:
  using Clock = std::chrono::steady_clock;

  Status(std::ostream& err, Shown shown) : err_(err), shown_(shown) {}
  ~Status() { wipe(); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  void tell(const std::string& what) { tell(what, Clock::now()); }
  /// The same at a given time, for tests.
  void tell(const std::string& what, Clock::time_point now);
  void wipe();

 private:
  static constexpr std::chrono::seconds kPause{10};

  std::ostream& err_;
  Shown shown_;
  Clock::time_point due_ = Clock::now() + kPause;
};

/// "8 s", "1 min 6 s", "2 h 5 min", "13 d 2 h".
std::string in_words(std::chrono::duration<double> time);

}  // namespace tw::terminal
