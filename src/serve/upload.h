// SPDX-License-Identifier: Apache-2.0
// A capture while it is being received: a hidden file in the served folder, so that putting it in
// its place is one step.
//
// The file is locked while it is written. A server that was killed leaves one behind that nobody
// holds; the next one to serve the folder removes it.

#pragma once

#include "trainwire/base/units.h"
#include "trainwire/os/file_descriptor.h"

#include <cstddef>
#include <span>
#include <string>

namespace tw::serve {

class Upload {
 public:
  /// Throws Refusal (507) when the folder cannot be written.
  Upload(const std::string& folder, Bytes limit);
  Upload(const Upload&) = delete;
  Upload& operator=(const Upload&) = delete;
  /// What was not kept is removed.
  ~Upload();

  /// Throws Refusal: 413 beyond the limit, 507 when the disk is full.
  void write(std::span<const std::byte> bytes);
  Bytes size() const { return size_; }
  /// Gives it its name in the folder, with a number where that is taken, and returns that name.
  /// Throws Refusal (507).
  std::string keep_as(const std::string& name);

 private:
  std::string rename_to(const std::string& name);

  std::string folder_;
  Bytes limit_;
  Bytes size_;
  std::string path_;
  os::FileDescriptor file_;
};

/// 413, with what to do.
[[noreturn]] void refuse_size(Bytes limit);

/// Removes what killed servers left in the folder.
void remove_abandoned_uploads(const std::string& folder);

/// "job.pcap", 1 gives "job.pcap"; 2 gives "job-2.pcap".
std::string numbered(const std::string& name, int number);

}  // namespace tw::serve
