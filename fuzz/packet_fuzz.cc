// SPDX-License-Identifier: Apache-2.0
// Any bytes decode to a Packet, behind every link layer, and the quick way agrees with the thorough
// one. The first three bytes of an input are what the original length exceeds the captured one by.

#include "trainwire/base/error.h"
#include "trainwire/packet/decode.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

namespace {

using namespace tw;
using namespace tw::packet;

/// Addresses are numbers of two tables that saw the same packets: equal numbers are equal
/// addresses.
void check_packet(const Packet& quick, const Packet& thorough, const Record& record) {
  check(std::memcmp(&quick, &thorough,
                    offsetof(Packet, segment_bytes) + sizeof quick.segment_bytes) == 0,
        "both ways give the same packet");
  check(quick.captured_bytes == record.bytes.size(), "captured bytes are counted");
  check(static_cast<int>(quick.verdict) < kVerdicts, "the verdict is one of the known");
  const bool has_ports = quick.verdict == Verdict::Tcp || quick.verdict == Verdict::Udp ||
                         quick.verdict == Verdict::Rocev2;
  check(has_ports || (quick.sequence == 0 && quick.window == 0),
        "fields behind the verdict are zero");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::uint32_t excess = data[0] | std::uint32_t{data[1]} << 8 | std::uint32_t{data[2]} << 16;
  const auto input = std::as_bytes(std::span(data, size)).subspan(3);
  // A copy of its own size: a read beyond the end is a read beyond the allocation.
  const std::vector<std::byte> frame(input.begin(), input.end());
  AddressTable addresses_quick, addresses_thorough;
  for (int link = 0; link <= static_cast<int>(Link::Unknown); ++link) {
    const Record record{.bytes = frame,
                        .original_bytes = static_cast<std::uint32_t>(frame.size()) + excess,
                        .time_ns = 1,
                        .interface = 0,
                        .link = static_cast<Link>(link)};
    // Twice: the quick way is for addresses that were seen before.
    for (int time = 0; time < 2; ++time) {
      Packet quick, thorough;
      decode(record, addresses_quick, quick);
      decode_any(record, addresses_thorough, thorough);
      check_packet(quick, thorough, record);
    }
  }
  return 0;
}
