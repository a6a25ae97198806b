// SPDX-License-Identifier: Apache-2.0
// `net cli`: lines from a terminal or a pipe, each a command for one host or for the network.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/os/child.h"
#include "trainwire/testbed/cluster.h"
#include "trainwire/testbed/programs.h"

#include <istream>
#include <string>
#include <string_view>
#include <vector>

namespace tw::cli {

/// What a program on `host` finds in its environment: ours, TRAINWIRE_HOST, PS1, and every host's
/// address under its name.
std::vector<std::string> host_environment(const network::NetPlan& plan, const std::string& host);

/// Waits until the program ends; where there is a terminal, it gets it meanwhile. 128 and the
/// signal's number for one that was killed, as shells have it.
int in_foreground(os::Child& child, bool has_terminal);

/// A line as a shell would cut it: blanks part words; quotes and backslashes keep them together.
/// Nothing else means anything: no variables, no pipes. Throws SpecError for a quote without end.
std::vector<std::string> words_of(std::string_view line);

/// Reads until `exit` or the end. Returns what the last command exited with.
int run_net_cli(const testbed::Cluster& cluster, const testbed::Programs& programs,
                std::istream& lines, command::Streams streams);

}  // namespace tw::cli
