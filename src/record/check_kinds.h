// SPDX-License-Identifier: Apache-2.0
// The checks that a run may have, in words: what each judges and what to do when it fails. The
// numbers and the verdict of one run are in its record (Check).

#pragma once

#include <span>
#include <string_view>

namespace tw::record {

struct CheckKind {
  std::string_view name;
  std::string_view judged;  ///< the two counts that are compared
  std::string_view ok;
  std::string_view warn;  ///< "" where there is no such level
  std::string_view failed;
  std::string_view remedy;
};

/// In the order in which runs print them.
std::span<const CheckKind> check_kinds();
/// Nullptr when there is none of that name.
const CheckKind* find_check_kind(std::string_view name);

}  // namespace tw::record
