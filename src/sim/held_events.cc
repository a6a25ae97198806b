// SPDX-License-Identifier: Apache-2.0
#include "trainwire/sim/held_events.h"

#include <algorithm>
#include <utility>

namespace tw::sim {

int HeldEvent::of_rank() const {
  if (what == What::Woke) return rank;
  return what == What::Send || what == What::Left ? message.transfer.from : message.transfer.to;
}

void HeldEvents::hold(HeldEvent event) {
  if (event.what == HeldEvent::What::Came) come_.insert(event.tag);
  events_[{event.job, event.of_rank()}].push_back(std::move(event));
}

std::vector<HeldEvent> HeldEvents::release(const JobRank& rank) {
  const auto found = events_.find(rank);
  if (found == events_.end()) return {};
  std::vector<HeldEvent> events = std::move(found->second);
  events_.erase(found);
  std::stable_sort(events.begin(), events.end(),
                   [](const HeldEvent& a, const HeldEvent& b) { return a.what < b.what; });
  std::set<medium::Tag> come;
  for (const HeldEvent& event : events) {
    if (event.what == HeldEvent::What::Came) come.insert(event.tag);
  }
  std::erase_if(events, [&](const HeldEvent& event) {
    return event.what == HeldEvent::What::Began && come.contains(event.tag);
  });
  return events;
}

}  // namespace tw::sim
