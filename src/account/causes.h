// SPDX-License-Identifier: Apache-2.0
// A cause where it acts: its place, its name in words, and what a step would take without it.

#pragma once

#include "trainwire/account/chain.h"
#include "trainwire/account/stretch.h"
#include "trainwire/account/words.h"
#include "trainwire/record/network.h"
#include "trainwire/spec/experiment.h"

#include <cstddef>
#include <string>

namespace tw::account {

/// What is asked for.
struct Question {
  const spec::Experiment& told;  ///< as the user wrote it: rates in words are these
  std::size_t job = 0;
  const Chain& chain;
  const Stretch& stretch;
  const record::Link* dropping = nullptr;  ///< that dropped most packets, if any did
};

/// Empty for "unknown". Takes one trial, of latency sometimes two.
Cause cause_of(const std::string& cause, const Question& question, Trials& trials);

}  // namespace tw::account
