// SPDX-License-Identifier: Apache-2.0
// The page with its data: the template, and one JSON document inside it.
//
// Names come from captures and files of others. The document stands in a script element of type
// application/json, which a browser does not run; within it no "<" is left that could end that
// element, and the page shows what it holds as text only.

#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace tw::report {

/// JSON without "<", ">", "&" and the line separators U+2028 and U+2029, written as \uNNNN
/// instead; bytes that are no UTF-8 are replaced.
std::string script_json(const nlohmann::ordered_json& document);

/// `page` with the document at its kDataMark. REQUIRES: the mark is there, once.
std::string filled(std::string_view page, const nlohmann::ordered_json& document);

}  // namespace tw::report
