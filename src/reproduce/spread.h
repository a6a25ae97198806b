// SPDX-License-Identifier: Apache-2.0
// Questions answered on the processors of many machines (cluster/pool.h).

#pragma once

#include "trainwire/cluster/spreading.h"
#include "trainwire/os/file_descriptor.h"
#include "trainwire/reproduce/answers.h"

#include <cstddef>
#include <functional>
#include <span>

namespace tw::reproduce {

/// Leaves out what machines could not answer: files that they lack, or machines that were lost.
/// Throws Error when they cannot be started.
void answer_on_machines(const cluster::Spreading& spreading, std::span<const Question> questions,
                        const std::function<void(const Question&, Answer)>& take,
                        const std::function<bool()>& goes_on);

/// A worker on one of the machines.
int run_answers(os::FileDescriptor control);

}  // namespace tw::reproduce
