// SPDX-License-Identifier: Apache-2.0
// How far the capture can be trusted, with the reason for every doubt.

#pragma once

#include "trainwire/diagnose/analysis.h"

namespace tw::diagnose {

Quality quality_of(const gather::Captured& traffic, const Iterations& iterations);

}  // namespace tw::diagnose
