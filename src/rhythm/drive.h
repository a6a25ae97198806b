// SPDX-License-Identifier: Apache-2.0
// What makes hosts begin a step: work, a clock, or somebody's wish.
//
// Who trains begins to send when it has computed for about as long as before, from when it had all
// that it waits for: what delays one step delays all that follow. A timer rings at its time, or so
// long after it rang last, whatever was received in between. Who is asked by people, or by programs
// that wait for other things, is asked at any time: pauses between an answer and the next question
// are as often short as long (an exponential law).
//
//   received   ....#            ....####            ..#
//   work            |---c---|            |---c---|     |---c---|
//   clock      |---- P -----|------- P -----|------- P ----|
//
// Each is a law of when a host begins, given what came before; the three are compared by their
// likelihood. Hosts that begin after they have received something in a step only answer, and count
// for nothing.
//
// Who trains goes through the same program in each step besides: what a host sends to one and to
// another begins as far apart in every step. Who asks one or another as chance has it keeps no such
// order.
//
// Limits: a program that sleeps as long after each answer looks like one that computes.

#pragma once

#include "trainwire/rhythm/steps.h"

#include <cstddef>
#include <span>

namespace tw::rhythm {

/// Mean log-likelihood of a beginning against any time within a period: the median of the hosts.
struct Drive {
  double work = 0;
  double clock = 0;
  double demand = 0;
  std::size_t observations = 0;  ///< beginnings of a host; 0: nobody knows
};

Drive drive_of(const Steps& exchanges);

/// Mean log-likelihood that a host sends to several in the same order as before, against at any time
/// within a period: the median over what each sends.
struct Order {
  double nats = 0;
  std::size_t observations = 0;  ///< steps; 0: nobody who counts sends to several
};

/// Of all hosts but `servers`, who answer when they are asked.
Order order_of(const Steps& exchanges, std::span<const int> servers);

}  // namespace tw::rhythm
