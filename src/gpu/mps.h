// SPDX-License-Identifier: Apache-2.0
// CUDA's Multi-Process Service as part of a run: a daemon that lets several processes compute on
// one GPU side by side instead of in turns. Started among the run's programs, so that it ends with
// them however the run ends, with pipes of its own, so that it meets no other daemon of the machine.
//
// Limits: a GPU in mode Exclusive_Process takes one daemon only; another's is then in the way.

#pragma once

#include "trainwire/ledger/ledger.h"
#include "trainwire/os/child.h"
#include "trainwire/testbed/programs.h"

#include <string>
#include <vector>

namespace tw::gpu {

class Mps {
 public:
  /// `control` is the program nvidia-cuda-mps-control; logs go to `logs`, which is made. Throws
  /// SystemError when folders cannot be made.
  Mps(std::string control, std::string logs);
  /// Removes the pipes.
  ~Mps();
  Mps(const Mps&) = delete;
  Mps& operator=(const Mps&) = delete;

  /// What clients find it by: "NAME=value".
  std::vector<std::string> environment() const;

  /// Starts the daemon and writes it, and its folder of pipes, into the ledger. Throws SystemError
  /// with the daemon's own words when it does not start.
  void start(const testbed::Programs& programs, ledger::Ledger& ledger);
  /// Ends it: asks first, then kills. Does nothing when it is gone.
  void stop(const testbed::Programs& programs);

  /// The daemon and the servers that it has started, as far as they live.
  std::vector<os::ProcessIdentity> processes(const testbed::Programs& programs) const;
  /// The last words of its logs; "" when there are none.
  std::string last_words() const;

 private:
  os::Child run(const testbed::Programs& programs, std::vector<std::string> words,
                const std::string& input) const;

  std::string control_;
  std::string logs_;
  std::string pipes_;
};

}  // namespace tw::gpu
