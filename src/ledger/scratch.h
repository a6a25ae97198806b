// SPDX-License-Identifier: Apache-2.0
// A folder for what daemons write, which goes with its owner, or with the next command after a kill.

#pragma once

#include "trainwire/ledger/ledger.h"

#include <string>
#include <string_view>

namespace tw::ledger {

class Scratch {
 public:
  /// For this user only; in /tmp unless asked otherwise: where sockets stand in it, paths must be short.
  /// Throws SystemError.
  Scratch(std::string_view name, Ledger& ledger, std::string_view parent = "/tmp");
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  const std::string& path() const { return path_; }
  std::string file(std::string_view name) const;
  /// Writes a file that only this user may read. Returns its path. Throws SystemError.
  std::string write(std::string_view name, std::string_view text) const;
  /// Makes a folder inside. Throws SystemError.
  std::string folder(std::string_view name) const;

 private:
  std::string path_;
};

}  // namespace tw::ledger
