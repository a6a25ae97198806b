// SPDX-License-Identifier: Apache-2.0
// `trainwire watch`: attaches to a running job, without stopping it and without root where the job is one's own.

#pragma once

#include "trainwire/command/command.h"

namespace tw::attach {

command::Body declare_watch(command::CommandLine& app);

}  // namespace tw::attach
