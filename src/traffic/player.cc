// SPDX-License-Identifier: Apache-2.0
#include "trainwire/traffic/player.h"

#include "trainwire/base/error.h"
#include "trainwire/os/clock.h"
#include "trainwire/os/errno_error.h"
#include "trainwire/traffic/sockets.h"
#include "trainwire/transport/tcp/socket.h"

#include <fmt/format.h>
#include <sys/epoll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>

namespace tw::traffic {
namespace {

using spec::TrafficKind;

constexpr int kEvents = 64;
/// Sleeping ends late by tens of microseconds; what is nearer than this is waited for awake.
constexpr std::int64_t kSpinNs = 60'000;
/// Connections for each destination and thread before the first flow.
constexpr std::size_t kOpenedInAdvance = 16;
/// Starts, and then writes, in one round, so that neither keeps the other waiting; more writes when
/// no flow is due.
constexpr int kTurns = 8;
constexpr int kMostTurns = 64;
/// Handshakes under way at a time, so that threads do not overfill the queue of a sink that
/// accepts.
constexpr std::size_t kMostConnecting = 256;
constexpr std::int64_t kStuckNs = 1'000'000;
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();

}  // namespace

Player::Player(const PlayOrders& orders, StopSignal& stop, Share share)
    : orders_(orders),
      stop_(stop),
      share_(share),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      idle_(orders.destinations.size()) {
  if (!epoll_.is_open()) throw os::errno_error("waiting for connections", errno);
  epoll_event event{.events = EPOLLIN, .data = {.ptr = nullptr}};
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, stop_.descriptor(), &event);
}

void Player::connect() {
  const bool is_long = orders_.task.kind == TrafficKind::Long;
  if (!is_long && !orders_.task.reuse) return;
  std::size_t count = kOpenedInAdvance;
  if (is_long) {
    const auto flows = static_cast<std::size_t>(orders_.task.flows);
    count = flows / share_.of + (share_.index < flows % share_.of ? 1 : 0);
  }
  for (std::size_t to = 0; to < idle_.size(); ++to) {
    std::vector<Line*> opened;
    for (std::size_t i = 0; i < count; ++i) opened.push_back(&open(to));
    for (Line* const line : opened) {
      wait_connected(line->socket(), orders_.destinations[to].endpoint);
      line->connected();
      --connecting_;
      line->greet(orders_.task.token, tally_);
      idle_[to].push_back(line);
    }
  }
}

Line& Player::open(std::size_t destination) {
  auto line =
      std::make_unique<Line>(open_line(orders_.destinations[destination].endpoint,
                                       orders_.task.address, orders_.task.congestion_control),
                             destination, Line::State::Connecting);
  Line& added = *line;
  lines_.emplace(&added, std::move(line));
  ++tally_.connections;
  ++connecting_;
  watch(added);
  return added;
}

void Player::watch(Line& line) {
  epoll_event event{.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data = {.ptr = &line}};
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, line.descriptor(), &event) != 0) {
    throw os::errno_error("watching a connection", errno);
  }
}

void Player::play(std::int64_t begin_ns) {
  // Timers of this thread are exact instead of late by up to 50 us.
  ::prctl(PR_SET_TIMERSLACK, 1);
  begin_ns_ = begin_ns;
  try {
    loop();
  } catch (const std::exception& error) {
    stop_.fail(error.what());
  }
  // Also after a failure: what was counted is not lost.
  try {
    conclude();
  } catch (const std::exception& error) {
    stop_.fail(error.what());
  }
}

void Player::loop() {
  if (orders_.task.kind != TrafficKind::Long) {
    check(feed_.has_value(), "a player has flows to play");
    next_ = feed_->next();
  }
  bool long_started = false;
  while (!is_over()) {
    const std::int64_t now = os::monotonic_ns();
    if (orders_.task.kind == TrafficKind::Long && !long_started && now >= begin_ns_) {
      long_started = true;
      start_long();
    }
    if (orders_.task.duration && !settled_ && now >= begin_ns_ + orders_.task.duration->count()) {
      settle(begin_ns_ + orders_.task.duration->count());
      if (!orders_.drain || is_over()) return;
    }
    launch_due(now);
    pace(now);
    serve_queue();
    wait(now);
  }
}

bool Player::is_over() const {
  if (stop_.is_raised()) return true;
  if (orders_.task.kind == TrafficKind::Long) return settled_;
  if (orders_.task.duration && !settled_) return false;
  return !next_ && busy_ == 0;
}

bool Player::is_due(std::int64_t now) const {
  return next_ && begin_ns_ + next_->flow.start.count() <= now;
}

void Player::launch_due(std::int64_t now) {
  for (int i = 0; i < kTurns && is_due(now) && !stop_.is_raised(); ++i) {
    const std::size_t to = destination_of(next_->flow);
    // A connection that has just fallen idle is better than a new one.
    if (idle_[to].empty()) take_events(0);
    if (idle_[to].empty() && !has_room()) return;
    launch(*next_, os::monotonic_ns());
    next_ = feed_->next();
  }
}

bool Player::has_room() const {
  return lines_.size() < orders_.most_lines && connecting_ < kMostConnecting;
}

std::size_t Player::destination_of(const load::Flow& flow) const {
  const auto& all = orders_.destinations;
  const auto found = std::find_if(all.begin(), all.end(), [&](const Destination& d) {
    return d.name.empty() || d.name == flow.destination;
  });
  check(found != all.end(), "every flow has a destination");
  return static_cast<std::size_t>(found - all.begin());
}

void Player::launch(const DueFlow& due, std::int64_t now) {
  const std::size_t to = destination_of(due.flow);
  Line* line = idle_line(to);
  if (line == nullptr) line = &open(to);
  const PlayedFlow flow{.number = due.number,
                        .due_ns = begin_ns_ + due.flow.start.count(),
                        .start_ns = now,
                        .bytes = due.flow.size.count()};
  line->begin(flow,
              {.kind = orders_.task.reuse ? FrameKind::Flow : FrameKind::LastFlow,
               .number = due.number,
               .size = static_cast<std::uint64_t>(flow.bytes)},
              orders_.task.token);
  ++busy_;
  tally_.start(Duration(flow.start_ns - flow.due_ns), flow.bytes);
  if (line->state() != Line::State::Sending) return;
  // At once, before others that are due: its first bytes are what starts it.
  switch (line->send(tally_)) {
    case Line::Step::Progress:
      return queue(*line);
    case Line::Step::Broken:
      return broken(*line, errno);
    case Line::Step::Blocked:
    case Line::Step::Finished:
      return;
  }
}

Line* Player::idle_line(std::size_t destination) {
  if (idle_[destination].empty()) return nullptr;
  Line* const line = idle_[destination].back();
  idle_[destination].pop_back();
  return line;
}

void Player::start_long() {
  const double rate = orders_.task.rate.bits_per_second() / 8 / orders_.task.flows;
  std::uint64_t number = share_.index;
  for (auto& idle : idle_) {
    for (Line* const line : idle) {
      const std::int64_t now = os::monotonic_ns();
      line->begin({.number = number, .due_ns = begin_ns_, .start_ns = now},
                  {.number = number, .size = kEndless}, orders_.task.token);
      ++busy_;
      tally_.start(Duration(now - begin_ns_), 0);
      paced_.push_back({.line = line, .pace = Pace(rate, begin_ns_)});
      number += share_.of;
    }
    idle.clear();
  }
}

void Player::pace(std::int64_t now) {
  for (PacedLine& paced : paced_) {
    if (now < paced.pace.next_ns() || paced.line->state() == Line::State::Sending) continue;
    const std::uint64_t bytes = paced.pace.allowance(paced.line->written(), now);
    if (bytes == 0) continue;
    paced.line->allow(bytes);
    queue(*paced.line);
  }
}

std::int64_t Player::next_time() const {
  std::int64_t time = kNever;
  if (next_) time = begin_ns_ + next_->flow.start.count() - kSpinNs;
  if (orders_.task.kind == TrafficKind::Long && paced_.empty()) time = std::min(time, begin_ns_);
  for (const PacedLine& paced : paced_) {
    if (paced.line->state() == Line::State::Awaiting) time = std::min(time, paced.pace.next_ns());
  }
  if (orders_.task.duration && !settled_) {
    time = std::min(time, begin_ns_ + orders_.task.duration->count());
  }
  return time;
}

void Player::wait(std::int64_t now) {
  if (!queue_.empty()) return take_events(0);
  // A flow that is due but finds no room waits for it, asleep.
  const bool stuck = is_due(now) && !has_room();
  const std::int64_t next = stuck ? now + kStuckNs : next_time();
  take_events(next == kNever ? kNever : std::max<std::int64_t>(next - now, 0));
}

void Player::take_events(std::int64_t patience_ns) {
  std::array<epoll_event, kEvents> events = {};
  const timespec timeout{.tv_sec = static_cast<time_t>(patience_ns / 1'000'000'000),
                         .tv_nsec = static_cast<long>(patience_ns % 1'000'000'000)};
  const int count = ::epoll_pwait2(epoll_.get(), events.data(), kEvents,
                                   patience_ns == kNever ? nullptr : &timeout, nullptr);
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    auto* const line = static_cast<Line*>(event.data.ptr);
    if (line != nullptr && !stop_.is_raised()) take_event(*line, event.events);
  }
}

void Player::take_event(Line& line, std::uint32_t events) {
  if (line.state() == Line::State::Connecting) {
    if (const int code = transport::tcp::pending_error(line.socket()); code != 0) {
      return broken(line, code);
    }
    if ((events & EPOLLOUT) == 0) return;
    line.connected();
    --connecting_;
    if (!line.has_flow()) return idle_[line.destination()].push_back(&line);
  }
  if ((events & EPOLLOUT) != 0 && line.state() == Line::State::Sending) queue(line);
  if ((events & (EPOLLIN | EPOLLRDHUP | EPOLLERR | EPOLLHUP)) != 0) take_answer(line);
}

void Player::take_answer(Line& line) {
  for (;;) {
    switch (line.receive()) {
      case Line::Step::Blocked:
        return;
      case Line::Step::Progress:
        continue;
      case Line::Step::Broken:
        return broken(line, errno);
      case Line::Step::Finished:
        break;
    }
    if (line.state() == Line::State::Closing) return close(line);
    finish_flow(line);
    // An answer is all that a line that stays says; one that closes says so next.
    if (line.state() != Line::State::Closing) return;
  }
}

void Player::finish_flow(Line& line) {
  PlayedFlow& flow = line.flow();
  flow.end_ns = os::monotonic_ns();
  flow.acknowledged = flow.bytes;
  tally_.finish(flow.bytes, Duration(*flow.end_ns - flow.start_ns));
  if (orders_.log != nullptr) orders_.log->add(flow);
  line.end_flow();
  --busy_;
  if (line.state() == Line::State::Idle) idle_[line.destination()].push_back(&line);
}

void Player::queue(Line& line) {
  if (line.is_queued) return;
  line.is_queued = true;
  queue_.push_back(&line);
}

void Player::serve_queue() {
  for (int turn = 0; turn < kMostTurns && !queue_.empty(); ++turn) {
    // Flows that have started go on, even when more are due than can be started.
    if (turn >= kTurns && is_due(os::monotonic_ns())) return;
    Line& line = *queue_.front();
    queue_.pop_front();
    line.is_queued = false;
    if (line.state() != Line::State::Sending) continue;
    const Line::Step step = line.send(tally_);
    if (step == Line::Step::Progress) queue(line);
    if (step == Line::Step::Broken) broken(line, errno);
  }
}

void Player::broken(const Line& line, int code) {
  const transport::tcp::Endpoint& to = orders_.destinations[line.destination()].endpoint;
  stop_.fail(
      fmt::format("the sink at {} port {} is gone: {}", to.address, to.port, std::strerror(code)));
}

void Player::close(Line& line) { lines_.erase(&line); }

std::int64_t Player::acknowledged_now() const {
  std::int64_t bytes = tally_.finished_bytes;
  for (const auto& [line, owned] : lines_) {
    if (line->has_flow()) bytes += line->acknowledged();
  }
  return bytes;
}

void Player::settle(std::int64_t now) {
  tally_.acknowledged_in_time = acknowledged_now();
  end_ns_ = now;
  settled_ = true;
  count_unstarted();
}

void Player::conclude() {
  last_ns_ = os::monotonic_ns();
  if (!settled_) settle(std::max(last_ns_, begin_ns_));
  for (const auto& [line, owned] : lines_) {
    if (!line->has_flow()) continue;
    PlayedFlow& flow = line->flow();
    flow.acknowledged = line->acknowledged();
    tally_.acknowledged += flow.acknowledged;
    if (orders_.task.kind == TrafficKind::Long) {
      // It lasts as long as it is let.
      flow.bytes = line->written();
      flow.end_ns = last_ns_;
      tally_.offered += flow.bytes;
      tally_.finished.fetch_add(1, std::memory_order_relaxed);
    } else {
      tally_.censor(flow.bytes);
    }
    if (orders_.log != nullptr) orders_.log->add(flow);
    abort_on_close(line->socket());
  }
  tally_.acknowledged += tally_.finished_bytes;
  lines_.clear();
}

void Player::count_unstarted() {
  while (next_ && begin_ns_ + next_->flow.start.count() < end_ns_) {
    tally_.offered += next_->flow.size.count();
    ++tally_.unstarted;
    next_ = feed_->next();
  }
  next_.reset();
}

}  // namespace tw::traffic
