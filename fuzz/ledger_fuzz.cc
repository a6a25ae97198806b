// SPDX-License-Identifier: Apache-2.0
// Any bytes are a ledger; what it says may be acted on: no process below 2, and writing it out and
// reading it again changes nothing.

#include "trainwire/base/error.h"
#include "trainwire/ledger/record.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace {

using namespace tw;
using namespace tw::ledger;

std::string written(const LedgerRecord& record) {
  std::string text = record.owner ? line_of(*record.owner) : "";
  for (const LedgerProcess& process : record.processes) text += line_of(process);
  for (const LedgerNetwork& network : record.networks) text += line_of(network);
  for (const LedgerQueue& queue : record.queues) text += line_of(queue);
  for (const std::string& path : record.paths) text += line_of_path(path);
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  LedgerRecord record = parse_ledger({reinterpret_cast<const char*>(data), size});
  for (const LedgerProcess& process : record.processes) {
    check(process.process.pid >= 2, "neither groups nor the first process are killed");
  }
  record.unread = 0;
  check(parse_ledger(written(record)) == record, "a ledger reads back as it was");
  return 0;
}
