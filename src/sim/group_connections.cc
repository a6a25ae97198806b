// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/group_connections.h"

#include "trainwire/base/error.h"
#include "trainwire/medium/rdma.h"
#include "trainwire/workload/casts.h"
#include "trainwire/workload/companions.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

namespace tw::sim {
namespace {

using collective::Combine;

bool sums(const spec::Job& job) { return *job.aggregation == spec::Aggregation::Switch; }
bool multicasts(const spec::Job& job) { return *job.distribution == spec::Distribution::Multicast; }

[[noreturn]] void refuse(const spec::Job& job, std::string_view key, std::string_view why) {
  const bool is_sum = key == "aggregation";
  throw SpecError(fmt::format("job {}: {} = \"{}\": {}; set it to \"{}\"", *job.name, key,
                              is_sum ? "switch" : "multicast", why, is_sum ? "host" : "unicast"));
}

void require(const spec::Job& job, const workload::Training& training, std::string_view key,
             Combine combine) {
  if (medium::manner_of(job) == medium::Manner::Rdma) {
    refuse(job, key, "queue pairs of RDMA have two ends");
  }
  const std::string problem = workload::group_problem(training, combine);
  if (!problem.empty()) refuse(job, key, problem);
}

}  // namespace

bool uses_groups(const spec::Job& job) { return sums(job) || multicasts(job); }

void GroupConnections::add_job(const spec::Network& network, const spec::Job& job) {
  const workload::Training& training = jobs_[asked_.size()].training;
  Asked& asked = asked_.emplace_back();
  if (!uses_groups(job)) return;
  if (*network.paths == spec::Paths::Packet) {
    throw SpecError(
        "network.paths = \"packet\": packets that switches sum or multicast take one way; set it "
        "to "
        "\"destination\"");
  }
  if (sums(job)) require(job, training, "aggregation", Combine::Sum);
  if (multicasts(job)) require(job, training, "distribution", Combine::Replace);
  asked.sums = sums(job);
  asked.multicasts = multicasts(job);
  asked.slots = *job.aggregation_slots;
  asked.priority = *job.priority;
  asked.step = step_schedule(training);
  if (!start_buckets(training).empty()) asked.start = start_schedule(training);
  if (asked.sums) switch_slots_ = std::max(switch_slots_, asked.slots);
  jobs_[asked_.size() - 1].in_network = true;
}

std::optional<GroupPlace> GroupConnections::of(std::size_t job, const play::Message& message) {
  const Asked& asked = asked_[job];
  const collective::Transfer& transfer = message.transfer;
  if (message.kind != play::Kind::Gradient) return {};
  const bool adds = transfer.combine == Combine::Sum;
  if (!(adds ? asked.sums : asked.multicasts)) return {};
  const workload::Training& training = jobs_[job].training;
  const bool starts = message.step < -training.warmup;
  const int hub = adds ? transfer.to : transfer.from;
  const auto [place, is_new] =
      found_.try_emplace({job, starts, adds, hub, transfer.round, transfer.chunk, message.lane});
  if (is_new) place->second = find(job, starts ? *asked.start : *asked.step, message);
  const Found& found = place->second;
  const int rank = adds ? transfer.from : transfer.to;
  const auto member = std::lower_bound(found.ranks.begin(), found.ranks.end(), rank);
  if (found.group < 0 || member == found.ranks.end() || *member != rank) return {};
  return GroupPlace{.group = found.group, .member = static_cast<int>(member - found.ranks.begin())};
}

GroupConnections::Found GroupConnections::find(std::size_t job,
                                               const collective::Schedule& schedule,
                                               const play::Message& message) {
  const workload::Training& training = jobs_[job].training;
  const collective::Layout& layout = training.arrangement.layout;
  const collective::Transfer& transfer = message.transfer;
  const bool adds = transfer.combine == Combine::Sum;
  const int hub = adds ? transfer.to : transfer.from;
  Found found{.ranks = workload::members_of(training, schedule, transfer)};
  if (found.ranks.size() < 2) return {};
  const auto [group, is_new] = groups_.try_emplace({job, adds, hub, message.lane, found.ranks}, -1);
  if (is_new) {
    const int beside = workload::groups_beside(schedule, transfer);
    medium::GroupRequest request{.sums = adds,
                                 .hub = layout.host(hub),
                                 .slots = std::max(1, asked_[job].slots / beside),
                                 .switch_slots = switch_slots_,
                                 .priority = asked_[job].priority,
                                 .beside = beside};
    for (const int rank : found.ranks) request.members.push_back(layout.host(rank));
    group->second = medium_.join(request);
  }
  found.group = group->second;
  return found;
}

}  // namespace tw::sim
