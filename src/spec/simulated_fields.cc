// SPDX-License-Identifier: Apache-2.0
#include "trainwire/keys/tree.h"
#include "trainwire/spec/fields.h"

#include <fmt/format.h>

#include <limits>

namespace tw::spec {
namespace {

bool uses_rdma(const Job& job) { return *job.transport == "rdma"; }
bool sums_in_switches(const Job& job) { return *job.aggregation == Aggregation::Switch; }
bool learns(const Job& job) { return *job.compute == Compute::Train; }
bool sends_largest(const Job& job) { return learns(job) && *job.gradient == Gradient::TopK; }
bool marks(const Network& network) { return network.link.ecn->has_value(); }

bool is_of_rank(const Fault& fault) { return fault.is_of_rank(); }
bool is_of_link(const Fault& fault) { return !fault.is_of_rank(); }
bool is_slow(const Fault& fault) { return *fault.kind == FaultKind::Slow; }
bool is_loss(const Fault& fault) { return *fault.kind == FaultKind::Loss; }
bool is_flap(const Fault& fault) { return *fault.kind == FaultKind::LinkFlap; }

template <typename S>
void add_simulated(const std::vector<Field<S>>& fields, const S& section, std::string_view path,
                   std::vector<std::string>& keys) {
  const S usual;
  for (const Field<S>& field : fields) {
    if (!field.about.simulated) continue;
    const Held held = *field.held(section);
    const bool is_said = held.origin == Origin::File || held.origin == Origin::Override;
    if (!is_said || keys::print(held.written) == keys::print(field.held(usual)->written)) continue;
    keys.push_back(fmt::format("{}.{}", path, field.key));
  }
}

}  // namespace

std::vector<Field<Network>> simulated_network_fields() {
  return {
      field("loss_unit", &Network::loss_unit, loss_unit(),
            {.help = "what one loss takes away: a segment, or a whole train of segments that a "
                     "host sends at once; sim alone",
             .simulated = true}),
      field("ecn_until", &Network::ecn_until, maybe(size(Bytes(1))),
            {.help = "queue depth from which every packet is marked; from ecn to there a share "
                     "that rises (RED); sim alone",
             .otherwise = "ecn",
             .applies = marks,
             .simulated = true}),
      field("ecn_most", &Network::ecn_most, fraction(),
            {.help = "that share just below ecn_until; sim alone",
             .applies = marks,
             .simulated = true}),
      field("ecn_action", &Network::ecn_action, early_action(),
            {.help = "drop: packets are dropped where they would be marked (RED without ECN); sim "
                     "alone",
             .applies = marks,
             .simulated = true}),
      field("ecn_average", &Network::ecn_average, number(1e-6, 1),
            {.help = "weight of the newest depth in the mean depth that is judged; 1 judges the "
                     "depth itself; sim alone",
             .applies = marks,
             .simulated = true}),
      field("paths", &Network::paths, paths(),
            {.help = "what picks one of several equally short ways: the destination, a flow's "
                     "hash (ECMP), or each packet anew (spraying); other than destination sim "
                     "alone",
             .simulated = true}),
      field("pfc", &Network::pfc, flag(),
            {.help = "switches pause RDMA before their queues overflow; sim alone",
             .simulated = true}),
  };
}

std::vector<Field<Job>> simulated_job_fields() {
  return {
      field("priority", &Job::priority, whole(0, 7),
            {.help = "at every port the highest goes first, and alone; sim alone",
             .simulated = true}),
      field("congestion_control", &Job::congestion_control, congestion_control(),
            {.help = "TCP's, for this job; sim alone",
             .otherwise = "the network's",
             .simulated = true}),
      field("rdma_repair", &Job::rdma_repair, rdma_repair(),
            {.help = "transport rdma: what is lost is repeated alone, or with all that followed",
             .applies = uses_rdma,
             .simulated = true}),
      field("rdma_control", &Job::rdma_control, rdma_control(),
            {.help = "transport rdma: how rates follow marks; dcqcn has the periods of cards, "
                     "dcqcn_paper those of its paper, none never slows down",
             .applies = uses_rdma,
             .simulated = true}),
      field("aggregation", &Job::aggregation, aggregation(),
            {.help = "where gradients for one receiver are summed: there, or on their way in a "
                     "switch; sim alone",
             .simulated = true}),
      field("aggregation_slots", &Job::aggregation_slots, whole(1, 1 << 20),
            {.help = "aggregation switch: packets that a switch can sum at a time",
             .applies = sums_in_switches,
             .simulated = true}),
      field("distribution", &Job::distribution, distribution(),
            {.help = "how one sender's parameters get to several receivers; multicast: once over "
                     "each link; run and sim"}),
      field("forward_overlap", &Job::forward_overlap, flag(),
            {.help = "forward begins a layer as soon as its parameters are there; sim alone",
             .simulated = true}),
  };
}

std::vector<Field<Job>> learned_job_fields() {
  return {
      field("data", &Job::data, text(),
            {.help = "compute train: fashion-mnist (Debian's dataset-fashion-mnist), synthetic "
                     "(made from the seed), or a folder of IDX files",
             .applies = learns}),
      field("learning_rate", &Job::learning_rate, number(1e-9, 1e3),
            {.help = "compute train: of stochastic gradient descent; it falls in a line to a "
                     "twentieth at the last step",
             .applies = learns}),
      field("momentum", &Job::momentum, number(0, 0.9999),
            {.help = "compute train: share of the last change that is made again",
             .applies = learns}),
      field("local_steps", &Job::local_steps, whole(1, 1'000'000),
            {.help = "compute train: batches that a worker takes alone between two exchanges; a "
                     "step is all of them and one exchange",
             .applies = learns}),
      field("gradient", &Job::gradient, gradient(),
            {.help = "compute train: how gradients travel; fp16 halves the bytes, topk sends the "
                     "largest and keeps the rest for later",
             .applies = learns}),
      field("top_k", &Job::top_k, number(1e-6, 0.5),
            {.help = "gradient topk: share of a bucket's gradients that travels",
             .applies = sends_largest}),
      field("evaluate_every", &Job::evaluate_every, long_whole(1, kMostSteps),
            {.help = "compute train: steps from one look at the test set to the next",
             .otherwise = "a twentieth of the steps",
             .applies = learns}),
      field("target_accuracy", &Job::target_accuracy, maybe(fraction()),
            {.help = "compute train: of the test set; the record tells when it was reached",
             .otherwise = "none",
             .applies = learns}),
  };
}

std::vector<Field<Traffic>> simulated_traffic_fields() {
  return {field(
      "priority", &Traffic::priority, whole(0, 7),
      {.help = "at every port the highest goes first, and alone; sim alone", .simulated = true})};
}

std::vector<std::string> simulated_keys(const Experiment& experiment) {
  std::vector<std::string> keys;
  add_simulated(network_fields(), experiment.network, "network", keys);
  for (const Job& job : experiment.jobs) add_simulated(job_fields(), job, "job", keys);
  for (const Traffic& one : experiment.traffic)
    add_simulated(traffic_fields(), one, "traffic", keys);
  return keys;
}

const std::vector<Field<Fault>>& fault_fields() {
  constexpr int kAnyRank = std::numeric_limits<int>::max();
  static const std::vector<Field<Fault>> fields{
      field("kind", &Fault::kind, fault_kind(),
            {.help = "kill: a rank ends; stop: it does nothing for a while; link-down: nothing "
                     "gets through; link-flap: down and up; slow: another rate; loss: more loss",
             .otherwise = "required"}),
      field("at", &Fault::at, maybe(time()),
            {.help = "when it begins, after the run's start", .otherwise = "required, or step"}),
      field("step", &Fault::step, maybe(long_whole(0, kMostSteps)),
            {.help = "when it begins: as a rank of the job begins that step, 0 the first measured "
                     "one (kill and stop: as their rank does)",
             .otherwise = "required, or at"}),
      field("job", &Fault::job, text(),
            {.help = "whose step or rank, by name", .otherwise = "the first job"}),
      field("rank", &Fault::rank, maybe(whole(0, kAnyRank)),
            {.help = "kinds kill and stop: of the job", .applies = is_of_rank}),
      field("link", &Fault::link, text(),
            {.help = "other kinds: a host's name, or a core link's", .applies = is_of_link}),
      field("direction", &Fault::direction, direction(),
            {.help = "of the link, seen from the host, or from its lower switch",
             .applies = is_of_link}),
      field("for", &Fault::lasting, maybe(time(Duration(1))),
            {.help = "how long; not of kill", .otherwise = "for good"}),
      field("rate", &Fault::rate, maybe(rate()),
            {.help = "kind slow: instead of the link's", .applies = is_slow}),
      field("factor", &Fault::factor, maybe(number(1e-9, 1)),
            {.help = "kind slow: of the link's rate", .applies = is_slow}),
      field(
          "loss", &Fault::loss, probability(),
          {.help = "kind loss: share of packets lost besides the link's own", .applies = is_loss}),
      field("period", &Fault::period, time(Duration(1)),
            {.help = "kind link-flap: from one time down to the next", .applies = is_flap}),
      field("duty", &Fault::duty, number(1e-9, 1),
            {.help = "kind link-flap: share of a period that the link is down, first",
             .applies = is_flap}),
  };
  return fields;
}

}  // namespace tw::spec
