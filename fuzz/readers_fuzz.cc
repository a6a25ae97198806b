// SPDX-License-Identifier: Apache-2.0
// Any bytes are a file of some kind, or of none with a reason; what it tells has sizes and times that can be meant.

#include "reader_properties.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  tw::operations::Told told = tw::readers::read_text(text, "rank0.json");
  fuzz::check_told(told);
  fuzz::check_record(std::move(told));
  return 0;
}
