// SPDX-License-Identifier: Apache-2.0
// JSON of files that may be anybody's. Documents are copied and walked by recursion, and a file of
// a million brackets would exhaust the stack: what goes deeper than any of ours is not parsed.

#pragma once

#include <nlohmann/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tw::result {

inline constexpr std::size_t kDeepestJson = 64;

/// How many lists and objects are open at most; looks at brackets outside of texts only.
std::size_t nesting(std::string_view json);

/// The document; null when the text is none or goes deeper than `deepest`.
nlohmann::ordered_json parse_json(std::string_view text, std::size_t deepest = kDeepestJson);
/// The same of a file; null too when it cannot be read, or is a pipe, for which one would wait.
nlohmann::ordered_json read_json(const std::string& path);

/// A text member of the object that a file begins with; nothing where there is none before the file
/// ends, or goes on as something else. What follows it is not read.
std::optional<std::string> text_member(const std::string& path, std::string_view name);

}  // namespace tw::result
