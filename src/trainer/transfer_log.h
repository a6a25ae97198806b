// SPDX-License-Identifier: Apache-2.0
// What a rank has moved, a line for each transfer's end at this rank, or each lane's share of it:
// "step,bucket,round,from,to,lane,first,elements,combine,time_ns".
//
// A rank has as many lines as transfers that it sends or receives, in the order in which they end
// there; on one connection, in the order in which they are sent. Bucket -1 is the whole payload;
// `first` counts from the payload's begin. Empty transfers leave no line, as they leave no byte.

#pragma once

#include "trainwire/os/file_descriptor.h"
#include "trainwire/workload/parts.h"

#include <cstdint>
#include <mutex>
#include <string>

namespace tw::trainer {

class TransferLog {
 public:
  /// With an empty path nothing is written. Throws SystemError.
  explicit TransferLog(const std::string& path);
  /// From any thread.
  void add(std::int64_t step, int bucket, const collective::Transfer& transfer, int lane,
           const workload::Range& range);
  /// Throws SystemError when the disk is full.
  void flush();

 private:
  std::string path_;
  os::FileDescriptor file_;
  std::int64_t to_real_time_ = 0;
  std::mutex mutex_;
  std::string pending_;
};

}  // namespace tw::trainer
