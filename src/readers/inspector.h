// SPDX-License-Identifier: Apache-2.0
// NCCL Inspector's JSON lines: what each collective of a process took.
//
// Its coll_sn counts each kind of operation by itself, so that it is told under the group and the kind. Its times
// include waiting for others; when a rank came is known only with NCCL_INSPECTOR_DUMP_VERBOSE=1. Messages under
// 8,192 bytes are not in it by default.

#pragma once

#include "trainwire/operations/told.h"

#include <string_view>

namespace tw::readers {

class Inspector {
 public:
  explicit Inspector(operations::Told& told) : told_(told) {}
  /// False when it is no record of Inspector.
  bool line(std::string_view text);
  void finish();

 private:
  operations::Told& told_;
  operations::Skips skips_;
  std::size_t without_times_ = 0;
};

}  // namespace tw::readers
