// SPDX-License-Identifier: Apache-2.0
// Any bytes may stand in live.jsonl: whole lines are used up, each is understood or counted, and
// what is passed on is of the types that a page expects.

#include "trainwire/base/error.h"
#include "trainwire/serve/live.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

using namespace tw;
using namespace tw::serve;

namespace {

void check_sample(const record::LiveSample& sample) {
  for (const double rate : sample.sent_bps) check(rate >= 0, "a rate is a rate");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const record::LiveLines lines = record::parse_live(text, record::From::Start);
  const auto count = std::count(text.begin(), text.end(), '\n');
  check(lines.used == (count == 0 ? 0 : text.rfind('\n') + 1), "whole lines are used, no others");
  const auto known = static_cast<std::ptrdiff_t>(lines.samples.size()) + lines.skipped;
  check(known <= count, "a line is a sample, or skipped, or something else");
  for (const record::LiveSample& sample : lines.samples) check_sample(sample);
  check(longest_silence_ns(lines.samples) >= 10'000'000'000, "a run may be silent for a while");
  return 0;
}
