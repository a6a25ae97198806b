// SPDX-License-Identifier: Apache-2.0
// A log of NCCL (NCCL_DEBUG=INFO) or RCCL, of one rank or of all of them mixed: who is where, rings and trees,
// how pairs are connected, and the collectives with their sizes.
//
// NCCL says that the text is no interface. Understood are lines of 2.4 to 2.30, wherever they stand in a
// line (launchers put prefixes before them, other output is glued to them). Sizes need
// NCCL_DEBUG_SUBSYS=COLL or TUNING, rings GRAPH. There are no times in it.
//
// Limits: the wiring is that of the largest communicator; of those of equal size the first.

#pragma once

#include "trainwire/operations/told.h"

#include <memory>
#include <string_view>

namespace tw::readers {

/// Takes lines one by one.
class NcclLog {
 public:
  NcclLog();
  ~NcclLog();
  NcclLog(const NcclLog&) = delete;
  NcclLog& operator=(const NcclLog&) = delete;

  /// False when nothing in it is of NCCL.
  bool line(std::string_view text);
  /// Into `told`; the last call.
  void finish(operations::Told& told);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tw::readers
