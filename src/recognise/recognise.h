// SPDX-License-Identifier: Apache-2.0
// Which strategy moves the gradients: from the bytes of a typical step between each two hosts, and,
// where several strategies share one matrix, from who sends first.
//
//   ring                each host sends to one other, all the same; one circle through all
//   tree, star          2(N-1) directed edges with M each: N-1 towards a root, then N-1 away
//   ps                  servers and workers exchange, workers among themselves do not
//   clique, all_to_all  every ordered pair carries the same
//   two rings           neighbours in one circle exchange the same, both ways at once
//   broadcast           the same from a root to several, who pass it on, in every step
//   others              by their footprint (footprint.h)
//
// Time excludes what bytes allow: nobody gets a sum before everybody has begun to send, and nobody
// passes on what has not come.
//
// Limits: what hosts do inside themselves is invisible; several ranks on a host are seen as one.
// Two hosts look the same in every strategy.

#pragma once

#include "trainwire/rhythm/steps.h"

#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tw::recognise {

/// Bytes of one step.
struct Sharding {
  double gathered;
  double scattered;
};

/// Whatever repeats and is no training; only ever a runner-up.
inline constexpr const char* kRequestAnswer = "request_answer";

/// The next best explanation of the same exchange.
struct RunnerUp {
  std::string operation;
  std::string strategy;
  int ranks_on_each;
  double payload;
  double probability;
};

struct Recognition {
  std::string operation;      ///< as collective::name_of(Operation)
  std::string strategy;       ///< as the catalogue names it, or unknown
  std::vector<int> order;     ///< hosts: along the ring; root first for trees; servers first for ps
  std::vector<int> servers;   ///< of them
  std::vector<int> starters;  ///< hosts that begin a step without waiting for others
  double payload;             ///< bytes of one step
  std::string evidence;
  double nats;             ///< its score (likelihood.h)
  int ranks_on_each = 1;   ///< host, as far as is known
  bool waits = false;      ///< hosts wait for one another inside a step, as no timer makes them do
  double fit = 1;          ///< posterior of the strategy among all that were offered
  double payload_fit = 1;  ///< the same of the payload
  std::optional<RunnerUp> runner_up = {};
  /// Where parameters are gathered and gradients scattered instead of reduced: what a step gathers
  /// and scatters; the payload is the model's.
  std::optional<Sharding> sharding = {};
};

/// Whether its hosts stand in a circle, each sending to the next.
bool is_ring(const Recognition& found);

/// Whether everybody sends everybody something.
bool is_dense(const Recognition& found);

/// A ring of hosts with so many ranks each, where packets of the exchange do not show it. It passes
/// each edge between hosts once where ranks that follow each other share a host, and up to `ranks`
/// times where they are dealt out host by host.
void set_ranks_on_each(Recognition& ring, int ranks, int passes);

/// Whose packets there are. Of some hosts: what passes between two others is not there. Of ranks: of all, and each host is one rank, as ports of one
/// address are (gather/ports.h).
enum class Views { OfAll, OfSome, OfRanks };

std::optional<Recognition> recognise(const rhythm::Steps& exchanges,
                                     std::span<const rhythm::Channel> channels, Views views);

}  // namespace tw::recognise
