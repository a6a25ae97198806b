// SPDX-License-Identifier: Apache-2.0
#include "trainwire/flow/tcp_stream.h"

#include <algorithm>

namespace tw::flow {
namespace {

constexpr std::size_t kMostHoles = 16;
constexpr std::int64_t kLargestWindow = std::int64_t{1} << 30;
constexpr std::int64_t kNumbers = std::int64_t{1} << 32;

}  // namespace

SegmentBytes TcpStream::take(std::int64_t time_ns, std::uint32_t sequence, std::uint32_t length,
                             bool syn, bool fin) {
  if (!started_) start(time_ns, sequence, syn);
  const std::int64_t begin = offset_of(sequence) + (syn ? 1 : 0);
  const std::int64_t end = begin + length;
  if (length <= 1 && !syn && !fin && begin == next_ - 1) return {.keep_alive = true};
  if (length == 0 && !fin) {
    note_position(begin);
    return {};
  }
  const SegmentBytes result = take_data(begin, end, time_ns);
  if (fin) set_next(std::max(next_, end + 1));
  return result;
}

void TcpStream::start(std::int64_t time_ns, std::uint32_t sequence, bool syn) {
  started_ = true;
  anchored_ = syn;
  started_ns_ = time_ns;
  first_ = sequence;
  set_next(syn ? 1 : 0);
}

void TcpStream::set_next(std::int64_t next) {
  next_ = next;
  next_sequence_ = first_ + static_cast<std::uint32_t>(next);
}

std::int64_t TcpStream::offset_of(std::uint32_t sequence) const {
  const std::int64_t near = std::max(next_, claimed_);
  const std::int64_t ahead = sequence - (first_ + static_cast<std::uint32_t>(near));
  return near + (ahead < kNumbers - kLargestWindow ? ahead : ahead - kNumbers);
}

void TcpStream::note_position(std::int64_t offset) {
  // A stream whose first segment was a keep-alive begins one number later.
  if (!anchored_ && next_ == 0 && offset == 1) set_next(offset);
  if (offset - next_ < kLargestWindow) claimed_ = std::max(claimed_, offset);
}

SegmentBytes TcpStream::take_data(std::int64_t begin, std::int64_t end, std::int64_t time_ns) {
  if (!anchored_ && next_ == 0 && begin == 1) set_next(begin);
  if (begin > next_) open_hole(next_, begin, time_ns);
  SegmentBytes result = take_known(begin, std::min(end, next_), time_ns);
  if (end > next_) {
    result.in_order = static_cast<std::uint32_t>(end - std::max(begin, next_));
    set_next(end);
  } else if (begin > next_) {
    set_next(begin);  // a FIN without data, behind a hole
  }
  return result;
}

SegmentBytes TcpStream::take_known(std::int64_t begin, std::int64_t end, std::int64_t time_ns) {
  SegmentBytes result;
  if (begin >= end) return result;
  const auto fill = [&](std::int64_t bytes, std::int64_t opened_ns) {
    (time_ns - opened_ns <= kReorderNs ? result.reordered : result.recovered) +=
        static_cast<std::uint32_t>(bytes);
  };
  if (!anchored_ && begin < lowest_) {
    if (end < lowest_) {
      holes_.insert(holes_.begin(), {.begin = end, .end = lowest_, .opened_ns = started_ns_});
    }
    fill(std::min(end, lowest_) - begin, started_ns_);
    lowest_ = begin;
  }
  std::vector<Hole> left;
  for (const Hole& hole : holes_) {
    const std::int64_t from = std::max(begin, hole.begin);
    const std::int64_t to = std::min(end, hole.end);
    if (from >= to) {
      left.push_back(hole);
      continue;
    }
    fill(to - from, hole.opened_ns);
    if (hole.begin < from) left.push_back({hole.begin, from, hole.opened_ns});
    if (to < hole.end) left.push_back({to, hole.end, hole.opened_ns});
  }
  holes_ = std::move(left);
  give_up_oldest();
  result.retransmitted = static_cast<std::uint32_t>(end - begin) - result.fresh();
  return result;
}

void TcpStream::open_hole(std::int64_t begin, std::int64_t end, std::int64_t time_ns) {
  holes_.push_back({.begin = begin, .end = end, .opened_ns = time_ns});
  give_up_oldest();
}

void TcpStream::give_up_oldest() {
  while (holes_.size() > kMostHoles) {
    given_up_ += static_cast<std::uint64_t>(holes_.front().end - holes_.front().begin);
    holes_.erase(holes_.begin());
  }
}

std::uint64_t TcpStream::missing_bytes() const {
  std::uint64_t sum = given_up_;
  for (const Hole& hole : holes_) sum += static_cast<std::uint64_t>(hole.end - hole.begin);
  return sum + static_cast<std::uint64_t>(std::max<std::int64_t>(claimed_ - next_, 0));
}

TcpStream::Ended TcpStream::ended() const {
  return {.started = started_,
          .anchored = anchored_,
          .first_sequence = first_,
          .next_sequence = next_sequence_,
          .missing_bytes = missing_bytes()};
}

TcpStream::TcpStream(const Ended& ended)
    : next_sequence_(ended.next_sequence),
      started_(ended.started),
      anchored_(ended.anchored),
      first_(ended.first_sequence),
      given_up_(ended.missing_bytes) {}

}  // namespace tw::flow
