// SPDX-License-Identifier: Apache-2.0
// Traffic that a timer starts, and not the end of what was done before.
//
// A step of training begins when the one before has ended: what delays one delays all that follow.
// A timer rings at its time whatever happened before: if it is late once, the next distance is
// shorter by as much. So neighbouring distances of a timer are opposed (their correlation is -1/2
// where each is late by chance), and those of training are not.
//
// Limits: needs some ten steps. A program that sleeps after each message has no such timer.

#pragma once

#include "trainwire/rhythm/steps.h"

namespace tw::rhythm {

/// Whether the steps begin at even times of a clock.
bool is_clocked(const Steps& exchanges);

}  // namespace tw::rhythm
