// SPDX-License-Identifier: Apache-2.0
// Where a step's time goes as packets show it, without an experiment that says what the network is.
//
// What is quiet on the wire is computing; what a late host lets the others wait is its part; the rest of
// a step, with bytes of the exchange under way, is the slow link's where one was found, and otherwise
// transfer and delay together, called "bandwidth". A cause is named where diagnose found a late host or
// a slow link that costs a tenth of the step, where four fifths of it are quiet, and where links whose
// rates are known (`exec`) were full while bytes moved, by their counters or by what an exchange moved.
//
// Limits: packets do not show what a host does: its computing and its waiting for its own disk are one.
// Of a slow link, what it would take at another rate is not told. Transfer and delay are one part.
// Loss is told by what was sent again, not by what it cost.

#pragma once

#include "trainwire/record/run.h"

namespace tw::account {

/// Adds accounting and verdict to a record of captures; nothing to one without.
void add_of_packets(record::Run& run);

}  // namespace tw::account
