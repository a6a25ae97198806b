// SPDX-License-Identifier: Apache-2.0
// `trainwire host`: this machine becomes one of a run's.

#pragma once

#include "trainwire/command/command.h"
#include "trainwire/command/command_line.h"

namespace tw::cluster {

command::Body declare_host(command::CommandLine& app);

}  // namespace tw::cluster
