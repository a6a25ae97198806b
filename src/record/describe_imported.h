// SPDX-License-Identifier: Apache-2.0
// The members of imported.h, named once for writing and reading.

#pragma once

#include "trainwire/record/imported.h"
#include "trainwire/record/json_io.h"

namespace tw::record {

template <typename Io>
void describe(Io& io, As<OperationKind> auto& kind) {
  io("op", kind.op);
  io("count", kind.count);
  io("bytes", kind.bytes);
  io("timed", kind.timed);
  io.or_null("busbw_bps", kind.busbw_bps);
  io.or_null("busbw_whole_bps", kind.busbw_whole_bps);
  io.or_null("wait_s", kind.wait_s);
  io.or_null("transfer_s", kind.transfer_s);
}

template <typename Io>
void describe(Io& io, As<Operations> auto& operations) {
  io("count", operations.count);
  io("rows", operations.rows);
  io("ranks", operations.ranks);
  io("by_op", operations.by_op);
}

template <typename Io>
void describe(Io& io, As<Source> auto& source) {
  io("path", source.path);
  io("kind", source.kind);
  io("records", source.records);
  io("skipped", source.skipped);
  io("reasons", source.reasons);
  io.if_any("clock_offset_s", source.clock_offset_s);
  io.if_any("clock_uncertainty_s", source.clock_uncertainty_s);
}

}  // namespace tw::record
