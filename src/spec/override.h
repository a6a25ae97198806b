// SPDX-License-Identifier: Apache-2.0
// Sets values in the tree of an experiment file, as --set and the axes of a sweep do.

#pragma once

#include "trainwire/keys/tree.h"

#include <string>
#include <string_view>

namespace tw::spec {

/// Makes a single [job], [traffic], [fault], [expect] or [network.link] a list of one.
void list_repeated_sections(keys::Table& root);

/// Sets `path` to `value`, making sections that are missing; a list of sections without a number
/// means each of them. Returns what is wrong, or "". Whether the key has a meaning is the reader's
/// business. REQUIRES: list_repeated_sections(root).
std::string set_value(keys::Table& root, std::string_view path, const keys::Node& value);

}  // namespace tw::spec
