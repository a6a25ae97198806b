// SPDX-License-Identifier: Apache-2.0
// The members of network.h and cross_traffic.h, named once for writing and reading.

#pragma once

#include "trainwire/record/cross_traffic.h"
#include "trainwire/record/json_io.h"
#include "trainwire/record/network.h"

namespace tw::record {

template <typename Io>
void describe(Io& io, As<RequestedLink> auto& link) {
  io("rate_bps", link.rate_bps);
  io("delay_s", link.delay_s);
  io("jitter_s", link.jitter_s);
  io("loss", link.loss);
  io("loss_burst", link.loss_burst);
  io("queue_bytes", link.queue_bytes);
  io.or_null("ecn_bytes", link.ecn_bytes);
}

template <typename Io>
void describe(Io& io, As<EffectiveLink> auto& link) {
  io.or_null("rate_bps", link.rate_bps);
  io("path", link.path);
  io("path_round_trip_s", link.path_round_trip_s);
  io("path_loss", link.path_loss);
}

template <typename Io>
void describe(Io& io, As<CountedLink> auto& link) {
  io("packets", link.packets);
  io("bytes", link.bytes);
  io("dropped_packets", link.dropped_packets);
  io("lost_packets", link.lost_packets);
  io("marked_packets", link.marked_packets);
  io("queue_peak_bytes", link.queue_peak_bytes);
  io("rate_bps", link.rate_bps);
  io("share", link.share);
}

template <typename Io>
void describe(Io& io, As<LinkShare> auto& share) {
  io("of", share.of);
  io("bytes", share.bytes);
  io("share", share.share);
}

template <typename Io>
void describe(Io& io, As<Link> auto& link) {
  io("name", link.name);
  io("direction", link.direction);
  io("requested", link.requested);
  io.or_null("effective", link.effective);
  io.if_any("counted", link.counted);
  io.if_any("shares", link.shares);
}

template <typename Io>
void describe(Io& io, As<RequestedPath> auto& path) {
  io("rate_bps", path.rate_bps);
  io("round_trip_s", path.round_trip_s);
  io("loss", path.loss);
}

template <typename Io>
void describe(Io& io, As<EffectivePath> auto& path) {
  io("rate_bps", path.rate_bps);
  io("round_trip_s", path.round_trip_s);
  io("round_trip_p99_s", path.round_trip_p99_s);
  io("loss", path.loss);
  io("loss_ci_low", path.loss_ci_low);
  io("loss_ci_high", path.loss_ci_high);
  io("loss_packets", path.loss_packets);
}

template <typename Io>
void describe(Io& io, As<Path> auto& path) {
  io("from", path.from);
  io("to", path.to);
  io("fitness", path.fitness);
  io("requested", path.requested);
  io("effective", path.effective);
  io("problems", path.problems);
}

template <typename Io>
void describe(Io& io, As<Network> auto& network) {
  io("links", network.links);
  io("paths", network.paths);
}

template <typename Io>
void describe(Io& io, As<Utilisation> auto& utilisation) {
  io("link", utilisation.link);
  io("direction", utilisation.direction);
  io("share", utilisation.share);
  io("rate_bps", utilisation.rate_bps);
}

template <typename Io>
void describe(Io& io, As<FlowOutcomes> auto& flows) {
  io("finished", flows.finished);
  io("started", flows.started);
  io("unfinished", flows.unfinished);
  io("unstarted", flows.unstarted);
}

template <typename Io>
void describe(Io& io, As<Lateness> auto& lateness) {
  io("p50_s", lateness.p50_s);
  io("p99_s", lateness.p99_s);
}

template <typename Io>
void describe(Io& io, As<Completion> auto& completion) {
  io("censored", completion.censored);
  io("from_bytes", completion.from_bytes);
  io("mean_s", completion.mean_s);
  io("n", completion.n);
  io("p50_s", completion.p50_s);
  io("p99_s", completion.p99_s);
  io.or_null("to_bytes", completion.to_bytes);
}

template <typename Io>
void describe(Io& io, As<Datagrams> auto& datagrams) {
  io("lost", datagrams.lost);
  io("received", datagrams.received);
  io("sent", datagrams.sent);
}

template <typename Io>
void describe(Io& io, As<TrafficOutcome> auto& outcome) {
  io("offered_bps", outcome.offered_bps);
  io("acknowledged_bytes", outcome.acknowledged_bytes);
  io("elapsed_s", outcome.elapsed_s);
  io("flows", outcome.flows);
  io("lateness", outcome.lateness);
  io("completion", outcome.completion);
  io.if_any("datagrams", outcome.datagrams);
}

template <typename Io>
void describe(Io& io, As<TrafficEntry> auto& entry) {
  io("name", entry.name);
  io("kind", entry.kind);
  io("capacity_bps", entry.capacity_bps);
  io("requested_bps", entry.requested_bps);
  io("achieved_bps", entry.achieved_bps);
  io("complete", entry.complete);
  io.beside("offered_bps", entry.outcome);
}

template <typename Io>
void describe(Io& io, As<GradientPair> auto& pair) {
  io("from", pair.from);
  io("to", pair.to);
  io("sending_rate_bps", pair.sending_rate_bps);
  io("shares_a_link", pair.shares_a_link);
}

template <typename Io>
void describe(Io& io, As<CrossTraffic> auto& traffic) {
  io("capacity_bps", traffic.capacity_bps);
  io("requested_bps", traffic.requested_bps);
  io("achieved_bps", traffic.achieved_bps);
  io("entries", traffic.entries);
  io("gradient_pairs", traffic.gradient_pairs);
}

}  // namespace tw::record
