// SPDX-License-Identifier: Apache-2.0
// Any bytes are an artefact or a SpecError; what arithmetic it has ends in numbers or a DataError.

#include "trainwire/base/error.h"
#include "trainwire/reproduce/artefact.h"
#include "trainwire/reproduce/judge.h"

#include <cstddef>
#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tw;
  const std::string text(reinterpret_cast<const char*>(data), size);
  try {
    const reproduce::Artefact artefact = reproduce::parse_artefact(text, "papers/paper/artefact");
    const reproduce::Outcome outcome = reproduce::judge(artefact, {.full = true}, {});
    std::size_t numbers = 0;
    for (const reproduce::Row& row : artefact.rows) numbers += row.numbers();
    check(outcome.judged.size() == numbers, "every number and every claim has a verdict");
  } catch (const SpecError&) {
  }
  return 0;
}
