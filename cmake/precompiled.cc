// SPDX-License-Identifier: Apache-2.0
// What cmake/precompiled.h promises to be compiled once.

#include "precompiled.h"

template void fmt::detail::vformat_to<char>(fmt::detail::buffer<char>&, fmt::string_view,
                                            fmt::basic_format_args<fmt::buffer_context<char>>,
                                            fmt::detail::locale_ref);
template class nlohmann::detail::serializer<nlohmann::ordered_json>;
template class nlohmann::basic_json<nlohmann::ordered_map>;
