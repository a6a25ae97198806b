// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fluid/sharing.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tw::fluid {
namespace {

/// Of a capacity: less is no room.
constexpr double kFull = 1e-9;
constexpr double kCancelled = 1e-3;
/// With no more links all are looked at instead of being kept in order.
constexpr std::size_t kFewLinks = 64;
constexpr double kSameLevel = 1e-11;  ///< of a level: less is rounding

#ifdef NDEBUG
constexpr bool kChecks = false;
#else
constexpr bool kChecks = true;  ///< every solution has its certificate
#endif

bool is_near(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(std::abs(a), std::abs(b));
}

}  // namespace

Sharing::Sharing(std::vector<double> capacities) : links_(capacities.size()) {
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    check(capacities[i] >= 0, "links carry something or nothing");
    links_[i].capacity = capacities[i];
  }
}

int Sharing::add(std::span<const int> links, double weight, double cap) {
  check(weight > 0 && cap >= 0, "a flow has a weight, and a cap that is no debt");
  if (free_.empty()) {
    free_.push_back(static_cast<int>(flows_.size()));
    flows_.emplace_back();
  }
  const int number = free_.back();
  free_.pop_back();
  Flow& flow = flows_[at(number)];
  flow = {.weight = weight, .cap = cap, .present = true};
  for (const int link : links) {
    flow.links.push_back({.link = link, .place = static_cast<int>(links_[at(link)].flows.size())});
    links_[at(link)].flows.push_back(number);
  }
  touch(number);
  return number;
}

void Sharing::remove(int number) {
  Flow& flow = flows_[at(number)];
  check(flow.present, "a flow is removed once");
  for (const Crossing& crossing : flow.links) {
    auto& others = links_[at(crossing.link)].flows;
    const int last = others.back();
    others[at(crossing.place)] = last;
    others.pop_back();
    for (Crossing& moved : flows_[at(last)].links) {
      if (moved.link == crossing.link) moved.place = crossing.place;
    }
    touch_link(crossing.link);
  }
  flow.links.clear();
  flow.present = false;
  free_.push_back(number);
}

void Sharing::set_cap(int flow, double cap) {
  check(cap >= 0, "a cap is no debt");
  flows_[at(flow)].cap = cap;
  touch(flow);
}

void Sharing::set_weight(int flow, double weight) {
  check(weight > 0, "a flow has a weight");
  flows_[at(flow)].weight = weight;
  touch(flow);
}

void Sharing::set_capacity(int link, double capacity) {
  check(capacity >= 0, "links carry something or nothing");
  links_[at(link)].capacity = capacity;
  touch_link(link);
}

void Sharing::touch(int flow) { touched_flows_.push_back(flow); }
void Sharing::touch_link(int link) { touched_links_.push_back(link); }

void Sharing::look_at_own_links(Flow& flow) const {
  flow.alone = kNoCap;
  for (const Crossing& crossing : flow.links) {
    const Link& link = links_[at(crossing.link)];
    if (link.flows.size() != 1) continue;
    flow.alone = std::min(flow.alone, link.capacity / std::max(flow.weight, 1e-300));
  }
}

/// What others do not touch of a flow's links: those that it has for itself.
void Sharing::settle_own_links(const Flow& flow) {
  for (const Crossing& crossing : flow.links) {
    Link& link = links_[at(crossing.link)];
    if (link.flows.size() != 1) continue;
    link.is_full = link.capacity - flow.rate <= kFull * link.capacity;
    link.highest = flow.level();
  }
}

/// A flow that shares no link has what its narrowest one carries, and is nobody's concern. False:
/// it does share one, or has none.
bool Sharing::settle_alone(int number) {
  Flow& flow = flows_[at(number)];
  if (!flow.present) return true;
  const bool shares = std::any_of(
      flow.links.begin(), flow.links.end(),
      [this](const Crossing& crossing) { return links_[at(crossing.link)].flows.size() != 1; });
  if (shares || flow.links.empty()) return false;
  look_at_own_links(flow);
  flow.fixed = true;
  if (flow.rate_at_most() != flow.rate) changed_.push_back(number);
  flow.rate = flow.rate_at_most();
  settle_own_links(flow);
  return true;
}

/// The same for a link that one such flow is left on, or none.
bool Sharing::settle_link(int number) {
  Link& link = links_[at(number)];
  if (!link.flows.empty()) return link.flows.size() == 1 && settle_alone(link.flows.front());
  link.is_full = link.capacity <= kFull * link.capacity;
  link.highest = 0;
  return true;
}

void Sharing::reach_flow(int number) {
  Flow& flow = flows_[at(number)];
  if (!flow.present || std::exchange(flow.affected, true)) return;
  solved_flows_.push_back(number);
  before_.push_back(flow.rate);
}

/// Links that a flow has for itself hold it back like a cap: they are no part of a solution.
void Sharing::reach_link(int number) {
  Link& link = links_[at(number)];
  if (link.filling >= 0 || link.flows.size() == 1) return;
  link.filling = static_cast<int>(fillings_.size());
  link.was_full = link.is_full;
  fillings_.push_back({.link = number});
}

/// Flows that a full link holds may have another rate when anything on it changes; those on a link
/// with room are none the wiser.
void Sharing::reach_flows_on(int number) {
  if (!links_[at(number)].is_full) return;
  for (const int flow : links_[at(number)].flows) reach_flow(flow);
}

void Sharing::reach_touched(int number) {
  Link& link = links_[at(number)];
  if (link.flows.size() != 1) return reach_link(number);
  const Flow& flow = flows_[at(link.flows.front())];
  const bool is_narrower = link.capacity - flow.rate < -kFull * link.capacity;
  if (link.is_full || is_narrower) reach_flow(link.flows.front());
  link.highest = flow.level();
}

/// To the links of the flows that were reached since `first`.
void Sharing::spread(std::size_t first) {
  for (std::size_t i = first; i < solved_flows_.size(); ++i) {
    for (const Crossing& crossing : flows_[at(solved_flows_[i])].links) reach_link(crossing.link);
  }
}

/// Which links are full, and how high flows are on them.
void Sharing::look_at_links() {
  for (const int number : solved_flows_) settle_own_links(flows_[at(number)]);
  for (const Filling& filling : fillings_) {
    Link& link = links_[at(filling.link)];
    link.is_full = filling.left <= kFull * link.capacity;
    link.highest = 0;
    for (const int flow : link.flows) {
      link.highest = std::max(link.highest, flows_[at(flow)].level());
    }
  }
}

/// Whether it has its certificate.
bool Sharing::is_held(const Flow& flow) const {
  if (flow.rate >= flow.cap) return true;
  const double level = flow.level() * (1 + kSameLevel);
  return std::any_of(flow.links.begin(), flow.links.end(), [&](const Crossing& crossing) {
    const Link& link = links_[at(crossing.link)];
    return link.is_full && link.highest <= level;
  });
}

/// Those who have more than a flow that nothing holds but them.
void Sharing::reach_higher(const Flow& flow) {
  const double level = flow.level();
  for (const Crossing& crossing : flow.links) {
    const Link& link = links_[at(crossing.link)];
    if (!link.is_full) continue;
    for (const int number : link.flows) {
      if (flows_[at(number)].level() > level) reach_flow(number);
    }
  }
}

/// Whether flows are to be solved for that were not: who has lost its certificate, who has more than
/// is right, or is on a link that carries too much. They are reached.
bool Sharing::reach_wronged() {
  look_at_links();
  const std::size_t first = solved_flows_.size();
  for (std::size_t i = 0; i < first; ++i) {
    const Flow& flow = flows_[at(solved_flows_[i])];
    if (!is_held(flow)) reach_higher(flow);
  }
  for (const Filling& filling : fillings_) {
    const Link& link = links_[at(filling.link)];
    const bool is_overfull = filling.left < -kFull * link.capacity;
    if (!link.was_full && !is_overfull) continue;  // it has held nobody
    for (const int each : link.flows) {
      const Flow& flow = flows_[at(each)];
      if (!flow.affected && (is_overfull || !is_held(flow))) reach_flow(each);
    }
  }
  spread(first);
  return solved_flows_.size() > first;
}

void Sharing::push(int number) {
  Filling& filling = fillings_[at(number)];
  ++filling.version;
  if (filling.open == 0) return;
  heap_.push_back({.level = filling.level(), .number = number, .version = filling.version});
  std::push_heap(heap_.begin(), heap_.end(),
                 [](const Level& a, const Level& b) { return a.level > b.level; });
}

void Sharing::fix(int number, double rate) {
  Flow& flow = flows_[at(number)];
  flow.fixed = true;
  flow.rate = rate;
  for (const Crossing& crossing : flow.links) {
    if (links_[at(crossing.link)].filling < 0) continue;
    Filling& filling = fillings_[at(links_[at(crossing.link)].filling)];
    filling.left -= rate;
    filling.weight -= flow.weight;
    --filling.open;
    if (filling.open > 0 && filling.weight < kCancelled * filling.summed) weigh(filling);
  }
}

/// Sums up anew what flows that have nothing yet weigh: beside a heavy one that is taken away the
/// others' weights would be lost in rounding.
void Sharing::weigh(Filling& filling) const {
  filling.weight = 0;
  for (const int number : links_[at(filling.link)].flows) {
    if (!flows_[at(number)].fixed) filling.weight += flows_[at(number)].weight;
  }
  filling.summed = filling.weight;
}

/// What links have for the flows that are to be solved for.
void Sharing::prepare() {
  for (const int number : solved_flows_) {
    flows_[at(number)].fixed = false;
    look_at_own_links(flows_[at(number)]);
  }
  for (Filling& filling : fillings_) {
    const Link& link = links_[at(filling.link)];
    filling.left = link.capacity;
    filling.weight = 0;
    filling.open = 0;
    for (const int each : link.flows) {
      const Flow& flow = flows_[at(each)];
      if (flow.fixed) {
        filling.left -= flow.rate;
      } else {
        filling.weight += flow.weight;
        ++filling.open;
      }
    }
    filling.summed = filling.weight;
  }
  for (const int number : solved_flows_) {
    const Flow& flow = flows_[at(number)];
    if (flow.links.empty()) fix(number, flow.cap);
  }
}

/// Water rises in all flows alike until a link is full or a flow at its cap, which then stay.
void Sharing::fill() {
  prepare();
  fillings_.size() <= kFewLinks ? fill_few() : fill_many();
}

/// Looks at all links each time.
void Sharing::fill_few() {
  while (true) {
    double level = kNoCap;
    const Filling* full = nullptr;
    for (const Filling& filling : fillings_) {
      if (filling.open == 0 || filling.level() >= level) continue;
      level = filling.level();
      full = &filling;
    }
    int held = -1;
    for (const int number : solved_flows_) {
      const Flow& flow = flows_[at(number)];
      if (flow.fixed || flow.most() == kNoCap || flow.most() > level) continue;
      level = flow.most();
      held = number;
    }
    if (held >= 0) {
      fix(held, flows_[at(held)].rate_at_most());
      continue;
    }
    if (full == nullptr) return;
    for (const int flow : links_[at(full->link)].flows) {
      if (!flows_[at(flow)].fixed) fix(flow, level * flows_[at(flow)].weight);
    }
  }
}

/// Keeps links in a heap.
void Sharing::fill_many() {
  heap_.clear();
  for (std::size_t i = 0; i < fillings_.size(); ++i) push(static_cast<int>(i));
  std::vector<Level> caps;
  for (const int number : solved_flows_) {
    const Flow& flow = flows_[at(number)];
    if (flow.most() != kNoCap && !flow.fixed) {
      caps.push_back({.level = flow.most(), .number = number});
    }
  }
  std::sort(caps.begin(), caps.end(),
            [](const Level& a, const Level& b) { return a.level < b.level; });
  const auto later = [](const Level& a, const Level& b) { return a.level > b.level; };
  const auto fix_and_push = [&](int number, double rate) {
    fix(number, rate);
    for (const Crossing& crossing : flows_[at(number)].links) {
      const int filling = links_[at(crossing.link)].filling;
      if (filling >= 0) push(filling);
    }
  };
  std::size_t next_cap = 0;
  while (true) {
    while (next_cap < caps.size() && flows_[at(caps[next_cap].number)].fixed) ++next_cap;
    while (!heap_.empty() && heap_.front().version != fillings_[at(heap_.front().number)].version) {
      std::pop_heap(heap_.begin(), heap_.end(), later);
      heap_.pop_back();
    }
    const bool is_any_open = !heap_.empty();
    if (next_cap < caps.size() && (!is_any_open || caps[next_cap].level <= heap_.front().level)) {
      const int number = caps[next_cap++].number;
      fix_and_push(number, flows_[at(number)].rate_at_most());
      continue;
    }
    if (!is_any_open) return;
    const Level full = heap_.front();
    for (const int flow : links_[at(fillings_[at(full.number)].link)].flows) {
      if (!flows_[at(flow)].fixed) fix_and_push(flow, full.level * flows_[at(flow)].weight);
    }
  }
}

std::span<const int> Sharing::solve() {
  changed_.clear();
  if (touched_flows_.empty() && touched_links_.empty()) return changed_;
  solved_flows_.clear();
  fillings_.clear();
  before_.clear();
  std::erase_if(touched_flows_, [this](int flow) { return settle_alone(flow); });
  std::erase_if(touched_links_, [this](int link) { return settle_link(link); });
  for (const int flow : touched_flows_) reach_flow(flow);
  spread(0);
  const std::size_t spread_already = solved_flows_.size();
  for (const int link : touched_links_) reach_touched(link);
  for (const Filling& filling : fillings_) reach_flows_on(filling.link);
  touched_flows_.clear();
  touched_links_.clear();
  spread(spread_already);
  do {
    fill();
  } while (reach_wronged());
  finish();
  return changed_;
}

/// What has changed is noted.
void Sharing::finish() {
  for (std::size_t i = 0; i < solved_flows_.size(); ++i) {
    Flow& flow = flows_[at(solved_flows_[i])];
    flow.affected = false;
    if (flow.rate != before_[i]) changed_.push_back(solved_flows_[i]);
  }
  for (const Filling& filling : fillings_) links_[at(filling.link)].filling = -1;
  if constexpr (kChecks) check(certified(1e-6), "rates are max-min");
}

std::vector<int> Sharing::links(int flow) const {
  std::vector<int> links;
  for (const Crossing& crossing : flows_[at(flow)].links) links.push_back(crossing.link);
  return links;
}

double Sharing::carried(int link) const {
  double sum = 0;
  for (const int flow : links_[at(link)].flows) sum += flows_[at(flow)].rate;
  return sum;
}

bool Sharing::certified(double tolerance) const {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    if (carried(static_cast<int>(i)) > links_[i].capacity * (1 + tolerance)) return false;
  }
  const auto is_held = [&](const Flow& flow, const Crossing& crossing) {
    const Link& link = links_[at(crossing.link)];
    if (!is_near(carried(crossing.link), link.capacity, tolerance) && link.capacity > 0)
      return false;
    return std::all_of(link.flows.begin(), link.flows.end(), [&](int other) {
      const Flow& beside = flows_[at(other)];
      return beside.rate / beside.weight <= flow.rate / flow.weight * (1 + tolerance) + 1e-300;
    });
  };
  return std::all_of(flows_.begin(), flows_.end(), [&](const Flow& flow) {
    if (!flow.present || flow.rate == flow.cap) return true;
    if (flow.rate > flow.cap) return false;
    return std::any_of(flow.links.begin(), flow.links.end(),
                       [&](const Crossing& crossing) { return is_held(flow, crossing); });
  });
}

}  // namespace tw::fluid
