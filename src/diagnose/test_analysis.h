// SPDX-License-Identifier: Apache-2.0
// What an analysis says of a job that was played.

#pragma once

#include "trainwire/diagnose/analysis.h"
#include "trainwire/rhythm/test_jobs.h"

namespace tw::diagnose {

/// By how much the bytes of the model are off, as a share; -1 when none were found.
inline double model_error(const Analysis& analysis, const rhythm::PlayedJob& job) {
  const auto payload = static_cast<double>(job.payload);
  return analysis.model_bytes ? static_cast<double>(*analysis.model_bytes) / payload - 1 : -1;
}

}  // namespace tw::diagnose
