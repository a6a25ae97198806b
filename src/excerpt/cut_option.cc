// SPDX-License-Identifier: Apache-2.0
#include "trainwire/excerpt/cut_option.h"

#include "trainwire/base/error.h"
#include "trainwire/base/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace tw::excerpt {

CutOption cut_option(const std::string& text) {
  const std::size_t colon = text.find(':');
  const std::size_t equals = text.find('=');
  const std::string what = text.substr(0, colon);
  CutOption cut{.is_step = what == "step", .number = 0, .path = {}};
  const bool has_parts = colon < equals && equals + 1 < text.size();
  const char* const end = text.data() + std::min(equals, text.size());
  const char* const digits = text.data() + std::min(colon + 1, text.size());
  const bool is_number = has_parts && std::from_chars(digits, end, cut.number).ptr == end;
  if (!is_number || digits == end || (what != "finding" && what != "step")) {
    throw SpecError(
        fmt::format("--cut {}: expected finding:N=FILE or step:N=FILE, for example "
                    "--cut finding:1=slow.pcapng",
                    printable(text)));
  }
  cut.path = text.substr(equals + 1);
  return cut;
}

Selection selection_of(const CutOption& cut, const diagnose::Analysis& analysis,
                       const gather::Captured& traffic) {
  const std::size_t findings = analysis.findings.size();
  const std::size_t steps = analysis.iterations.steps.size();
  if (cut.is_step) {
    if (cut.number < steps) return of_step(analysis, cut.number);
    throw SpecError(
        fmt::format("--cut step:{}: there are {} steps, counted from 0", cut.number, steps));
  }
  if (cut.number >= 1 && cut.number <= findings) {
    return of_finding(analysis, traffic, cut.number - 1);
  }
  throw SpecError(
      fmt::format("--cut finding:{}: there are {} findings, counted from 1", cut.number, findings));
}

}  // namespace tw::excerpt
