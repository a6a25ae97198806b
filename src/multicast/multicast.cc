// SPDX-License-Identifier: Apache-2.0
#include "trainwire/multicast/multicast.h"

#include "trainwire/base/error.h"
#include "trainwire/base/random.h"
#include "trainwire/os/clock.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tw::multicast {
namespace {

/// Until then, rounded up; -1: for ever.
timespec until(group::Time due, group::Time now) {
  const std::int64_t ns = std::max<group::Time>(0, due - now) / 1000 + 1;
  return {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
}

/// False when the first of them says that it is over.
bool wait(std::vector<pollfd>& waits, group::Time due, group::Time now) {
  const timespec patience = until(due, now);
  ::ppoll(waits.data(), waits.size(), due == group::kNever ? nullptr : &patience, nullptr);
  return waits.front().revents == 0;
}

}  // namespace

Tag tag_of(const Options& options, int group) {
  return Random(options.secret, fmt::format("group {} of job {}", group, options.job)).next();
}

Multicast::Multicast(const Options& options, std::vector<Seat> seats)
    : begin_ns_(os::monotonic_ns()), wake_(os::make_pipe()) {
  for (Seat& seat : seats) {
    const bool is_hub = seat.place == Seat::kHub;
    places_.push_back({.is_hub = is_hub, .number = is_hub ? sending_.size() : receiving_.size()});
    if (is_hub) {
      sending_.push_back(std::make_unique<Sending>(options, std::move(seat), wake_.read.get()));
    } else {
      receiving_.push_back(std::make_unique<Receiving>(options, std::move(seat)));
    }
  }
  if (!sending_.empty()) sender_ = std::thread([this] { send_all(); });
  if (!receiving_.empty()) receiver_ = std::thread([this] { receive_all(); });
}

Multicast::~Multicast() { stop(); }

void Multicast::stop() {
  wake_.write = {};  // both threads see the end of the pipe
  if (sender_.joinable()) sender_.join();
  if (receiver_.joinable()) receiver_.join();
}

std::vector<Count> Multicast::counts() const {
  check(!sender_.joinable() && !receiver_.joinable(), "counts are told when nothing goes on");
  std::vector<Count> all;
  for (const Place& place : places_) {
    all.push_back(place.is_hub ? sending_[place.number]->count()
                               : receiving_[place.number]->count());
  }
  return all;
}

group::Time Multicast::now() const { return 1000 * (os::monotonic_ns() - begin_ns_); }

void Multicast::send_all() {
  std::vector<pollfd> waits;
  group::Time due = group::kNever;
  do {
    waits.assign({{.fd = wake_.read.get(), .events = POLLIN, .revents = 0}});
    due = group::kNever;
    for (const auto& one : sending_) {
      one->attend(now());
      one->wait_for(waits);
      due = std::min(due, one->due());
    }
  } while (wait(waits, due, now()));
}

void Multicast::receive_all() {
  std::vector<pollfd> waits;
  do {
    waits.assign({{.fd = wake_.read.get(), .events = POLLIN, .revents = 0}});
    for (const auto& one : receiving_) {
      one->attend(now());
      one->wait_for(waits);
    }
  } while (wait(waits, group::kNever, 0));
}

}  // namespace tw::multicast
