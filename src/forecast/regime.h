// SPDX-License-Identifier: Apache-2.0
// What a job's step mostly depends on: predictions are wrong by other amounts in other regimes.
//
// The first that applies, from what is hardest to tell to what is easiest.

#pragma once

#include "trainwire/forecast/formula.h"
#include "trainwire/spec/experiment.h"
#include "trainwire/workload/training.h"

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace tw::forecast {

enum class Regime {
  Loss,          ///< links lose packets
  Shared,        ///< cross traffic, or other jobs
  Asynchronous,  ///< ranks do not wait for one another
  Queue,         ///< queues shallower than the kernel's streams need
  Servers,       ///< many send to one at a time: parameter servers, stars
  Late,          ///< a rank or a link is slower than the others, or compute varies
  Latency,       ///< rounds wait longer for the way than for the line
  Bandwidth,
};
inline constexpr std::array kRegimes{Regime::Loss,    Regime::Shared,   Regime::Asynchronous,
                                     Regime::Queue,   Regime::Servers,  Regime::Late,
                                     Regime::Latency, Regime::Bandwidth};

/// "loss", "shared", "asynchronous", "queue", "servers", "late", "latency", "bandwidth".
std::string_view name_of(Regime regime);
std::optional<Regime> regime_named(std::string_view name);

/// `shape` is the training's, which is the job's. REQUIRES: the experiment is resolved.
Regime regime_of(const spec::Experiment& experiment, const spec::Job& job,
                 const workload::Training& training, const Shape& shape);

}  // namespace tw::forecast
