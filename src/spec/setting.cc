// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/setting.h"

#include <array>
#include <cstddef>

namespace tw::spec {

std::string_view name(Origin origin) {
  constexpr std::array<std::string_view, 5> kNames{"default", "file", "override", "preset",
                                                   "derived"};
  return kNames[static_cast<std::size_t>(origin)];
}

}  // namespace tw::spec
