// SPDX-License-Identifier: Apache-2.0
#include "trainwire/account/causes.h"

#include "trainwire/account/places.h"
#include "trainwire/account/without.h"
#include "trainwire/network/network.h"
#include "trainwire/spec/links.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace tw::account {
namespace {

using Experiment = spec::Experiment;

/// A cause in words, and the experiment without it.
struct Named {
  Cause cause = {};
  Experiment without = {};
  Manner manner = Manner::Tcp;
};

std::string hop_words(const spec::Traffic& traffic) {
  return fmt::format("{} to {}", *traffic.from, *traffic.to);
}

Named loss(const Question& question, const Experiment& base, Trials&) {
  Named made{.without = without_loss(base)};
  const auto lossy = lossiest(question.told);
  const double everywhere = *question.told.network.link.loss;
  if (lossy) {
    const bool is_core = spec::is_core_link(question.told.network, lossy->link);
    made.cause.where = lossy->direction ? place_name(lossy->link, *lossy->direction) : lossy->link;
    made.cause.words =
        fmt::format("packets lost on {}, {:.3g} %",
                    lossy->direction ? place_words(lossy->link, *lossy->direction, is_core)
                                     : fmt::format("{}'s link", lossy->link),
                    100 * lossy->loss);
  } else if (everywhere > 0) {
    made.cause.words = fmt::format("lost packets, {:.3g} % on each link", 100 * everywhere);
  } else if (question.dropping != nullptr) {
    const bool is_in = question.dropping->direction == "to_host";
    const spec::Direction direction = is_in ? spec::Direction::ToHost : spec::Direction::FromHost;
    const std::string& link = question.dropping->name;
    made.cause.where = place_name(link, direction);
    made.cause.words =
        fmt::format("packets lost at a full queue, most of them on {}",
                    place_words(link, direction, spec::is_core_link(question.told.network, link)));
  } else {
    made.cause.words = "packets lost at full queues";
  }
  made.cause.if_not = lossy || everywhere > 0 ? "Without loss" : "With deep queues";
  return made;
}

Named cross_traffic(const Question& question, const Experiment& base, Trials&) {
  std::vector<std::string> hops;
  for (const spec::Traffic& traffic : question.told.traffic) hops.push_back(hop_words(traffic));
  const std::string first = hops.empty() ? "" : hops.front();
  Named made{.without = without_traffic(base)};
  made.cause.where = first;
  made.cause.words = hops.size() > 1
                         ? fmt::format("cross traffic from {} and {} more", first, hops.size() - 1)
                         : fmt::format("cross traffic from {}", first);
  made.cause.if_not = "Without it";
  return made;
}

Named other_job(const Question& question, const Experiment& base, Trials&) {
  std::vector<std::string> others;
  for (std::size_t i = 0; i < question.told.jobs.size(); ++i) {
    if (i != question.job) others.push_back(*question.told.jobs[i].name);
  }
  Named made{.without = alone(base, question.job)};
  made.cause.where = fmt::format("{}", fmt::join(others, ", "));
  made.cause.words =
      fmt::format("links shared with {} {}", others.size() == 1 ? "job" : "jobs", made.cause.where);
  made.cause.if_not = "Alone";
  return made;
}

Named late_rank(const Question& question, const Experiment& base, Trials&) {
  const spec::Job& job = question.told.jobs.at(question.job);
  Named made{.without = without_late_ranks(base, question.job)};
  if (*job.straggler && *job.straggler_factor > 1) {
    made.cause.where = **job.straggler;
    made.cause.words =
        fmt::format("{} computes {} longer than the others", **job.straggler,
                    time_words((*job.straggler_factor - 1) * question.chain.part("compute")));
    made.cause.if_not = "If it were as fast as they are";
  } else {
    made.cause.words = fmt::format("computing times vary by {:.3g} %, and all wait for the last",
                                   100 * *job.compute_jitter);
    made.cause.if_not = "If they did not";
  }
  return made;
}

/// In the scale of what the user wrote.
BitRate told_rate(BitRate here, const Question& question, const Experiment& base) {
  return here * (*question.told.network.link.rate / *base.network.link.rate);
}

Named slow_link(const Question& question, const Experiment& base, Trials&) {
  Named made{.without = without_slow_links(base, question.job)};
  const std::vector<SlowLink> slow = slow_links(base, question.job);
  const auto told = [&](BitRate rate) { return readable(told_rate(rate, question, base)); };
  if (!slow.empty()) {
    const SlowLink& worst = slow.front();
    const bool is_core = spec::is_core_link(base.network, worst.link);
    made.cause.where = place_name(worst.link, worst.direction);
    made.cause.words = fmt::format("{}, {} where its peers have {}",
                                   place_words(worst.link, worst.direction, is_core),
                                   told(worst.rate), told(worst.peers));
    if (slow.size() == 2) {
      const SlowLink& next = slow.back();
      const bool is_in_core = spec::is_core_link(base.network, next.link);
      made.cause.words += fmt::format(
          ", and {}, {}", place_words(next.link, next.direction, is_in_core), told(next.rate));
    } else if (slow.size() > 2) {
      made.cause.words += fmt::format(", and {} more that are slow", slow.size() - 1);
    }
    const bool are_alike = std::all_of(
        slow.begin(), slow.end(), [&](const SlowLink& link) { return link.peers == worst.peers; });
    made.cause.if_not =
        are_alike ? fmt::format("At {}", told(worst.peers)) : "At their peers' rates";
  } else if (const auto core = narrow_core(base, question.job)) {
    const bool is_one = *base.network.topology == spec::Topology::Dumbbell;
    made.cause.where = "core";
    made.cause.words = fmt::format("{}, {} where hosts have {}",
                                   is_one ? "the core link" : "links between switches",
                                   told(core->rate), told(*base.network.link.rate));
    made.cause.if_not = fmt::format("With {} there", told(core->needed));
  }
  return made;
}

Named window(const Question& question, const Experiment& base, Trials&) {
  Named made{.without = without_window(base)};
  const auto buffer = *question.told.network.socket_buffer;
  made.cause.words = fmt::format("a socket buffer of {}", readable(buffer.value_or(Bytes())));
  made.cause.if_not = "With buffers of the kernel's own choice";
  return made;
}

Named idle_restart(const Question&, const Experiment& base, Trials&) {
  Named made{.without = base, .manner = Manner::AtOnce};
  made.cause.words = "slow start after every pause";
  made.cause.if_not = "If TCP kept its rate (net.ipv4.tcp_slow_start_after_idle = 0)";
  return made;
}

/// A link whose own delay is half of what delay costs, or more. Takes a trial where one has its own.
std::optional<Named> far_link(const Question& question, const Experiment& base, Trials& trials) {
  const auto far = farthest(question.told, question.job);
  if (!far) return {};
  Named made{.without = without_own_delay(base, far->link)};
  const auto trial = trials.of(made.without, question.job, made.manner);
  const double saved_s = trial ? question.chain.step_s - trial->step_s : 0;
  if (saved_s < 0.5 * question.chain.part("latency")) return {};
  const bool is_core = spec::is_core_link(base.network, far->link);
  made.cause.where = far->direction ? place_name(far->link, *far->direction) : far->link;
  made.cause.words = fmt::format("delay, {} on {} where its peers have {}", readable(far->delay),
                                 far->direction ? place_words(far->link, *far->direction, is_core)
                                                : fmt::format("{}'s link", far->link),
                                 readable(far->others));
  made.cause.if_not = fmt::format("With {} there", readable(far->others));
  return made;
}

Named latency(const Question& question, const Experiment& base, Trials& trials) {
  if (auto far = far_link(question, base, trials)) return std::move(*far);
  const spec::Network& told = question.told.network;
  Named made{.without = with_delays(base, 0.5)};
  const bool is_alike =
      *told.topology == spec::Topology::Star || *told.core_delay == *told.link.delay;
  made.cause.words = is_alike ? fmt::format("delay, {} on each link", readable(*told.link.delay))
                              : fmt::format("delay, {} on hosts' links and {} between switches",
                                            readable(*told.link.delay), readable(*told.core_delay));
  made.cause.if_not = "With half of it";
  return made;
}

/// The port that is busy longest where links are alike; nothing where more than a third of the hosts
/// have one that is as busy.
std::optional<network::Port> busiest(const Question& question, Trials& trials) {
  Experiment steps_only = question.chain.only_rates;
  steps_only.jobs.front().broadcast.value = false;
  const auto trial = trials.of(steps_only, 0, Manner::AtOnce);
  if (!trial) return {};
  const std::vector<double>& busy = trial->port_busy_s;
  const auto most = std::max_element(busy.begin(), busy.end());
  const auto alike =
      std::count_if(busy.begin(), busy.end(), [&](double each) { return each >= 0.9 * *most; });
  const auto hosts = std::ssize(hosts_of(steps_only, 0));
  if (most == busy.end() || hosts < 3 || 3 * alike > 2 * hosts) return {};
  return network::Network(steps_only.network).port(static_cast<int>(most - busy.begin()));
}

Named bandwidth(const Question& question, const Experiment& base, Trials& trials) {
  Named made{.without = with_rates(base, 2)};
  const BitRate rate = *question.told.network.link.rate;
  if (const auto port = busiest(question, trials)) {
    const bool is_core = spec::is_core_link(base.network, port->link);
    made.cause.where = place_name(port->link, port->direction);
    made.cause.words = fmt::format("{}, {}", place_words(port->link, port->direction, is_core),
                                   readable(told_rate(port->rate, question, base)));
  } else {
    made.cause.words = fmt::format("transfer over links of {}", readable(rate));
  }
  made.cause.if_not = fmt::format("At {}", readable(rate * 2));
  return made;
}

Named compute(const Question&, const Experiment& base, Trials&) {
  Named made{.without = without_rates(without_delay(base)), .manner = Manner::AtOnce};
  made.cause.if_not = "On a network without limits";
  return made;
}

/// What a step would take as it was measured, given the simulated one.
void take_step(const std::string& cause, const Question& question, double simulated_s,
               Cause& into) {
  const Stretch& stretch = question.stretch;
  const bool is_late = cause == "late_rank";
  const double late_s = is_late ? question.chain.part("late_rank") : 0;
  const double network_s = std::max(0.0, simulated_s - stretch.simulated_timers_s + late_s);
  const bool is_free = cause == "compute";
  const double uncertain_s =
      is_free ? 0
              : std::min(network_s, question.chain.uncertain_s() -
                                        (is_uncertain(cause) ? question.chain.part(cause) : 0));
  const double certain_s = network_s - uncertain_s;
  const double others_s = is_free || cause == stretch.added_to ? 0 : stretch.added_s;
  into.step_s = stretch.timers_s - late_s + stretch.factor * certain_s +
                stretch.uncertain_factor * uncertain_s + others_s +
                std::max(0.0, stretch.unexplained_s);
  const double half_s =
      stretch.error * stretch.factor * certain_s +
      stretch.uncertain_error * (stretch.uncertain_factor * uncertain_s + others_s);
  into.low_s = into.step_s - half_s;
  into.high_s = into.step_s + half_s;
}

using Naming = Named (*)(const Question&, const Experiment&, Trials&);

Naming naming_of(const std::string& cause) {
  static const std::map<std::string, Naming> all = {
      {"loss", loss},           {"cross_traffic", cross_traffic}, {"other_job", other_job},
      {"late_rank", late_rank}, {"slow_link", slow_link},         {"window", window},
      {"latency", latency},     {"idle_restart", idle_restart},   {"bandwidth", bandwidth},
      {"compute", compute}};
  const auto found = all.find(cause);
  return found == all.end() ? nullptr : found->second;
}

}  // namespace

Cause cause_of(const std::string& cause, const Question& question, Trials& trials) {
  const Naming naming = naming_of(cause);
  if (naming == nullptr) return {};
  Named named = naming(question, trials.experiment(), trials);
  const bool is_alone = named.without.jobs.size() < trials.experiment().jobs.size();
  const auto trial = trials.of(named.without, is_alone ? 0 : question.job, named.manner);
  if (!trial) {
    named.cause.if_not.clear();
    return named.cause;
  }
  take_step(cause, question, trial->step_s, named.cause);
  return named.cause;
}

}  // namespace tw::account
