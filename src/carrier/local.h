// SPDX-License-Identifier: Apache-2.0
// The channel between a rank and its carrier, two processes of one host: a socket with a name in the
// host's own name space (no file), over which messages and descriptors go.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/os/file_descriptor.h"

#include <sys/types.h>

#include <string>
#include <utility>

namespace tw::carrier {

/// Waits for one process of the same user on a name that nobody else can know beforehand.
class Meeting {
 public:
  /// Throws SystemError.
  Meeting();
  const std::string& name() const { return name_; }
  int descriptor() const { return socket_.get(); }
  /// Whoever has come, and its process number; a closed descriptor when nobody has. Strangers are
  /// turned away.
  std::pair<os::FileDescriptor, pid_t> accept() const;

 private:
  std::string name_;
  os::FileDescriptor socket_;
};

/// The other side. Throws SystemError.
os::FileDescriptor meet(const std::string& name);

/// Two ends of a stream of bytes. Throws SystemError.
std::pair<os::FileDescriptor, os::FileDescriptor> make_stream();

/// Hands a descriptor over. Throws SystemError.
void send_descriptor(int channel, const os::FileDescriptor& descriptor);
/// Throws Error when the other end is gone.
os::FileDescriptor receive_descriptor(int channel);

}  // namespace tw::carrier
