// SPDX-License-Identifier: Apache-2.0
// How likely it is that exchanges which repeat are no training, whatever their shape: services with
// messages of one size, timers, heartbeats.
//
// These compete with training by laws of who begins, and when:
//
//   drive   who trains begins when it has computed for about as long as before; others begin by a
//           clock, or when somebody asks (rhythm/drive.h), or sleep, which looks like computing
//   order   who trains sends to one and to another as far apart in every step
//   size    a step of a job moves more than a few packets
//   prior   what repeats in a pattern of hosts that some strategy has is mostly that; what all send
//           to all, what nobody knows, and what is answered before all have asked is as often none
//
// Limits: clients that sleep for as long after each answer cannot be told from asynchronous workers.

#pragma once

#include "trainwire/recognise/recognise.h"
#include "trainwire/rhythm/steps.h"

#include <optional>
#include <string>

namespace tw::recognise {

struct Doubt {
  double probability;
  std::string why;        ///< "but ...", where it is likelier than training
  bool begins_otherwise;  ///< than work does: so do several of its steps
};

/// Where one host's side is all that is seen, nobody knows what it waits for, and clocks are left out.
Doubt no_training(const rhythm::Steps& exchanges, const std::optional<Recognition>& found,
                  bool is_one_side = false);

/// Whether a job would move so little for each host in a step.
bool is_small(double bytes_of_host);

}  // namespace tw::recognise
