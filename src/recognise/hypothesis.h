// SPDX-License-Identifier: Apache-2.0
// What the exchanges at one tempo are: a strategy, steps that nobody knows, or nothing.
//
// A strategy is believed where its own law holds: nobody is done before all others have begun, and
// what one host alone shows is not taken for a star around it. Without a strategy, steps are those
// of a job only if they have what every all-reduce has by definition, and no clock starts them.

#pragma once

#include "trainwire/recognise/recognise.h"
#include "trainwire/rhythm/channel.h"
#include "trainwire/rhythm/steps.h"
#include "trainwire/rhythm/tempo.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace tw::recognise {

inline constexpr double kLeastDominance = 0.6;  ///< of the pauses before steps

/// What holds for all attempts.
struct Circumstances {
  std::int64_t gap_ns;           ///< that separates bursts
  std::optional<int> only_host;  ///< whose packets alone there are
  Views views = Views::OfAll;
};

struct Hypothesis {
  rhythm::Steps exchanges;
  std::optional<Recognition> recognition;
  double score;
  std::optional<rhythm::Alternative> alternative = {};
  std::optional<std::string> why_not = {};  ///< it is no training, although it repeats
  double doubt = 0;                         ///< probability that it is none
  bool begins_otherwise = false;            ///< the reason why it is none is when it begins
};

/// Bytes of all steps.
double bytes_in(const rhythm::Steps& exchanges);

/// Recognises the exchanges, or those of their lanes that send the same, to which it then reduces
/// them: steady traffic of another kind fits every tempo, but does not send what the others send.
std::optional<Recognition> recognise_most(rhythm::Steps& exchanges,
                                          std::span<const rhythm::Channel> channels, Views views);

/// Whether what was recognised is only how one host's side of anything looks: a star around it.
bool is_hidden(const rhythm::Steps& exchanges, const Recognition& found,
               const Circumstances& setting);

/// What the exchanges at this tempo are; nothing when they are no steps.
std::optional<Hypothesis> hypothesis(const rhythm::Tempo& tempo,
                                     std::span<const rhythm::Channel> channels,
                                     const Circumstances& setting);

/// Of the bytes that a hypothesis explains, at most 2. One host's side of a strategy is as good as
/// a poor fit of the whole one where its pauses are clear.
double worth(const Hypothesis& found, const Circumstances& setting);

}  // namespace tw::recognise
