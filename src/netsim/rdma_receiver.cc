// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/rdma_receiver.h"

#include <utility>

namespace tw::netsim {
namespace {

// Beside the headers of every packet.
constexpr int kAckBytes = 4;      ///< AETH
constexpr int kNoticeBytes = 16;  ///< of a CNP: reserved

}  // namespace

RdmaReceiver::RdmaReceiver(const rdma::Options& options, int connection, Emit emit)
    : options_(options), connection_(connection), emit_(std::move(emit)) {}

void RdmaReceiver::arrived(const Packet& packet, Time now) {
  if (packet.marked && options_.rate && now >= notice_again_) {
    notice_again_ = now + time_of(options_.rate->notice_gap);
    Packet notice = answer_to(packet, kNoticeBytes);
    notice.is_notice = true;
    emit_(notice, now);
  }
  if (packet.segment > next_) return take_early(packet, now);
  if (packet.segment == next_) return take_in_order(packet, now);
  if (packet.asks_ack) emit_(answer_to(packet, kAckBytes), now);
}

void RdmaReceiver::take_in_order(const Packet& packet, Time now) {
  ++next_;
  const bool filled = !early_.empty();
  while (!early_.empty() && *early_.begin() == next_) {
    early_.erase(early_.begin());
    ++next_;
  }
  if (packet.asks_ack || filled) emit_(answer_to(packet, kAckBytes), now);
}

void RdmaReceiver::take_early(const Packet& packet, Time now) {
  Packet answer = answer_to(packet, kAckBytes);
  if (options_.repair == rdma::Repair::Selective) {
    early_.insert(packet.segment);
    const auto ahead = static_cast<std::uint32_t>(packet.segment - next_);
    answer.sacks[0] = {.begin = ahead, .end = ahead + 1};
    return emit_(answer, now);
  }
  if (asked_for_ == next_ && now < ask_again_) return;
  asked_for_ = next_;
  ask_again_ = now + time_of(options_.nak_gap);
  answer.is_nak = true;
  emit_(answer, now);
}

Packet RdmaReceiver::answer_to(const Packet& packet, int bytes) const {
  return {.connection = connection_,
          .frame_bytes = static_cast<std::uint16_t>(options_.header_bytes + bytes),
          .is_ack = true,
          .is_rdma = true,
          .segment = next_,
          .train = packet.train};
}

}  // namespace tw::netsim
