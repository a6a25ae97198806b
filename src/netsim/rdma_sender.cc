// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/rdma_sender.h"

#include <cmath>
#include <utility>

namespace tw::netsim {
namespace {

constexpr int kInHost = 2;       ///< packets: the line never waits for the next one
constexpr int kWriteBytes = 16;  ///< RETH: address, key and length, in a request's first packet

}  // namespace

RdmaSender::RdmaSender(const rdma::Options& options, int connection, Emit emit)
    : options_(options), connection_(connection), emit_(std::move(emit)) {
  if (options.rate) dcqcn_.emplace(*options.rate, options.line);
}

void RdmaSender::write(std::int64_t bytes, bool ends, Time now) {
  written_ += bytes;
  if (ends) request_ends_.push(written_);
  push(now);
}

void RdmaSender::give_up() {
  written_ = cut_;
  while (!request_ends_.empty()) request_ends_.pop();
}

void RdmaSender::heard(const Packet& answer, Time now) {
  if (answer.is_notice) {
    ++counts_.notices;
    if (dcqcn_) dcqcn_->notified(duration_of(now));
    return;
  }
  const std::int64_t before = out_.begin();
  acknowledged(answer);
  if (answer.is_nak) {
    ++counts_.naks;
    if (answer.segment >= out_.begin()) next_ = answer.segment;
  }
  // A packet has room for the lower half of the number.
  const auto ahead =
      static_cast<std::int32_t>(answer.train - static_cast<std::uint32_t>(sendings_.begin()));
  if (options_.repair == rdma::Repair::Selective) judge(sendings_.begin() + ahead);
  if (out_.empty()) {
    timeout_at_ = kNever;
  } else if (out_.begin() > before || answer.is_nak) {
    timeout_at_ = now + time_of(options_.timeout);
  }
  push(now);
}

void RdmaSender::acknowledged(const Packet& answer) {
  while (!out_.empty() && out_.begin() < answer.segment) out_.pop();
  next_ = std::max(next_, out_.begin());
  if (answer.sacks[0].end == 0) return;
  const std::int64_t kept = answer.segment + answer.sacks[0].begin;
  if (kept >= out_.begin() && kept < out_.end()) out_[kept].is_there = true;
}

/// All sendings up to one have come or are lost, but for those that may be on a longer way.
void RdmaSender::judge(std::int64_t sending) {
  if (sending < sendings_.begin() || sendings_.empty()) return;
  const Time latest =
      sendings_[std::min(sending, sendings_.end() - 1)].at - time_of(options_.reordering);
  while (!sendings_.empty() && sendings_.begin() <= sending && sendings_.front().at <= latest) {
    const std::int64_t number = sendings_.front().packet;
    const bool is_open = number >= out_.begin() && !out_[number].is_there &&
                         out_[number].sending == sendings_.begin();
    sendings_.pop();
    if (is_open) missing_.push(number);
  }
}

void RdmaSender::departed(Time now) {
  --in_host_;
  push(now);
}

void RdmaSender::woken(Time now) {
  if (timeout_at_ <= now) {
    time_out();
    timeout_at_ = now + time_of(options_.timeout);
  }
  push(now);
}

void RdmaSender::time_out() {
  ++counts_.timeouts;
  next_ = out_.begin();
  while (!missing_.empty()) missing_.pop();
}

bool RdmaSender::can_cut() const {
  return !request_ends_.empty() || written_ - cut_ >= options_.payload_bytes;
}

void RdmaSender::cut() {
  const std::int64_t end = request_ends_.empty() ? written_ : request_ends_.front();
  const auto payload =
      static_cast<std::int32_t>(std::min<std::int64_t>(options_.payload_bytes, end - cut_));
  const int headers = options_.header_bytes + (begins_request_ ? kWriteBytes : 0);
  cut_ += payload;
  begins_request_ = !request_ends_.empty() && cut_ == end;
  if (begins_request_) request_ends_.pop();
  out_.push({.end_byte = cut_,
             .payload_bytes = payload,
             .frame_bytes = static_cast<std::uint16_t>(payload + headers)});
  ++counts_.packets;
}

bool RdmaSender::has_more() {
  while (!missing_.empty() &&
         (missing_.front() < out_.begin() || out_[missing_.front()].is_there)) {
    missing_.pop();
  }
  while (next_ < out_.end() && out_[next_].is_there) ++next_;
  return !missing_.empty() || next_ < out_.end() || can_cut();
}

/// What is missing first, then what follows. REQUIRES: has_more().
std::int64_t RdmaSender::next_to_send() {
  if (!missing_.empty()) {
    const std::int64_t number = missing_.front();
    missing_.pop();
    ++counts_.resent;
    return number;
  }
  if (next_ == out_.end()) {
    cut();
  } else {
    ++counts_.resent;
  }
  return next_++;
}

void RdmaSender::push(Time now) {
  send_at_ = kNever;
  while (in_host_ < kInHost && has_more()) {
    if (paced_until_ > static_cast<double>(now)) {
      send_at_ = static_cast<Time>(std::ceil(paced_until_));
      return;
    }
    emit(next_to_send(), now);
  }
}

void RdmaSender::emit(std::int64_t number, Time now) {
  Out& out = out_[number];
  out.sending = sendings_.end();
  if (options_.repair == rdma::Repair::Selective) sendings_.push({.packet = number, .at = now});
  const bool asks = ++unasked_ >= options_.ack_every || !has_more();
  if (asks) unasked_ = 0;
  const Packet packet{.connection = connection_,
                      .frame_bytes = out.frame_bytes,
                      .can_be_marked = true,
                      .is_rdma = true,
                      .asks_ack = asks,
                      .segment = number,
                      .payload_bytes = out.payload_bytes,
                      .train = static_cast<std::uint32_t>(out.sending)};
  paced_until_ =
      std::max(paced_until_, static_cast<double>(now)) + 8e12 * out.frame_bytes / rate(now);
  if (timeout_at_ == kNever) timeout_at_ = now + time_of(options_.timeout);
  if (emit_(packet, now) != kNever) ++in_host_;
}

}  // namespace tw::netsim
