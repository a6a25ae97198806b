// SPDX-License-Identifier: Apache-2.0
// Any bytes that a TAP device may hand over are described, marked and cut without a read beyond
// them, and what is cut out is again what it was cut as.

#include "trainwire/base/error.h"
#include "trainwire/fabric/segments.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace {

using namespace tw;
using namespace tw::fabric;

void check_run(const std::vector<std::uint8_t>& packet, const Segments& segments, int first,
               int count) {
  std::vector<std::uint8_t> piece(cut_bytes(segments, first, count));
  cut(packet, segments, first, count, piece);
  const Segments cut_out = describe(piece);
  check(cut_out.count == count, "a piece has the segments that were cut out");
  for (int i = 0; i < count; ++i) {
    check(cut_out.wire_bytes(i) == segments.wire_bytes(first + i), "segments keep their length");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // A copy of its own size: a read beyond the end is a read beyond the allocation.
  std::vector<std::uint8_t> packet(data, data + size);
  const Segments segments = describe(packet);
  if (allows_marking(packet)) mark_congestion(packet);
  check(describe(packet) == segments, "a mark changes nothing else");
  std::int64_t sum = 0;
  for (int i = 0; i < segments.count; ++i) sum += segments.wire_bytes(i);
  check(sum == segments.wire_bytes(), "the segments add up");
  if (segments.count == 1) return 0;
  check_run(packet, segments, 0, segments.count - 1);
  check_run(packet, segments, 1, segments.count - 1);
  check_run(packet, segments, segments.count / 2, 1);
  return 0;
}
