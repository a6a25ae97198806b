// SPDX-License-Identifier: Apache-2.0
#include "trainwire/fluid/tcp_stream.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace tw::fluid {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();
/// What a sender keeps in its own host's queue beside what the path holds (TCP small queues).
constexpr double kOwnQueue_s = 1e-3;
/// What a window comes to, of what the path holds: as much as slow start makes of it. CUBIC leaves that
/// by HyStart, between one and one and a half.
constexpr double kCubicPaths = 1.5;
constexpr double kPaths = 2;
constexpr double kNearlyAll = 0.99;     ///< of a window
constexpr double kNearly = 0.5;         ///< bytes
constexpr double kRounded = 1e-6;       ///< segments that sums of bytes are off by
constexpr double kTick_s = 2e-9;        ///< callers count nanoseconds
constexpr double kProbeSlack_s = 2e-3;  ///< added to what a timer waits for (TCP_TIMEOUT_MIN)
constexpr double kMostTimeout_s = 120;  ///< however often it has doubled (TCP_RTO_MAX)
constexpr int kMostRepetitions = 3000;  ///< of one segment: some 100 h of time-outs
constexpr double kDelayedAck_s = 0.04;  ///< after which a lone segment is acknowledged
constexpr double kTimerTick_s = 4e-3;   ///< of the kernel's clock
/// Linux looks at CUBIC's curve, and at Reno's beside it, when a loss is repaired, and each time so
/// long after. What it finds at first it keeps for a millisecond: a segment at once, and one a round trip.
constexpr double kLooks_s = 1.0 / 32;
constexpr double kKeepsFirst_s = 1e-3;
/// By which CUBIC's window grows in a round trip while nothing has been lost.
constexpr double kCubicUntilLoss = 1.05;
constexpr double kEnoughToTell = 3;  ///< segments that follow and are acknowledged

/// Round trips after a loss in which a window does not grow: it is told after one, and repaired after
/// another.
constexpr double kRests = 2;
/// What paces of trains are, of a window a round trip; and a train is as long as what leaves in so long.
constexpr double kPacesAhead = 1.2;
constexpr double kTrain_s = 1e-3;
constexpr double kShortTrain = 2;  ///< segments

/// How long a timer takes in the mean: it goes off with a tick.
double timer_s(double wait_s) {
  return kTimerTick_s * (std::ceil((wait_s + kProbeSlack_s) / kTimerTick_s) - 0.5);
}

}  // namespace

TcpStream::TcpStream(const TcpPath& path, Chance chance)
    : path_(path),
      chance_(chance),
      window_(kInitialWindow * path.segment_bytes),
      rtt_s_(path.rtt_s) {
  draw();
}

void TcpStream::set_path(const TcpPath& path) {
  const bool loses_alike = path.loss == path_.loss && path.loss_burst == path_.loss_burst;
  path_ = path;
  rtt_s_ = path.rtt_s;
  if (!loses_alike) draw();
}

void TcpStream::draw() {
  if (path_.loss <= 0) {
    to_loss_ = kInfinite;
    return;
  }
  to_loss_ = random().exponential(path_.segment_bytes * path_.loss_burst / path_.loss);
}

Random& TcpStream::random() {
  if (!random_) random_.emplace(chance_.seed, "losses of stream " + std::to_string(chance_.number));
  return *random_;
}

double TcpStream::noticed_s() const { return rtt_s_ + timer_s(rtt_s_ / 4); }

double TcpStream::allowed() const {
  const double most = std::min(window_, path_.largest_window);
  if (path_.stack != Stack::Bbr) return most;
  return std::min(most, bbr_.window(path_.rtt_s, path_.segment_bytes));
}

double TcpStream::takes(double rate) const {
  const double buffer = std::min(std::max(path_.buffer_bytes, window_), path_.largest_window);
  return std::max(0.0, buffer - std::min(allowed(), rate * (path_.rtt_s + answers_wait_s_)));
}

/// A train is answered as a whole, and acknowledgements wait.
double TcpStream::round_trip_s() const {
  const double segment = path_.segment_bytes;
  const double paced = kPacesAhead * allowed() * kTrain_s / std::max(kTrain_s / 1e3, path_.rtt_s);
  const double longest = std::min(std::max(kShortTrain * segment, paced), path_.train_bytes);
  const double train = std::max(segment, std::min(longest, allowed() / 2));
  const double answered_s = path_.line > 0 ? (train - segment) / path_.line : 0;
  return path_.rtt_s + answered_s + answers_wait_s_;
}

/// Whether a window may be too small for the path.
bool TcpStream::is_held() const { return allowed() < path_.line * round_trip_s(); }

/// The window that a stream of that rate comes to.
double TcpStream::full(double rate) const {
  const double paths = path_.stack == Stack::Cubic ? kCubicPaths : kPaths;
  return rate * (paths * round_trip_s() + kOwnQueue_s);
}

void TcpStream::begin_round(double now_s) {
  round_end_s_ = now_s + round_trip_s();
  if (is_unanswered()) round_end_s_ += timer_s(2 * round_trip_s()) + answers_probe_s();
  budget_ = allowed();
  used_before_ = std::exchange(used_, 0);
  come_ = 0;
  full_ = queue_.fits;
  round_window_ = window_;
  after_pause_ = false;
}

/// What a receiver takes to answer a probe: it answers every second segment at once, and what is alone
/// when nothing follows.
double TcpStream::answers_probe_s() const {
  const double segments = std::floor(allowed() / path_.segment_bytes);
  return std::fmod(segments, 2) == 0 ? kDelayedAck_s : 0;
}

/// Whether all acknowledgements of a round are lost. A probe follows then.
bool TcpStream::is_unanswered() {
  if (path_.back_loss <= 0 || !random_) return false;
  const double answers = std::max(1.0, std::floor(allowed() / path_.segment_bytes / 2));
  return random_->uniform() < std::pow(path_.back_loss, answers);
}

void TcpStream::begin(double now_s) {
  cut_if_told(now_s);
  const double timeout = rtt_s_ + kLeastTimeout_s;
  if (path_.stack != Stack::Bbr && now_s - last_s_ > timeout) {
    threshold_ = std::max(threshold_, 0.75 * window_);
    const double segment = path_.segment_bytes;
    // Whole segments: a message a little longer than three such windows takes three rounds.
    const double left = window_after_idle(window_ / segment, now_s - last_s_, timeout);
    window_ = segment * std::floor(left + kRounded);
  }
  const bool after_pause = now_s - last_s_ > round_trip_s();
  last_s_ = now_s;
  if (now_s >= round_end_s_ - kTick_s) {
    begin_round(now_s);
    after_pause_ = after_pause;
    if (after_pause) used_before_ = 0;
  }
  if (after_pause) bbr_.begin(now_s);
}

/// BBR's, in bytes a second.
double TcpStream::pace() const {
  if (path_.stack != Stack::Bbr) return kInfinite;
  return bbr_.pace(kInitialWindow * path_.segment_bytes / path_.rtt_s);
}

double TcpStream::cap(double now_s, double left) const {
  if (!is_held() || left <= budget_ + kNearly) return pace();
  if (now_s >= round_end_s_ - kTick_s) return std::min(pace(), allowed() / round_trip_s());
  return std::min(pace(), std::max(0.0, budget_) / (round_end_s_ - now_s));
}

double TcpStream::bursts(double left) const {
  if (path_.stack == Stack::Bbr || (!after_pause_ && window_ >= threshold_)) return 0;
  return std::min(round_window_, used_ + left);
}

double TcpStream::come(const Gone& gone) const {
  return std::max(used_ + gone.bytes, std::min(full_, come_ + queue_.comes * gone.seconds));
}

TcpStream::Burst TcpStream::burst(const Gone& gone, double left) const {
  const double all = bursts(left);
  const double there = std::min(all, come(gone));
  return {.queued = std::max(0.0, there - used_ - gone.bytes), .to_come = all - there};
}

void TcpStream::meets(const Queue& queue, double now_s) {
  if (queue_.room == kInfinite) filling_s_ = now_s;
  const double part = std::exchange(queue_, queue).part;
  if (come_ < full_ - kNearly) {
    full_ = come_ + queue.more;
  } else {  // it is told when what came before has left
    queue_.part = std::max(queue.part, part);
  }
}

/// Whether the window is more than path and queue hold, and what is left fills it.
bool TcpStream::is_over(double left) const {
  if (was_held_ || path_.stack == Stack::Bbr || left < allowed()) return false;
  return allowed() > queue_.rate * round_trip_s() + queue_.room + path_.segment_bytes;
}

/// Bytes until something finds the queue full.
double TcpStream::to_overflow(double now_s, double left) const {
  if (queue_.room == kInfinite || now_s < cut_until_s_) return kInfinite;
  // What is beyond waits in the host's own queue until then.
  if (is_over(left)) return std::max(0.0, filled_s() - now_s) * queue_.rate;
  return bursts(left) > full_ + path_.segment_bytes ? full_ - used_ : kInfinite;
}

TcpStream::Lost TcpStream::overflow(double now_s, double left) {
  const double part = is_over(left) ? 0 : queue_.part;
  const double comes = std::min(std::max(0.0, round_window_ - used_), left);
  const double lost_bytes = std::max(path_.segment_bytes, part * comes);
  Lost lost{.again_after_s = rtt_s_ + lost_bytes / std::max(1.0, queue_.rate)};
  if (left <= comes + kNearly && random().uniform() < part) {
    lost.is_tail = true;
    lost.again_after_s += timer_s(2 * rtt_s_);
  }
  if (path_.stack != Stack::Bbr && now_s >= cut_until_s_) {
    cut();
    rest(now_s);
  }
  begin_round(now_s);
  return lost;
}

void TcpStream::sent(const Gone& gone, double now_s) {
  if (gone.bytes <= 0 || gone.seconds <= 0) return;
  last_s_ = now_s;
  budget_ -= gone.bytes;
  come_ = come(gone);
  used_ += gone.bytes;
  to_loss_ -= gone.bytes;
  was_held_ = gone.was_held;
  bbr_.sent(gone.bytes, now_s, path_.rtt_s);
  // BBR keeps queues short.
  const double queued_s = (path_.stack == Stack::Bbr ? 0.25 : 1) * round_trip_s() + kOwnQueue_s;
  rtt_s_ = gone.was_held ? round_trip_s()
                         : std::clamp(window_ * gone.seconds / gone.bytes, round_trip_s(),
                                      round_trip_s() + queued_s);
  cut_if_told(now_s);
  if (now_s > repaired_s_) grow(gone, now_s);
}

/// A window grows while it is used, and no further than to what others leave to it, or a program's pace.
void TcpStream::grow(const Gone& gone, double now_s) {
  const double rate = gone.bytes / gone.seconds;
  const double most = gone.was_held ? kInfinite : full(rate);
  if (window_ >= threshold_) {
    age_s_ += std::min(gone.seconds, now_s - repaired_s_);
    look(now_s);
    const double used = gone.was_held ? kPaths * rate * round_trip_s() : most;
    if (window_ < used) window_ = std::max(window_, std::min(used, curve()));
    return;
  }
  const double last = std::min({most, threshold_, end_of_slow_start(gone)});
  window_ = std::max(window_, std::min({round_window_ + used_, last, 2 * most_out()}));
  // Others than CUBIC leave slow start by a loss alone: where a window is not used it waits.
  if (window_ >= (path_.stack == Stack::Cubic ? last : threshold_)) begin_epoch();
}

/// What is on its way at once in slow start: of two bytes that leave one makes up for one of the round
/// before that has been acknowledged.
double TcpStream::most_out() const { return std::max(used_, used_before_ + used_ / 2); }

/// At CUBIC's curve.
void TcpStream::look(double now_s) {
  if (now_s < looks_s_) return;
  looked_s_ = age_s_;
  looks_s_ = now_s + kLooks_s;
}

/// CUBIC leaves slow start when the answers to a window have come for half a round trip (HyStart).
double TcpStream::end_of_slow_start(const Gone& gone) const {
  if (path_.stack != Stack::Cubic) return kInfinite;
  const double line = gone.was_held ? path_.line : gone.bytes / gone.seconds;
  const double half = line * round_trip_s() / 2;
  return round_window_ < half ? kInfinite : round_window_ + half;
}

/// From now on the window grows slowly.
void TcpStream::begin_epoch() {
  threshold_ = std::min(threshold_, window_);
  base_ = window_;
  plateau_ = std::max(plateau_, window_);
  age_s_ = looked_s_ = 0;
}

/// The window after so long (RFC 9438, or Reno).
double TcpStream::curve() const {
  const double rounds = age_s_ / rtt_s_;
  const double steady = base_ + growth_per_round_trip(path_.stack) * path_.segment_bytes * rounds;
  if (path_.stack != Stack::Cubic) return steady;
  if (!has_lost_) return std::max(steady, base_ * std::pow(kCubicUntilLoss, rounds));
  return base_ + path_.segment_bytes * cubic_growth();
}

/// CUBIC's since a loss, in segments: whole ones, as Linux counts them. What the curve is below the next
/// one counts as that one from the begin.
double TcpStream::cubic_growth() const {
  const double gap = (plateau_ - base_) / path_.segment_bytes;
  const double kept_rounds = std::min(age_s_ / rtt_s_, std::floor(kKeepsFirst_s / rtt_s_));
  const double first = gap > 0 ? 1 + kept_rounds : 0;
  const double steady = growth_per_round_trip(Stack::Cubic) * looked_s_ / rtt_s_;
  const double away_s = looked_s_ - std::cbrt(gap / kCubic);
  const double curve = gap + std::ceil(kCubic * away_s * away_s * away_s);
  return std::max({first, std::floor(steady), looked_s_ > 0 ? curve : 0});
}

/// A loss is told a round trip after; what leaves until then has the window as it was.
void TcpStream::cut_if_told(double now_s) {
  if (now_s < told_s_ - kTick_s) return;
  told_s_ = kInfinite;
  cut();
  if (std::exchange(timed_out_, false)) {
    window_ = path_.segment_bytes;
    has_lost_ = false;
  }
  budget_ = std::min(budget_, allowed());
  round_window_ = std::min(round_window_, window_);
}

void TcpStream::cut() {
  const double kept = kept_after_loss(path_.stack);
  const double segment = path_.segment_bytes;
  const double before = plateau_;
  has_lost_ = true;
  // A window that has not come back to where it was makes room for others.
  plateau_ = window_;
  if (window_ < before) plateau_ = segment * std::floor(window_ / segment * (1 + kept) / 2);
  const double segments = std::floor(kept * window_ / path_.segment_bytes);
  window_ = path_.segment_bytes * std::max(2.0, segments);
  threshold_ = window_;
  base_ = window_;
  plateau_ = std::max(plateau_, base_);
  age_s_ = looked_s_ = 0;
}

/// For a round trip losses are one, and for some the window does not grow.
void TcpStream::rest(double now_s) {
  cut_until_s_ = now_s + rtt_s_;
  repaired_s_ = now_s + kRests * rtt_s_;
  looks_s_ = repaired_s_ + kLooks_s;
}

TcpStream::Lost TcpStream::lose(double now_s, double left) {
  double segments = 1;
  while (path_.loss_burst > 1 && random_->uniform() >= 1 / path_.loss_burst) ++segments;
  const double follow = std::max(0.0, std::ceil(left / path_.segment_bytes) - segments);
  const double timeout = rtt_s_ + kLeastTimeout_s;
  Lost lost{.is_tail = follow < 1};
  if (follow >= kEnoughToTell) {
    lost.again_after_s = rtt_s_;
  } else if (follow >= 1) {
    lost.again_after_s = noticed_s();
  } else {
    lost.again_after_s = segments > 1 ? timer_s(2 * rtt_s_) + rtt_s_ : timeout;
  }
  // What leaves until the repair does; BBR keeps no more on its way than the path holds.
  const bool is_bbr = path_.stack == Stack::Bbr;
  const double meanwhile = is_bbr ? std::min(allowed(), path_.line * round_trip_s()) : allowed();
  const bool goes_on = left > meanwhile;
  if (!is_bbr && now_s >= cut_until_s_) {
    told_s_ = now_s + rtt_s_;
    rest(now_s);
  }
  double wait = timeout;
  // A repair that is lost is told by what is sent after it: more of the message, or a later repair.
  const double later_repair = 1 - std::pow(1 - path_.loss, follow);
  for (int again = 0; again < kMostRepetitions && random_->uniform() < path_.loss; ++again) {
    const bool is_told = goes_on || random_->uniform() < later_repair;
    lost.again_after_s += is_told ? rtt_s_ : wait;
    if (is_told) continue;
    wait = std::min(kMostTimeout_s, 2 * wait);
    lost.is_tail = true;
    timed_out_ = !is_bbr;
  }
  draw();
  return lost;
}

/// Whether that rate leaves nothing, or next to nothing, of the round's window.
bool TcpStream::uses_window(double now_s, double rate) const {
  if (now_s >= round_end_s_ - kTick_s) return rate >= kNearlyAll * allowed() / round_trip_s();
  return rate * (round_end_s_ - now_s) >= budget_ - (1 - kNearlyAll) * round_window_;
}

double TcpStream::next(double now_s, double rate, double left) const {
  double at = kInfinite;
  const bool may_be_over =
      !was_held_ && left > allowed() && queue_.room < queue_.rate * round_trip_s();
  if (may_be_over || (cap(now_s, left) != kInfinite && uses_window(now_s, rate))) {
    at = std::max(now_s, round_end_s_);
  }
  if (rate >= kNearlyAll * pace()) at = std::min(at, std::max(now_s, round_end_s_));
  if (left > budget_) at = std::min(at, std::max(now_s, told_s_));
  if (rate > 0)
    at = std::min(at, now_s + std::max(0.0, std::min(to_loss_, to_overflow(now_s, left))) / rate);
  return at;
}

std::optional<TcpStream::Lost> TcpStream::change(double now_s, double left) {
  cut_if_told(now_s);
  if (to_loss_ <= kNearly) return lose(now_s, left);
  if (to_overflow(now_s, left) <= kNearly) return overflow(now_s, left);
  if (now_s >= round_end_s_ - kTick_s) begin_round(now_s);
  return {};
}

}  // namespace tw::fluid
