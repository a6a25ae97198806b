// SPDX-License-Identifier: Apache-2.0
// Where the documents and examples that come with the program lie, for messages that name them.

#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tw {

/// `path` is of the source tree, such as "docs/serve.md". For an installed program (PREFIX/bin
/// beside PREFIX/share/doc/trainwire) this is where it was installed; otherwise `path` itself.
std::string shipped(std::string_view path);

/// The same for the program `program`.
std::string shipped(std::string_view path, const std::filesystem::path& program);

}  // namespace tw
