// SPDX-License-Identifier: Apache-2.0
// NCCL Inspector's JSON lines: what each collective of a process took.
//
// Its coll_sn counts each kind of operation by itself, so that it is told under the group and the kind. Its times
// include waiting for others; when a rank came is known only with NCCL_INSPECTOR_DUMP_VERBOSE=1. Messages under
// 8,192 bytes are not in it by default. Its size of an all-gather or reduce-scatter is one rank's part.
// Since version 4.3 a record of statistics goes before each batch and has the header of all its records.

#pragma once

#include "trainwire/operations/told.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace tw::readers {

class Inspector {
 public:
  explicit Inspector(operations::Told& told) : told_(told) {}
  void line(std::string_view text);
  void finish();

 private:
  void record(std::string_view text);
  void put_statistics(std::string_view statistics);

  operations::Told& told_;
  operations::Skips skips_;
  operations::Operation batch_ = {};  ///< header and host of the records that follow
  bool has_batch_ = false;
  std::string spread_;      ///< the beginning of a record on many lines
  std::size_t indent_ = 0;  ///< where its brace stands
  std::uint64_t dropped_ = 0;
  std::size_t without_times_ = 0;
};

}  // namespace tw::readers
