// SPDX-License-Identifier: Apache-2.0
// What a program's last words mean, where they are known: GPU memory that ran out, MPS that was not
// found, NCCL that refused. In a sentence with what to do.

#pragma once

#include <string>
#include <string_view>

namespace tw::programs {

/// "" for words that are not known. `text` is the end of what a rank has printed.
std::string meaning_of(std::string_view text);

/// The same of the last 64 KiB of a file; "" when it cannot be read.
std::string meaning_of_file(const std::string& path);

/// Whether the end of a rank's output tells that another one was gone: an effect, not a cause.
bool lost_a_peer(const std::string& path);

}  // namespace tw::programs
