// SPDX-License-Identifier: Apache-2.0
// What the exchanges at one tempo are: a strategy, steps that nobody knows, or nothing.
//
// A strategy is believed where its own law holds: nobody is done before all others have begun, and
// what one host alone shows is not taken for a star around it. Without a strategy, steps are those
// of a job only if they have what every all-reduce has by definition, and no clock starts them.

#pragma once

#include "trainwire/flow/channel.h"
#include "trainwire/flow/exchange.h"
#include "trainwire/flow/recognise.h"
#include "trainwire/flow/tempo.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tw::flow {

inline constexpr double kLeastDominance = 0.6;  ///< of the pauses before steps

/// What holds for all attempts.
struct Setting {
  std::int64_t gap_ns;           ///< that separates bursts
  std::optional<int> only_host;  ///< whose packets alone there are
};

struct Hypothesis {
  Exchanges exchanges;
  std::optional<Recognition> recognition;
  double score;
  std::optional<Alternative> alternative = {};
  std::optional<std::string> why_not = {};  ///< it is no training, although it repeats
};

/// Bytes of all steps.
double bytes_in(const Exchanges& exchanges);

/// Recognises the exchanges, or those of their lanes that send the same, to which it then reduces
/// them: steady traffic of another kind fits every tempo, but does not send what the others send.
std::optional<Recognition> recognise_most(Exchanges& exchanges, std::span<const Channel> channels);

/// Whether what was recognised is only how one host's side of anything looks: a star around it.
bool is_hidden(const Exchanges& exchanges, const Recognition& found, const Setting& setting);

/// What the exchanges at this tempo are; nothing when they are no steps.
std::optional<Hypothesis> hypothesis(const Tempo& tempo, std::span<const Channel> channels,
                                     const Setting& setting);

/// Of the bytes that a hypothesis explains, at most 2. One host's side of a strategy is as good as
/// a poor fit of the whole one where its pauses are clear.
double worth(const Hypothesis& found, const Setting& setting);

}  // namespace tw::flow
