// SPDX-License-Identifier: Apache-2.0
#include "trainwire/netsim/receiver.h"

#include <algorithm>
#include <utility>

namespace tw::netsim {
namespace {

constexpr std::size_t kTold = 3;
constexpr std::size_t kKept = 4;
constexpr int kQuick = 16;
constexpr Time kLongPause = 200 * kMillisecond;  ///< Linux: a time-out, of which that is the least
constexpr int kSackBytes = 8;                    ///< of each range, and four for the option

}  // namespace

Receiver::Receiver(const TcpOptions& options, int connection, Emit emit)
    : options_(options),
      connection_(connection),
      emit_(std::move(emit)),
      echoes_each_(options.congestion_control == "dctcp") {}

void Receiver::arrived(const Packet& packet, bool continues, Time now) {
  take_mark(packet, now);
  // Who pauses that long begins with a small window again, and needs every acknowledgement.
  if (now - latest_at_ > kLongPause) quick_ = kQuick;
  latest_at_ = now;
  const bool filled = !early_.empty() && packet.segment == next_;
  if (!note(packet.segment)) {
    duplicate_ = at_once_ = true;
    quick_ = kQuick;
  } else if (packet.segment >= next_ || filled) {
    at_once_ = true;
  }
  ++unanswered_;
  ++joined_;
  if (continues && joined_ < options_.train_segments) return;
  joined_ = 0;
  if (at_once_ || unanswered_ >= 2 || quick_ > 0) {
    acknowledge(now);
  } else if (due_ == kNever) {
    due_ = now + time_of(options_.delayed_ack);
  }
}

bool Receiver::note(std::int64_t segment) {
  if (segment < next_) return false;
  if (segment == next_) {
    ++next_;
    if (!early_.empty() && early_.front().begin == next_) {
      const Range reached = early_.front();
      next_ = reached.end;
      early_.erase(early_.begin());
      std::erase_if(latest_, [&](const Range& range) { return range.end <= next_; });
    }
    return true;
  }
  auto behind = std::find_if(early_.begin(), early_.end(),
                             [&](const Range& range) { return range.end >= segment; });
  if (behind == early_.end() || behind->begin > segment + 1) {
    remember(*early_.insert(behind, {.begin = segment, .end = segment + 1}));
    return true;
  }
  if (segment >= behind->begin && segment < behind->end) return false;
  behind->begin = std::min(behind->begin, segment);
  behind->end = std::max(behind->end, segment + 1);
  if (const auto after = behind + 1; after != early_.end() && after->begin == behind->end) {
    behind->end = after->end;
    early_.erase(after);
  }
  remember(*behind);
  return true;
}

void Receiver::remember(Range range) {
  std::erase_if(latest_, [&](const Range& known) {
    return known.begin >= range.begin && known.end <= range.end;
  });
  latest_.insert(latest_.begin(), range);
  if (latest_.size() > kKept) latest_.pop_back();
}

/// Classic ECN echoes a mark until the sender says that it has reduced its window; DCTCP tells each
/// change at once, so that the sender can count.
void Receiver::take_mark(const Packet& packet, Time now) {
  if (!packet.can_be_marked) return;
  if (echoes_each_) {
    if (packet.marked != echo_ && unanswered_ > 0) acknowledge(now);
    echo_ = packet.marked;
    return;
  }
  if (packet.window_reduced) echo_ = false;
  if (packet.marked) echo_ = true;
}

void Receiver::woken(Time now) {
  if (due_ <= now) acknowledge(now);
}

void Receiver::acknowledge(Time now) {
  Packet ack{.connection = connection_,
             .frame_bytes = static_cast<std::uint16_t>(options_.header_bytes),
             .is_ack = true,
             .echoes_mark = echo_,
             .duplicate = std::exchange(duplicate_, false),
             .segment = next_};
  std::size_t told = 0;
  for (const Range& range : latest_) {
    if (told == kTold) break;
    ack.sacks[told++] = {.begin = static_cast<std::uint32_t>(range.begin - next_),
                         .end = static_cast<std::uint32_t>(range.end - next_)};
  }
  if (told > 0)
    ack.frame_bytes = static_cast<std::uint16_t>(ack.frame_bytes + 4 + kSackBytes * told);
  unanswered_ = 0;
  joined_ = 0;
  at_once_ = false;
  due_ = kNever;
  if (quick_ > 0) --quick_;
  emit_(ack, now);
}

}  // namespace tw::netsim
