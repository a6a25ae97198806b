// SPDX-License-Identifier: Apache-2.0
// What one host's own traffic tells when the others' is not in the capture.
//
// A capture on one host holds every pair that this host is part of, and no other. Seen from there
// every strategy is a star around it. What still shows is whether it can be the centre of a real
// one: a root or a server only answers, and has everything of somebody before it sends him
// anything. Who sends before that has something of its own to give; what the others exchange does
// not show.

#pragma once

#include "trainwire/gather/captured.h"
#include "trainwire/recognise/recognise.h"
#include "trainwire/rhythm/steps.h"

#include <optional>
#include <vector>

namespace tw::recognise {

/// The host that is one end of all payload between hosts, when it has at least two others and the
/// capture is one point of view; else nothing. Whether other packets were not there, or were not
/// seen, is not known.
std::optional<int> only_witness(const gather::Captured& traffic, const std::vector<int>& host_of);

/// Of some hosts where there are several captures, but fewer than hosts, and one of these exchanged
/// payload with all others: then it is known how many there are. One capture may be of a place that
/// all packets pass. Of ranks where these share an address.
Views views_of(const gather::Captured& traffic, const std::vector<int>& host_of);

/// Of captures on some of the hosts alone: the one that exchanged payload with most others, which is
/// one of those. No strategy may show; its own side is whole.
std::optional<int> best_witness(const gather::Captured& traffic, const std::vector<int>& host_of);

/// Whether `host` could be a centre: it mostly sends others nothing before it has received all that
/// they send in the step.
bool only_answers(const rhythm::Steps& exchanges, int host);

/// Whether `host` does what everybody in an all-reduce does: it gives about as much as it takes,
/// and does not wait with it until it has received everything, as somebody who passes on does.
bool gives_and_takes(const rhythm::Steps& exchanges, int host);

/// Bytes that `host` gets from one other and sends on to another in each step, when these are equal
/// and all that it does: its part of a ring.
std::optional<double> ring_edge(const rhythm::Steps& exchanges, int host);

/// With how many others `host` exchanged payload.
int partners_of(int host, const gather::Captured& traffic, const std::vector<int>& host_of);

/// What `host` sends and receives in a typical step.
struct OwnBytes {
  double sent;
  double received;
};
OwnBytes own_bytes(const rhythm::Steps& exchanges, int host);

}  // namespace tw::recognise
