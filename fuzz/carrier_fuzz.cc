// SPDX-License-Identifier: Apache-2.0
// Any document may come over the channel between a rank and its carrier, or as a launcher's argument:
// what is taken for an assignment, contacts or counts says again what it said, and names only ranks
// that are there.

#include "trainwire/base/error.h"
#include "trainwire/carrier/assignment.h"
#include "trainwire/carrier/streams.h"

#include <cstddef>
#include <cstdint>

using namespace tw;
using namespace tw::carrier;
using nlohmann::json;

namespace {

template <typename Read>
void read_twice(const json& document, Read read) {
  try {
    const auto value = read(document);
    check(read(to_json(value)) == value, "a document says what it said");
  } catch (const DataError&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const json document = json::parse(data, data + size, nullptr, false);
  if (document.is_discarded()) return 0;
  read_twice(document, assignment_from);
  read_twice(document, contacts_from);
  read_twice(document, tcp_counts_from);
  try {
    const Assignment assignment = assignment_from(document);
    for (const Wire& wire : assignment.wires) {
      check(0 <= wire.rank && wire.rank < assignment.ranks, "a wire ends at a rank");
    }
  } catch (const DataError&) {
  }
  try {
    stream_bytes(tcp_counts_from(document));
  } catch (const DataError&) {
  }
  return 0;
}
