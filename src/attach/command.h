// SPDX-License-Identifier: Apache-2.0
// `trainwire watch`: attaches to a running job, without stopping it and without root where the job is one's own.

#pragma once

#include "trainwire/command/command.h"

#include <functional>
#include <string>

namespace tw::attach {

/// Makes the page of a run folder and, where asked, tells where it is.
using LeavePage = std::function<void(const std::string& folder, bool tells, command::Streams)>;

command::Body declare_watch(command::CommandLine& app, LeavePage leave_page);

}  // namespace tw::attach
