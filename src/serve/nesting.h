// SPDX-License-Identifier: Apache-2.0
// How deep a JSON text goes, before it is parsed: documents are copied and walked by recursion, and
// a file of a million brackets would exhaust the stack.

#pragma once

#include <cstddef>
#include <string_view>

namespace tw::serve {

/// How many lists and objects are open at most; looks at brackets outside of texts only.
std::size_t nesting(std::string_view json);

}  // namespace tw::serve
