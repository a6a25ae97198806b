// SPDX-License-Identifier: Apache-2.0
#include "trainwire/load/kinds.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <array>
#include <utility>

namespace tw::load {
namespace {

using spec::TrafficKind;

constexpr std::array<std::pair<TrafficKind, std::string_view>, 5> kKinds{{
    {TrafficKind::Long, "long"},
    {TrafficKind::WebSearch, "websearch"},
    {TrafficKind::Burst, "burst"},
    {TrafficKind::File, "file"},
    {TrafficKind::Constant, "constant"},
}};

}  // namespace

std::string_view name_of(TrafficKind kind) {
  const auto* const found =
      std::find_if(kKinds.begin(), kKinds.end(), [&](const auto& k) { return k.first == kind; });
  check(found != kKinds.end(), "every kind has a name");
  return found->second;
}

std::optional<TrafficKind> kind_named(std::string_view name) {
  for (const auto& [kind, text] : kKinds) {
    if (text == name) return kind;
  }
  return {};
}

}  // namespace tw::load
