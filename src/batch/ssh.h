// SPDX-License-Identifier: Apache-2.0
// sshd on every host of an emulated cluster, with keys of its own: nobody's keys are read or
// written, and only this user gets in. They live among the cluster's programs and end with it.
//
// Needs the packages openssh-server and openssh-client.

#pragma once

#include "trainwire/batch/daemon.h"
#include "trainwire/ledger/scratch.h"
#include "trainwire/network/plan.h"
#include "trainwire/os/child.h"
#include "trainwire/os/file_descriptor.h"

#include <string>
#include <vector>

namespace tw::batch {

/// What is missing, in a sentence with what to do; "" when sshd can be started.
std::string ssh_missing();

class SshHosts {
 public:
  /// Returns once every host answers. Throws SystemError with the daemon's own words.
  SshHosts(const network::NetPlan& plan, const Stage& stage);
  ~SshHosts();
  SshHosts(const SshHosts&) = delete;
  SshHosts& operator=(const SshHosts&) = delete;

  /// How the hosts are reached: TRAINWIRE_SSH (a command in place of ssh), the same for Open MPI,
  /// and TRAINWIRE_HOSTS, a file with one host a line.
  std::vector<std::string> environment() const;

 private:
  std::string make_key(const std::string& name, const Stage& stage) const;

  ledger::Scratch scratch_;
  std::string config_;
  std::string hosts_;
  std::vector<os::Child> daemons_;
  os::FileDescriptor
      privilege_folder_;  ///< /run/sshd, which sshd wants: an empty one may stay after a kill
};

}  // namespace tw::batch
