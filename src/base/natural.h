// SPDX-License-Identifier: Apache-2.0
// The order in which people read names: host2 before host10.

#pragma once

#include <string_view>

namespace tw {

/// Numbers in names count as numbers; a total order, for maps and sorting.
struct NaturalLess {
  using is_transparent = void;
  bool operator()(std::string_view a, std::string_view b) const;
};

}  // namespace tw
