// SPDX-License-Identifier: Apache-2.0
// A program that goes on in a host of an emulated cluster until the cluster ends.

#pragma once

#include "trainwire/ledger/ledger.h"
#include "trainwire/os/child.h"
#include "trainwire/testbed/programs.h"

#include <string>
#include <vector>

namespace tw::batch {

/// Who starts programs, and where they are written down.
struct Stage {
  const testbed::Programs& programs;
  ledger::Ledger& ledger;
};

struct DaemonWords {
  int host = 0;
  std::vector<std::string> words;
  std::vector<std::string> environment;
  std::string output;  ///< file that what it prints is added to
  std::string role;    ///< for the ledger
};

/// Throws SystemError, or SpecError when there is no such program.
os::Child start_daemon(const Stage& stage, const DaemonWords& daemon);

/// The path of a daemon's program, which need not be in PATH (/usr/sbin); "" when it is not
/// installed.
std::string daemon_program(const std::string& name);

/// This process's environment without the variables that begin so.
std::vector<std::string> environment_without(const std::string& prefix);

/// The last line of a file that says something; "" when there is none.
std::string last_line(const std::string& path);

}  // namespace tw::batch
