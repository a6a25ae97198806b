// SPDX-License-Identifier: Apache-2.0
// Any datagram may reach a group's port: what is taken for data or an answer says again what it said.

#include "trainwire/base/error.h"
#include "trainwire/multicast/datagram.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

using namespace tw;
using namespace tw::multicast;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  const auto found = decode_data(bytes, 0);
  const auto answer = decode_answer(bytes, 0);
  check(!found || !answer, "nothing is both");
  if (found) {
    check(found->number >= 0 && size > kHeaderBytes, "data has a number and bytes");
    check(std::ranges::equal(encode(*found, 0), bytes.first(kHeaderBytes)), "data says it again");
  }
  if (answer) {
    check(answer->next >= 0 && answer->first <= answer->end, "an answer tells of packets");
    check(std::ranges::equal(encode(*answer, 0), bytes), "an answer says it again");
  }
  return 0;
}
