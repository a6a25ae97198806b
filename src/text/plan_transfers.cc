// SPDX-License-Identifier: Apache-2.0
#include "trainwire/text/plan_transfers.h"

#include "trainwire/base/error.h"
#include "trainwire/collective/count.h"
#include "trainwire/network/network.h"
#include "trainwire/play/play.h"
#include "trainwire/result/csv.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <algorithm>

namespace tw::text {
namespace {

constexpr std::int64_t kMostRows = 10'000'000;

play::Journey journey_of(const network::Network& network, const collective::Layout& layout,
                         const play::Message& message) {
  const int from = layout.host(message.transfer.from);
  const int to = layout.host(message.transfer.to);
  play::Journey journey;
  for (const int port : network.path(from, to)) {
    const network::Request& link = network.request(port);
    journey.leaving = std::max(journey.leaving, Bytes(message.bytes()) / link.rate);
    journey.travelling += link.delay;
  }
  return journey;
}

void require_listable(const workload::Training& job) {
  const auto per_bucket =
      collective::count(step_schedule(job), job.arrangement.layout, 0).transfers;
  const auto rows = 2.0 * static_cast<double>(per_bucket) *
                    static_cast<double>(job.buckets.size()) *
                    static_cast<double>(job.steps + job.warmup);
  if (rows <= static_cast<double>(kMostRows)) return;
  throw SpecError(fmt::format(
      "job {}: it would be {:.0f} rows, which is more than anybody reads; take fewer steps (--set "
      "job.steps=1) or ranks",
      job.name, rows));
}

void print_row(const std::string& job, const play::Moved& moved, std::ostream& out) {
  const play::Message& m = moved.message;
  fmt::print(out, "{},{},{},{},{},{},{},{},{},{},{},{}\n", job, moved.rank, m.step,
             m.bucket == workload::kWholePayload ? "" : std::to_string(m.bucket), m.transfer.round,
             m.transfer.from, m.transfer.to, m.lane, m.range.first, m.range.elements,
             name_of(m.transfer.combine), moved.at.count());
}

}  // namespace

void print_transfers(const spec::Experiment& experiment, std::ostream& out) {
  const network::Network network(experiment.network);
  fmt::print(out, "job,rank,step,bucket,round,from,to,lane,first,elements,combine,time_ns\n");
  for (const spec::Job& job : experiment.jobs) {
    const workload::Training training = workload::training_of(experiment, job);
    require_listable(training);
    std::string name;
    result::append_csv(name, training.name);
    const play::Played played = play::play(training, [&](const play::Message& message) {
      return journey_of(network, training.arrangement.layout, message);
    });
    for (const play::Moved& moved : played.moved) print_row(name, moved, out);
  }
}

}  // namespace tw::text
