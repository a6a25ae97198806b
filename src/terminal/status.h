// SPDX-License-Identifier: Apache-2.0
// What a terminal shows while a run lasts: one line, wiped at the end.

#pragma once

#include <ostream>
#include <string>

namespace tw::terminal {

class Status {
 public:
  /// Shows nothing unless `shown`.
  Status(std::ostream& err, bool shown) : err_(err), shown_(shown) {}
  ~Status() { wipe(); }
  Status(const Status&) = delete;
  Status& operator=(const Status&) = delete;

  void tell(const std::string& what);
  void wipe();

 private:
  std::ostream& err_;
  bool shown_;
};

}  // namespace tw::terminal
