// SPDX-License-Identifier: Apache-2.0
// What most sources include from outside, read once (TW_PRECOMPILE). Sources do not rely on it: preset dev compiles each without.

#pragma once

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// Compiled once, in precompiled.cc: without these lines each unit that prints to a stream compiles all of formatting, and each
// that has a document all of JSON.
extern template void fmt::detail::vformat_to<char>(
    fmt::detail::buffer<char>&, fmt::string_view, fmt::basic_format_args<fmt::buffer_context<char>>,
    fmt::detail::locale_ref);
extern template class nlohmann::detail::serializer<nlohmann::ordered_json>;
extern template class nlohmann::basic_json<nlohmann::ordered_map>;
