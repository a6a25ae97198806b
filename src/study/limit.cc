// SPDX-License-Identifier: Apache-2.0
#include "trainwire/study/limit.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

namespace tw::study {

Limit parse_limit(std::string_view text) {
  const auto refuse = [&]() -> SpecError {
    return SpecError(fmt::format(
        "--fail-if {}: not a limit; write '+3%' (higher by more than 3 %), '-3%' (lower), or "
        "'3%' (either)",
        printable(text)));
  };
  std::string_view rest = text;
  const bool plus = rest.starts_with('+');
  const bool minus = rest.starts_with('-');
  if (plus || minus) rest.remove_prefix(1);
  double percent = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), percent);
  if (error != std::errc() || rest.starts_with('-')) throw refuse();
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  if (rest != "%" || !std::isfinite(percent)) throw refuse();
  return {.text = std::string(text), .share = percent / 100, .up = !minus, .down = !plus};
}

Judgement judge(const Limit& limit, const MetricRow& row) {
  if (row.difference) {
    if (row.difference->verdict == stats::Verdict::TooFew) return Judgement::CannotTell;
    if (row.difference->verdict == stats::Verdict::NoEvidence) return Judgement::Passed;
  }
  const bool beyond =
      (limit.up && row.relative > limit.share) || (limit.down && row.relative < -limit.share);
  return beyond ? Judgement::Failed : Judgement::Passed;
}

}  // namespace tw::study
