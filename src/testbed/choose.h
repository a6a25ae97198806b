// SPDX-License-Identifier: Apache-2.0
// Which engine emulates a plan on this machine.
//
// Loss and ECN marks belong to single packets, which only the tap switch handles at full speed: the
// kernel's engines have to give up super-packets for it. The tap switch also holds exactly what a
// queue may hold, where the kernel's buckets hold a burst more: with shallow queues that would show.
// Otherwise the kernel's own engines are the faster ones: netem where the kernel has it and the plan
// is of the kind it can do, else the packets are held by NFQUEUE.

#pragma once

#include "trainwire/network/plan.h"
#include "trainwire/testbed/features.h"

#include <functional>
#include <string_view>
#include <vector>

namespace tw::testbed {

/// "netem", "nfqueue", "tap"; "auto".
std::string_view name_of(spec::Engine engine);

/// The engines that can emulate the plan, best first: the asked one alone unless it is Auto. Throws
/// SpecError when the asked one cannot emulate this plan on any machine.
std::vector<spec::Engine> preferred_engines(spec::Engine asked, const network::NetPlan& plan);

/// The first of preferred_engines() that works here. Throws SystemError, with what to do, when none
/// does.
spec::Engine choose_engine(spec::Engine asked, const network::NetPlan& plan,
                           const Features& features);
/// The same, trying no more engines than it takes. REQUIRES: this process has one thread.
spec::Engine choose_engine(spec::Engine asked, const network::NetPlan& plan);

}  // namespace tw::testbed
