// SPDX-License-Identifier: Apache-2.0
// How far the capture can be trusted, with the reason for every doubt.

#pragma once

#include "trainwire/flow/analysis.h"

namespace tw::flow {

Quality quality_of(const Traffic& traffic, const Iterations& iterations);

}  // namespace tw::flow
