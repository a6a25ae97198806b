// SPDX-License-Identifier: Apache-2.0
// Any bytes are a file of some kind, or of none with a reason; what it tells has sizes and times that can be meant.

#include "trainwire/base/error.h"
#include "trainwire/operations/imported.h"
#include "trainwire/readers/read.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tw;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  operations::Told told = readers::read_text(text, "rank0.json");
  for (const operations::Operation& each : told.operations) {
    check(!each.op.empty(), "an operation has a name");
    check(!each.bytes || *each.bytes >= 0, "sizes are not negative");
    check(!each.rank || *each.rank >= 0, "ranks are not negative");
  }
  if (told.kind == "unknown") check(!told.reasons.empty(), "what is not known gets a guess");
  operations::Told second = told;
  for (operations::Operation& each : second.operations) each.rank = 1;
  record::Run run;
  operations::add_to(run, operations::imported({std::move(told), std::move(second)}));
  check(run.verdict && !run.verdict->text.empty(), "there is always a sentence");
  return 0;
}
