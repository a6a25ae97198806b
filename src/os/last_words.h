// SPDX-License-Identifier: Apache-2.0
// How the program ends when it cannot unwind: with one sentence and an exit code, not with a core.
//
// An allocation that fails usually ends like any other error (cli/program.cc). But destructors that
// allocate (a large JSON document's do), and threads, end the process at once; then these words are
// the last ones. What a run had built goes with its processes, and the ledger knows the rest.

#pragma once

#include <string>
#include <string_view>

namespace tw::os {

/// How the message of a failed allocation begins.
inline constexpr std::string_view kOutOfMemory = "out of memory";

/// The whole message.
std::string out_of_memory();

/// From now on std::terminate prints the exception's message and exits: with `environment` when
/// memory was short or the system refused something, else with `internal`.
void install_last_words(int environment, int internal);

}  // namespace tw::os
