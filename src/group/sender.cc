// SPDX-License-Identifier: Apache-2.0
#include "trainwire/group/sender.h"

#include "trainwire/base/error.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace tw::group {

using netsim::kMillisecond;
using netsim::time_of;
namespace {

/// Packets to one that asks for answers, for each receiver: these take 3 % of the way back.
constexpr double kAskEvery = 1.5;
constexpr int kMostDoubled = 8;    ///< times
constexpr int kRoundTrips = 3;     ///< that are waited for
constexpr double kNewest = 0.125;  ///< weight of a round trip in the smoothed one

}  // namespace

Sender::Sender(const Options& options, int receivers, Emit emit)
    : options_(options),
      emit_(std::move(emit)),
      heard_(static_cast<std::size_t>(receivers)),
      smoothed_(static_cast<double>(time_of(options.round_trip))) {
  check(receivers > 0 && options.slots > 0, "somebody answers, and something may be sent");
}

void Sender::write(std::int64_t bytes, Time now) {
  check(bytes > 0, "a message has bytes");
  const std::int64_t packets = (bytes + options_.payload_bytes - 1) / options_.payload_bytes;
  written_ += packets;
  messages_.push(
      {.end = written_,
       .last_payload = static_cast<std::int32_t>(bytes - (packets - 1) * options_.payload_bytes)});
  push(now);
}

int Sender::window() const {
  return std::min(options_.slots, std::max(1, options_.room / static_cast<int>(fan_)));
}

bool Sender::has_more() const {
  if (missing_.empty() && out_.end() == written_) return false;
  return outstanding_ - missing_.size() < window() || (probing_ > 0 && !missing_.empty());
}

/// What is missing first, then what follows. REQUIRES: has_more().
std::int64_t Sender::next_to_send() {
  if (!missing_.empty()) {
    const std::int64_t number = missing_.front();
    missing_.pop();
    if (probing_ > 0) --probing_;
    return number;
  }
  const std::int64_t number = out_.end();
  const bool ends = number + 1 == messages_.front().end;
  out_.push({.payload_bytes = ends ? messages_.front().last_payload : options_.payload_bytes,
             .first_sending = sending_});
  if (ends) messages_.pop();
  ++outstanding_;
  ++counts_.packets;
  return number;
}

/// As far as window and host allow.
void Sender::push(Time now) {
  send_at_ = kNever;
  const Time ahead = time_of(options_.in_host);
  while (has_more()) {
    if (line_free_ > now + ahead) {
      send_at_ = line_free_ - ahead / 2;
      return;
    }
    const std::int64_t number = next_to_send();
    const bool is_wanted = number >= out_.begin() && out_[number].heard < std::ssize(heard_);
    if (is_wanted) emit(number, now);
  }
}

void Sender::emit(std::int64_t number, Time now) {
  Out& out = out_[number];
  const bool again = std::exchange(out.is_waiting, false);
  if (again) ++counts_.resent;
  out.sending = sending_++;
  out.sent = now;
  sendings_.push(number);
  const auto every =
      std::min(static_cast<int>(kAskEvery * static_cast<double>(heard_.size())), window() / 4);
  const bool asks = again || ++unasked_ >= every || !has_more();
  if (asks) unasked_ = 0;
  const Packet packet{
      .frame_bytes = static_cast<std::uint16_t>(out.payload_bytes + options_.header_bytes),
      .asks_ack = asks,
      .segment = number,
      .payload_bytes = out.payload_bytes,
      .train = static_cast<std::uint32_t>(out.sending)};
  if (timeout_at_ == kNever) timeout_at_ = now + patience();
  const Time left = emit_(packet, now);
  if (left != kNever) line_free_ = left;
}

/// A receiver has a packet; false: it was known.
bool Sender::note(Heard& receiver, std::int64_t number, Time now) {
  if (number < receiver.next || number >= out_.end() || receiver.beyond.contains(number))
    return false;
  Out& out = out_[number];
  if (++out.heard == static_cast<int>(heard_.size())) --outstanding_;
  // Whatever was sent twice, a sum may have waited for somebody else's first sending.
  if (options_.sums) evidence_ = std::max(evidence_, out.first_sending);
  if (out.sending == out.first_sending) {
    smoothed_ += kNewest * (static_cast<double>(now - out.sent) - smoothed_);
    probes_ = 0;
  }
  return true;
}

void Sender::heard(int from, const Packet& answer, Time now) {
  Heard& receiver = heard_[static_cast<std::size_t>(from)];
  evidence_ = receiver.judged;
  bool news = false;
  for (std::int64_t number = receiver.next; number < answer.segment; ++number) {
    news = note(receiver, number, now) || news;
    receiver.beyond.erase(number);
    receiver.next = number + 1;
  }
  for (std::uint32_t i = answer.sacks[0].begin; i < answer.sacks[0].end; ++i) {
    if (!note(receiver, answer.segment + i, now)) continue;
    receiver.beyond.insert(answer.segment + i);
    news = true;
  }
  if (options_.sums) {
    fan_ = std::max<std::uint32_t>(1, answer.train);
  } else {
    // A packet has room for the lower half of a sending's number.
    const auto ahead =
        static_cast<std::int32_t>(answer.train - static_cast<std::uint32_t>(receiver.judged));
    evidence_ = std::max(evidence_, receiver.judged + ahead);
  }
  judge(receiver);
  while (!out_.empty() && out_.front().heard == static_cast<int>(heard_.size())) out_.pop();
  if (news) {
    doubled_ = 0;
    timeout_at_ = out_.empty() ? kNever : now + patience();
  }
  push(now);
}

/// Everything that was sent before what has come is there or lost.
void Sender::judge(Heard& receiver) {
  for (; receiver.judged < evidence_; ++receiver.judged) {
    if (receiver.judged < sendings_.begin()) continue;
    const std::int64_t number = sendings_[receiver.judged];
    if (number < out_.begin() || number < receiver.next || receiver.beyond.contains(number))
      continue;
    if (out_[number].sending == receiver.judged) repeat(number);
  }
  std::int64_t all = receiver.judged;
  for (const Heard& each : heard_) all = std::min(all, each.judged);
  while (!sendings_.empty() && sendings_.begin() < all) sendings_.pop();
}

void Sender::repeat(std::int64_t number) {
  if (std::exchange(out_[number].is_waiting, true)) return;
  missing_.push(number);
}

void Sender::woken(Time now) {
  if (timeout_at_ <= now) time_out(now);
  push(now);
}

/// Of the oldest packets one is sent again; twice as many as the last time where those brought news.
void Sender::time_out(Time now) {
  ++counts_.timeouts;
  probes_ = doubled_ > 0 ? 1 : std::clamp(2 * probes_, 1, window());
  int left = probes_;
  for (std::int64_t number = out_.begin(); number < out_.end() && left > 0; ++number) {
    if (out_[number].heard == static_cast<int>(heard_.size())) continue;
    repeat(number);
    --left;
  }
  probing_ = probes_;
  doubled_ = std::min(doubled_ + 1, kMostDoubled);
  timeout_at_ = now + patience();
}

Time Sender::patience() const {
  const auto once = kMillisecond + static_cast<Time>(kRoundTrips * smoothed_);
  return once << doubled_;
}

}  // namespace tw::group
