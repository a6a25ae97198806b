// SPDX-License-Identifier: Apache-2.0
// Programs inside the hosts of a cluster. They see one another and the host's name and addresses,
// but no process outside, and end with the cluster whatever they do.

#pragma once

#include "trainwire/os/child.h"
#include "trainwire/testbed/cluster.h"

#include <string>
#include <vector>

namespace tw::testbed {

struct Program {
  int host = 0;
  std::vector<std::string> words;        ///< the program and its arguments
  std::vector<std::string> environment;  ///< "NAME=value", all of it
  int input = 0;                         ///< descriptors that become 0, 1 and 2
  int output = 1;
  int errors = 2;
};

/// Where `name` is found, as a shell finds it. Throws SpecError when it is not there or cannot be
/// run.
std::string find_program(const std::string& name);

class Programs {
 public:
  /// Makes the namespaces in which the programs will live: processes, files (/proc and /etc/hosts
  /// of their own). To be called before this process has threads. Throws SystemError.
  explicit Programs(const Cluster& cluster);

  /// Throws SystemError or SpecError. A program that cannot be run exits with 127.
  os::Child start(const Program& program) const;

  const os::ProcessIdentity& first_process() const { return first_.identity(); }

 private:
  const Cluster& cluster_;
  os::Child first_;
  os::FileDescriptor processes_;
  os::FileDescriptor files_;
};

}  // namespace tw::testbed
