// SPDX-License-Identifier: Apache-2.0
// Any bytes are a step log or a DataError; its steps end after they start, in order of
// rank and number.

#include "trainwire/base/error.h"
#include "trainwire/imports/step_log.h"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <tuple>

namespace {

using namespace tw;

void check_order(const imports::StepLog& log) {
  check(!log.steps.empty(), "a log without steps is refused");
  for (std::size_t i = 0; i < log.steps.size(); ++i) {
    const imports::LoggedStep& step = log.steps[i];
    check(step.rank >= 0 && step.step >= 0, "ranks and steps are counted from zero");
    check(step.start_ns >= 0 && step.start_ns <= step.end_ns, "a step ends after it starts");
    if (i == 0) continue;
    const imports::LoggedStep& before = log.steps[i - 1];
    check(std::tie(before.rank, before.step) < std::tie(step.rank, step.step),
          "steps are told once, by rank and number");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  imports::StepLog log;
  try {
    log = imports::parse_step_log(text, "fuzz");
  } catch (const DataError&) {
    return 0;
  }
  check_order(log);
  return 0;
}
