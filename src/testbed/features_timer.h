// SPDX-License-Identifier: Apache-2.0
// How well this machine keeps time: everything that is delayed in user space is late by as much.

#pragma once

#include "trainwire/testbed/features.h"

namespace tw::testbed {

/// 200 sleeps of a millisecond, in a process of its own.
TimerQuality measure_timer();

}  // namespace tw::testbed
