// SPDX-License-Identifier: Apache-2.0
// What a simulation's players send, and what they are told of it.

#include "trainwire/sim/simulation.h"

#include <utility>

namespace tw::sim {
namespace {

using What = HeldEvent::What;

}  // namespace

void Simulation::send(std::size_t job, const play::Message& message) {
  if (is_held(job, message.transfer.from)) {
    return held_.hold({.what = What::Send, .job = job, .message = message});
  }
  if (send_in_group(job, message)) return;
  const Connected& over = connections_.of(job, message, now_);
  const medium::Tag tag = note(job, message, over);
  medium_->send(over.number, message.bytes(), tag, now_);
}

void Simulation::send_on(std::size_t job, const play::Message& message,
                         std::span<const medium::Tag> behind) {
  std::vector<medium::Tag> coming;
  if (!faults_.empty()) coming.assign(behind.begin(), behind.end());
  if (is_held(job, message.transfer.from)) {
    return held_.hold({.what = What::Send, .job = job, .message = message, .behind = coming});
  }
  if (held_.have_come()) {
    std::erase_if(coming, [this](medium::Tag tag) { return held_.has_come(tag); });
    behind = coming;
  }
  // What is passed on as it comes goes from rank to rank; only first models begin so.
  if (behind.empty() && send_in_group(job, message)) return;
  const Connected& over = connections_.of(job, message, now_);
  const medium::Tag tag = note(job, message, over);
  medium_->send_on(over.number, message.bytes(), tag, behind, now_);
}

/// False: it travels alone.
bool Simulation::send_in_group(std::size_t job, const play::Message& message) {
  const std::optional<GroupPlace> place = groups_.of(job, message);
  if (!place) return false;
  const medium::Tag tag = note(job, message, connections_.counted(job, message));
  medium_->send_in_group(place->group, place->member, message.bytes(), tag, now_);
  return true;
}

/// Of a message that is sent now.
medium::Tag Simulation::note(std::size_t job, const play::Message& message, const Connected& over) {
  ++result_.messages;
  *over.bytes += message.bytes();
  if (message.kind == play::Kind::Gradient) {
    *over.gradients += message.bytes();
    exchanges_.begin(job, message.transfer.from, message.step, now_);
    if (!cross_.empty()) pair_of(job, message).begin(message.bytes(), now_);
  }
  return travelling_.add({.job = job, .message = message});
}

PairSending& Simulation::pair_of(std::size_t job, const play::Message& message) {
  return result_.pairs[{connections_.host_of(job, message.transfer.from),
                        connections_.host_of(job, message.transfer.to)}];
}

void Simulation::left(medium::Tag tag, Duration now) {
  now_ = now;
  if ((tag & kCrossTag) != 0) return cross_.left(tag, now);
  notice_left(JobMessage(travelling_.at(tag)));
}

void Simulation::began(medium::Tag tag, Duration now) {
  now_ = now;
  notice_began(tag);
}

void Simulation::came(medium::Tag tag, Duration now) {
  now_ = now;
  if ((tag & kCrossTag) != 0) return cross_.came(tag, now);
  const JobMessage& about = travelling_.at(tag);
  if (!cross_.empty() && about.message.kind == play::Kind::Gradient) {
    pair_of(about.job, about.message).end(now);
  }
  notice_came(tag);
}

void Simulation::notice_left(const JobMessage& about) {
  if (is_held(about.job, about.message.transfer.from)) {
    return held_.hold({.what = What::Left, .job = about.job, .message = about.message});
  }
  progress_ = now_;
  players_[about.job]->left(about.message, now_);
}

void Simulation::notice_began(medium::Tag tag) {
  const JobMessage about = travelling_.at(tag);
  if (is_held(about.job, about.message.transfer.to)) {
    return held_.hold(
        {.what = What::Began, .job = about.job, .message = about.message, .tag = tag});
  }
  players_[about.job]->began(about.message, tag, now_);
}

void Simulation::notice_came(medium::Tag tag) {
  const JobMessage about = travelling_.at(tag);
  if (is_held(about.job, about.message.transfer.to)) {
    return held_.hold({.what = What::Came, .job = about.job, .message = about.message, .tag = tag});
  }
  progress_ = now_;
  travelling_.forget(tag);
  players_[about.job]->came(about.message, now_);
}

void Simulation::notice_time(std::size_t job, int rank) {
  if (is_held(job, rank)) return held_.hold({.what = What::Woke, .job = job, .rank = rank});
  progress_ = now_;
  players_[job]->woke(rank, now_);
}

bool Simulation::is_held(std::size_t job, int rank) const {
  return !faults_.empty() && faults_.is_stopped({job, rank});
}

/// A rank goes on.
void Simulation::release(const JobRank& rank) {
  for (const HeldEvent& event : held_.release(rank)) happen(event);
}

/// Held anew where a rank is stopped again.
void Simulation::happen(const HeldEvent& event) {
  switch (event.what) {
    case What::Send:
      return event.behind.empty() ? send(event.job, event.message)
                                  : send_on(event.job, event.message, event.behind);
    case What::Came:
      held_.notice_came(event.tag);
      return notice_came(event.tag);
    case What::Left:
      return notice_left({.job = event.job, .message = event.message});
    case What::Woke:
      return notice_time(event.job, event.rank);
    case What::Began:
      return notice_began(event.tag);
  }
}

}  // namespace tw::sim
