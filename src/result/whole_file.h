// SPDX-License-Identifier: Apache-2.0
// A file that is written in one step.

#pragma once

#include <string>
#include <string_view>

namespace tw::result {

/// A reader, a full disk and a power cut leave the old file or the new one. What is there and no
/// file (a pipe, /dev/stdout) is written to as it is. Throws SystemError.
void write_whole(const std::string& path, std::string_view text);

/// The same for a file of our own in a folder that others may have filled: a link of that name is
/// replaced, not written through. Throws SystemError.
void replace_whole(const std::string& path, std::string_view text);
/// The same at once, without waiting for the disk: a power cut may leave neither file whole. For
/// what is replaced again soon.
void replace_for_now(const std::string& path, std::string_view text);

}  // namespace tw::result
