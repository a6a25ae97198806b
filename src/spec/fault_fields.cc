// SPDX-License-Identifier: Apache-2.0
#include "trainwire/spec/fields.h"

#include <limits>

namespace tw::spec {
namespace {

bool is_of_rank(const Fault& fault) { return fault.is_of_rank(); }
bool is_of_link(const Fault& fault) { return !fault.is_of_rank(); }
bool is_slow(const Fault& fault) { return *fault.kind == FaultKind::Slow; }
bool is_loss(const Fault& fault) { return *fault.kind == FaultKind::Loss; }
bool is_flap(const Fault& fault) { return *fault.kind == FaultKind::LinkFlap; }

}  // namespace

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
